"""Locks are read as they were written, comparisons miss nothing and mirror one another."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker
from chunkast.notebook import read_notebook
from chunkast.snapshot import (
    ChunkRecord,
    DocumentRecord,
    Header,
    LockError,
    compare,
    config_of,
    header_of,
    open_lock,
    record_document,
    write_lock,
)
from chunkast.toolcalls import Tool
from tests.command import parts
from tests.strategies import documents
from tests.tables import Case, each_case

HEADER = header_of(Chunker(max_tokens=64))
GUIDE = parts(5)
Side = tuple[Header, list[DocumentRecord]]


def written(header: Header, documents: list[DocumentRecord]) -> bytes:
    out = io.BytesIO()
    write_lock(out, header, documents)
    return out.getvalue()


def read(path: Path) -> Side:
    with open_lock(str(path)) as lock:
        return lock.header, list(lock.documents)


def snapshot(texts: dict[str, str], **options: Any) -> Side:
    chunker = Chunker(**{"max_tokens": 64, **options})
    found = [record_document(chunker, source, texts[source]) for source in sorted(texts)]
    return header_of(chunker), found


# Locks


SOURCES = st.sets(st.text(max_size=9), max_size=3)


@given(SOURCES, st.data(), st.sampled_from([b"\n", b"\r\n"]))
def test_a_lock_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, sources: set[str], data: st.DataObject, end: bytes
) -> None:
    header, found = snapshot(
        # Two lone surrogates, not a character.
        {source: data.draw(documents()) + "\ud83d\udca9" for source in sorted(sources)},
        max_tokens=data.draw(st.sampled_from([24, 64])),
        overlap=data.draw(st.sampled_from([0, 6])),
    )
    path = tmp_path_factory.getbasetemp() / "roundtrip.lock"
    lock = written(header, found)
    path.write_bytes(lock.replace(b"\n", end))
    with_chunks = [document for document in found if document.chunks]
    assert read(path) == (header, with_chunks)
    diff = compare((header, found), read(path))
    assert (diff.documents, diff.embed, diff.old) == ((), 0, diff.new)
    assert len([json.loads(line) for line in lock.splitlines()]) == 1 + diff.old.chunks


def test_a_line_above_changes_one_line_of_a_lock() -> None:
    text = "---\ntitle: T\n---\n\n" + GUIDE
    before = written(*snapshot({"a.md": text}, overlap=6)).splitlines()
    for edited in (text.replace("# Part 1", "\n# Part 1"), text.replace("---\n\n", "---\n\n\n", 1)):
        after = written(*snapshot({"a.md": edited}, overlap=6)).splitlines()
        changed = [
            n for n, lines in enumerate(zip(before, after, strict=True)) if len({*lines}) > 1
        ]
        # And the first chunk's, which has the hash of the document.
        assert len(changed) <= 2


@each_case("locks", "damage")
def test_a_damaged_lock_is_one_clear_error(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "chunks.lock"
    whole = written(*snapshot({"a.md": GUIDE, "b.md": GUIDE}))
    path.write_bytes(whole.replace(case["before"].encode(), case["after"].encode(), 1))
    with pytest.raises(LockError) as raised:
        read(path)
    message = str(raised.value)
    assert case["says"] in message
    assert message.startswith(str(path))
    assert "\n" not in message
    assert "chunkast snapshot" in message or f"--against {path} --update" in message


@given(st.data())
def test_any_damage_to_a_lock_is_a_lock_error_or_none(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.lock"
    header, found = snapshot({"a.md": "# A\n\nOne.\n", "b.md": "Two.\n"})
    whole = written(header, found)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(start + 30, len(whole))))
    value = st.sampled_from([b"null", b"-1", b"7" * 400, b'"x"', b"[[]]", b"{}", b"1e400", b"true"])
    path.write_bytes(whole[:start] + data.draw(st.binary(max_size=8) | value) + whole[end:])
    with contextlib.suppress(LockError):
        side = read(path)
        compare((header, found), side)
        assert compare(side, side).documents == ()


# The configuration


def test_a_configuration_is_built_from_its_header() -> None:
    tool = Tool("search", {"type": "object"})
    options: Any = {"scores": {"hr": 10}, "extensions": ("tables",), "tools": [tool]}
    chunker = Chunker(max_tokens=64, protocols=("json", "hermes"), **options)
    header = header_of(chunker)
    assert Chunker(config_of(header, {})).config == chunker.config
    assert config_of(header, {"max_tokens": 32}).max_tokens == 32
    by_model = header_of(Chunker(model="gpt-4o"))
    assert config_of(by_model, {"encoding": "cl100k_base"}).model is None


def test_a_field_that_one_side_does_not_know_has_its_default_there() -> None:
    older = replace(HEADER, config={"max_tokens": 64})
    assert compare((older, []), (HEADER, [])).config == ()
    other = header_of(Chunker(max_tokens=64, scores={"hr": 1}))
    assert compare((older, []), (other, [])).config == (("scores", {}, {"hr": 1}),)


# Comparisons


@pytest.mark.parametrize("name", [each.name for each in fields(ChunkRecord)])
def test_every_change_of_a_field_is_reported(name: str) -> None:
    header, [document] = snapshot({"a.md": GUIDE})
    first, second, *rest = document.chunks
    others: dict[type, Any] = {int: 10**6, bool: True, str: "abcd", tuple: ("x",)}
    change: dict[str, Any] = {name: others[type(getattr(second, name))]}
    changed = replace(document, chunks=(first, replace(second, **change), *rest))
    diff = compare((header, [document]), (header, [changed]))
    assert len(diff.documents) == 1
    assert diff.counts


@given(st.data())
def test_comparisons_of_edited_documents_are_mirrored_and_whole(data: st.DataObject) -> None:
    """Each chunk is in at most one change, and those in none are the same on both sides."""
    paragraph = st.sampled_from([f"Paragraph {n} says {n}, and a little more." for n in range(12)])
    block = paragraph | st.sampled_from(["# A", "## B", "## C", "- item\n- item", "```\ncode\n```"])
    text = st.lists(block, max_size=14).map("\n\n".join)
    sources = data.draw(st.sets(st.sampled_from(["a.md", "b.md", "c.md"])))
    first = {source: data.draw(text) for source in sources}
    second = {source: data.draw(st.just(first[source]) | text) for source in sources}
    one, two = (
        snapshot(
            texts,
            max_tokens=data.draw(st.sampled_from([24, 32])),
            overlap=data.draw(st.sampled_from([0, 6])),
        )
        for texts in (first, second)
    )
    diff, back = compare(one, two), compare(two, one)
    assert (diff.old, diff.new) == (back.new, back.old)
    other = {"added": "removed", "removed": "added"}
    assert diff.counts == {other.get(kind, kind): count for kind, count in back.counts.items()}
    by_source = ({d.source: d for d in one[1]}, {d.source: d for d in two[1]})
    for document in diff.documents:
        old, new = (side[document.source].chunks for side in by_source)
        olds = [c for change in document.changes for c in change.old]
        news = [c for change in document.changes for c in change.new]
        assert len(set(olds)) == len(olds)
        assert len(set(news)) == len(news)
        assert [c for c in old if c not in olds] == [c for c in new if c not in news]


SECTIONS = "# A\n\nOne.\n\n## B\n\nTwo.\n\n## C\n\nThree.\n"


@each_case("locks", "edits")
def test_an_edit_has_its_name_and_its_cost(case: Case) -> None:
    before, after = (
        snapshot({"a.md": case[side]}, min_tokens=0, overlap=0) for side in ("before", "after")
    )
    diff = compare(before, after)
    changes = diff.documents[0].changes
    assert [f"{max(len(c.old), len(c.new))} {c.kind}" for c in changes] == case["changes"]
    assert diff.embed == case["embed"]


def test_documents_are_added_and_removed() -> None:
    before, after = {"a.md": SECTIONS, "c.md": SECTIONS}, {"a.md": SECTIONS, "d.md": SECTIONS}
    diff = compare(snapshot(before), snapshot(after))
    assert [(d.source, d.state, [c.kind for c in d.changes]) for d in diff.documents] == [
        ("c.md", "gone", ["removed"]),
        ("d.md", "new", ["added"]),
    ]
    assert diff.embed == 0


def test_chunks_of_the_same_text_are_recut() -> None:
    text = {"a.md": "# A\n\nOne two three four five.\n\n# B\n\nSix seven eight nine ten.\n"}
    one, two = snapshot(text), snapshot(text, max_tokens=14)
    diff = compare(one, two)
    assert diff.config == (("max_tokens", 64, 14),)
    [change] = diff.documents[0].changes
    assert (change.kind, len(change.old), len(change.new)) == ("recut", 1, 2)
    renamed = snapshot({"a.md": SECTIONS}, min_tokens=0, context="none")
    edited = snapshot({"a.md": SECTIONS.replace("# A\n", "# An\n")}, min_tokens=0, context="none")
    assert compare(renamed, edited).counts == {"changed": 1, "renamed": 2}


def test_notebooks_are_compared_by_cells() -> None:
    def recorded(*texts: str) -> Side:
        cells = [{"cell_type": "markdown", "id": text[:3], "source": text} for text in texts]
        notebook = read_notebook(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
        return HEADER, [record_document(Chunker(max_tokens=64), "n.ipynb", notebook)]

    one, two, three = "# One\n\nText 1.", "# Two\n\nText 2.", "# Six\n\nText 3."
    before = recorded(one, two, three)
    assert compare(before, before).counts == {}
    assert compare(before, recorded(one, "New.", two, three)).counts == {"added": 1, "moved": 2}
    assert compare(before, recorded(one, "# Two\n\nWords.", three)).counts == {"changed": 1}


def steps(call: Callable[[], object]) -> int:
    """Call ``call``, and return the number of steps of Python."""
    count = 0

    def trace(_frame: object, _event: str, _value: object) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def test_large_documents_are_compared_in_linear_steps() -> None:
    def compared(size: int) -> int:
        text = "".join(f"# {n % 9}\n\nText {n}. It is short.\n\n" for n in range(size))
        edited = re.sub("[13579][.]", "0.", text)
        sides = [snapshot({"a.md": side}, min_tokens=0) for side in (text, edited)]
        return steps(lambda: compare(*sides))

    assert compared(400) < 10 * compared(50)
