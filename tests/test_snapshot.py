"""Locks are read as they were written, comparisons miss nothing and mirror one another."""

from __future__ import annotations

import contextlib
import html
import io
import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkast import Chunker, ConfigError, chunk_id
from chunkast.heuristics import Draft, Heuristic, Patch
from chunkast.model import Analysis
from chunkast.notebook import read_notebook
from chunkast.snapshot import (
    KINDS,
    Change,
    ChunkRecord,
    Diff,
    DocumentRecord,
    Header,
    LockError,
    ObjectError,
    compare,
    config_of,
    header_of,
    open_lock,
    record_document,
    write_lock,
)
from chunkast.testing.forms import REPORTS
from chunkast.testing.page import render_page
from chunkast.testing.records import CutRecord, Place
from chunkast.testing.report import Report, Rules
from chunkast.toolcalls import Tool
from tests.strategies import documents

ROOT = Path(__file__).parents[1]
MIRRORED = {"split": "merged", "merged": "split", "added": "removed", "removed": "added"}


def written(header: Header, documents: list[DocumentRecord]) -> bytes:
    out = io.BytesIO()
    write_lock(out, header, documents)
    return out.getvalue()


def read(path: Path) -> tuple[Header, list[DocumentRecord]]:
    with open_lock(str(path)) as lock:
        return lock.header, list(lock.documents)


HEADER = header_of(Chunker(max_tokens=64))
GUIDE = "".join(
    f"# Part {n}\n\n" + " ".join(f"Sentence {k} of part {n} is short." for k in range(20)) + "\n\n"
    for n in range(5)
)


def snapshot(texts: dict[str, str], **options: Any) -> tuple[Header, list[DocumentRecord]]:
    chunker = Chunker(**{"max_tokens": 64, **options})
    found = [record_document(chunker, source, texts[source]) for source in sorted(texts)]
    return header_of(chunker), found


# Locks


SOURCES = st.sets(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), max_size=3)


@st.composite
def recorded(draw: st.DrawFn) -> tuple[Header, list[DocumentRecord]]:
    """Documents of any name and text, recorded with one of a few configurations."""
    texts = {source: draw(documents()) for source in sorted(draw(SOURCES))}
    options: dict[str, Any] = {
        "max_tokens": draw(st.sampled_from([24, 64])),
        "overlap": draw(st.sampled_from([0, 6])),
        "min_tokens": draw(st.sampled_from([None, 0])),
    }
    return snapshot(texts, **options)


@given(recorded(), st.sampled_from([b"\n", b"\r\n"]))
def test_a_lock_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    side: tuple[Header, list[DocumentRecord]],
    line_end: bytes,
) -> None:
    path = tmp_path_factory.getbasetemp() / "roundtrip.lock"
    path.write_bytes(written(*side).replace(b"\n", line_end))
    assert read(path) == side
    diff = compare(side, read(path))
    assert (diff.documents, diff.embed, diff.old) == ((), 0, diff.new)
    assert not Rules(most=0, share=0).faults(diff)


def test_a_record_says_what_a_chunk_does() -> None:
    chunker = Chunker(max_tokens=40, overlap=12, context="title")
    paths = sorted((ROOT / "fixtures" / "documents").iterdir())
    for path in (*paths[::4], *(path for path in paths if path.suffix == ".ipynb")):
        text = path.read_bytes().decode("utf-8")
        given = read_notebook(text) if path.suffix == ".ipynb" else text
        document = record_document(chunker, path.name, given)
        chunks = chunker.chunk(text, path.name)
        assert len(document.chunks) == len(chunks)
        for record, chunk in zip(document.chunks, chunks, strict=True):
            named = path.name + record.cell
            assert named == chunk.source
            source = named if "#cell-id=" in record.cell else path.name
            assert chunk_id(source, record.headings, record.part) == record.id == chunk.id
            assert (record.tokens, record.embed_tokens) == (
                chunk.token_count,
                chunk.embed_token_count,
            )
            assert chunk.content_hash.startswith(record.content_hash)
            assert chunk.embed_hash.startswith(record.embed_hash)
            own = chunk.text[chunk.overlap :]
            assert own.startswith(record.first)
            assert chunk.text.endswith(record.last)
            assert record.place.end_line == chunk.end_line
            assert bool(record.repeats) == bool(chunk.overlap)
        assert [record.cut is None for record in document.chunks] == [
            n == 0 for n in range(len(chunks))
        ]


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "line 1: the file ends here"),
    "another file": (lambda _: b"# A\n", "not a chunkast lock"),
    "newer": (lambda d: d.replace(b"lock 1", b"lock 2", 1), "newer chunkast (format 2"),
    "truncated after a section": (lambda d: d[: d.rindex(b"end\n")], "the file ends here"),
    "conflict": (
        lambda d: d.replace(b"chunk ", b"<<<<<<< ours\nchunk ", 1),
        "an unresolved merge conflict begins here",
    ),
    "tokens": (lambda d: re.sub(rb"tokens (\d)", rb"tokens 1\1", d, count=1), "edited by hand"),
    "a setting": (lambda d: d.replace(b"max_tokens 64", b"max_tokens 65"), "edited by hand"),
    "more": (lambda d: d + b"more\n", "nothing after 'end'"),
    "twice": (
        lambda d: d[: d.index(b"document ")] + 2 * d[d.index(b"document ") : -4] + b"end\n",
        "not sorted, or one occurs twice",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_lock_that_is_damaged_is_told_in_a_line(tmp_path: Path, name: str) -> None:
    damage, says = HOSTILE[name]
    path = tmp_path / "chunks.lock"
    whole = written(*snapshot({"a.md": GUIDE}))
    path.write_bytes(damage(whole))
    with pytest.raises(LockError) as raised:
        read(path)
    message = str(raised.value)
    assert says in message
    assert str(path) in message
    assert "\n" not in message
    if name != "another file":
        assert f"make it again: chunkast snapshot PATHS -o {path}" in message


@given(st.data())
def test_any_damage_to_a_lock_is_an_error_of_its_own_or_none(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.lock"
    header, found = snapshot({"a.md": "# A\n\nOne.\n", "b.md": "Two.\n"})
    whole = written(header, found)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(start + 30, len(whole))))
    path.write_bytes(whole[:start] + data.draw(st.binary(max_size=8)) + whole[end:])
    with contextlib.suppress(LockError):
        header_read, documents_read = read(path)
        # What is left out whole is left out; nothing is read that was not written.
        assert header_read == header
        assert [document for document in found if document in documents_read] == documents_read


# The configuration


def masked(_draft: Draft[Any, Any]) -> Patch[Any]:
    return Patch()


def test_a_configuration_is_built_from_its_header() -> None:
    tool = Tool("search", {"type": "object"})
    chunker = Chunker(
        max_tokens=64, overlap=7, scores={"hr": 10}, extensions=("tables",), tools=[tool]
    )
    header = header_of(chunker)
    again = Chunker(config_of(header, {}))
    assert header_of(again) == header
    assert again.config == chunker.config
    assert config_of(header, {"max_tokens": 32}).max_tokens == 32
    by_model = header_of(Chunker(model="gpt-4o"))
    assert config_of(by_model, {}).model == "gpt-4o"
    assert config_of(by_model, {"encoding": "cl100k_base"}).model is None


def test_a_configuration_with_objects_is_not_built() -> None:
    def words(text: str) -> int:
        return len(text.split())

    heuristic: Heuristic[Any, Analysis] = Heuristic("own.mask", "pre-parse", masked)
    header = header_of(Chunker(encoding=words, heuristics=[heuristic]))
    with pytest.raises(ObjectError, match=r"encoding .*words, heuristics own\.mask"):
        config_of(header, {})
    config = config_of(header, {"encoding": words, "heuristics": [heuristic]})
    assert header_of(Chunker(config)) == header


def test_a_field_that_one_side_does_not_know_is_at_its_default_there() -> None:
    older = replace(HEADER, config={k: v for k, v in HEADER.config.items() if k != "decay"})
    assert compare((older, []), (HEADER, [])).config == ()
    other = header_of(Chunker(max_tokens=64, decay=0.5))
    assert compare((older, []), (other, [])).config == (("decay", 0.7, 0.5),)


# Comparisons


@pytest.mark.parametrize("name", [each.name for each in fields(ChunkRecord)])
def test_every_change_of_a_field_is_reported(name: str) -> None:
    header, [document] = snapshot({"a.md": GUIDE})
    first, *rest = document.chunks
    value = getattr(first, name)
    others: dict[type, Any] = {int: 10**6, bool: True, str: "abcd", tuple: ("x",)}
    changed: dict[str, Any] = {"place": Place(1, 2, 1, 2, 1, 1, 0, 0), "cut": CutRecord("h1", 5.0)}
    change: dict[str, Any] = {name: changed.get(name, others.get(type(value)))}
    first = replace(first, **change)
    diff = compare((header, [document]), (header, [replace(document, chunks=(first, *rest))]))
    assert len(diff.documents) == 1
    assert diff.counts
    assert Rules().faults(diff)
    assert not Rules(frozenset({"all"})).faults(diff)


def mirrored(change: Change) -> tuple[str, Any, Any]:
    return MIRRORED.get(change.kind, change.kind), change.new, change.old


def assert_mirrored(one: Diff, two: Diff) -> None:
    assert (one.old, one.new) == (two.new, two.old)
    assert one.config == tuple((name, old, new) for name, new, old in two.config)
    assert one.versions == tuple((name, old, new) for name, new, old in two.versions)
    others = {(d.new, d.old): d for d in two.documents}
    assert len(others) == len(one.documents)
    for document in one.documents:
        other = others[document.old, document.new]
        assert document.edited == other.edited
        assert (document.gone, document.come) == (other.come, other.gone)
        ours = [(c.kind, c.old, c.new) for c in document.changes]
        theirs = [mirrored(change) for change in other.changes]
        key = repr
        assert sorted(ours, key=key) == sorted(theirs, key=key)


@given(st.data())
def test_comparisons_of_edited_documents_are_mirrored_and_whole(data: st.DataObject) -> None:
    """Each chunk is in at most one change, and those in none are the same on both sides."""
    paragraph = st.sampled_from([f"Paragraph {n} says {n}, and a little more." for n in range(12)])
    block = paragraph | st.sampled_from(["# A", "## B", "## C", "- item\n- item", "```\ncode\n```"])
    text = st.lists(block, max_size=14).map("\n\n".join)
    names = st.sampled_from(["a.md", "b.md", "c.md"])
    texts = st.dictionaries(names, text, max_size=3)
    budgets = st.sampled_from([24, 32])
    one, two = (
        snapshot(
            data.draw(texts),
            max_tokens=data.draw(budgets),
            overlap=data.draw(st.sampled_from([0, 6])),
        )
        for _ in range(2)
    )
    diff = compare(one, two)
    assert_mirrored(diff, compare(two, one))
    by_source = ({d.source: d for d in one[1]}, {d.source: d for d in two[1]})
    reported = {d.old for d in diff.documents} | {d.new for d in diff.documents}
    for source in by_source[0].keys() & by_source[1].keys() - reported:
        assert by_source[0][source] == by_source[1][source]
    for document in diff.documents:
        old = by_source[0][document.old].chunks if document.old is not None else ()
        new = by_source[1][document.new].chunks if document.new is not None else ()
        olds = [c for change in document.changes for c in change.old]
        news = [c for change in document.changes for c in change.new]
        assert len(set(olds)) == len(olds)
        assert len(set(news)) == len(news)
        assert set(olds) <= set(old)
        assert set(news) <= set(new)
        assert [c for c in old if c not in olds] == [c for c in new if c not in news]
    known = {c.embed_hash for d in one[1] for c in d.chunks}
    new_texts = {c.embed_hash: c.embed_tokens for d in two[1] for c in d.chunks}
    missing = {text: tokens for text, tokens in new_texts.items() if text not in known}
    assert (diff.embed, diff.embed_tokens) == (len(missing), sum(missing.values()))


SECTIONS = "# A\n\nOne.\n\n## B\n\nTwo.\n\n## C\n\nThree.\n"
NO_MINIMUM: dict[str, Any] = {"min_tokens": 0}
# Documents before and after an edit, options, the changes of each kind, and texts to embed again.
EDITS: dict[str, tuple[dict[str, str], dict[str, str], dict[str, Any], dict[str, int], int]] = {
    "a word": (
        {"a.md": SECTIONS},
        {"a.md": SECTIONS.replace("Two", "Six")},
        NO_MINIMUM,
        {"changed": 1},
        1,
    ),
    "a section put in": (
        {"a.md": SECTIONS},
        {"a.md": SECTIONS.replace("## C", "## New\n\nMore.\n\n## C")},
        NO_MINIMUM,
        {"added": 1, "moved": 1},
        1,
    ),
    "a section elsewhere": (
        {"a.md": "# A\n\nOne.\n\n# B\n\nTwo.\n"},
        {"a.md": "# B\n\nTwo.\n\n# A\n\nOne.\n"},
        NO_MINIMUM,
        {"moved": 2},
        0,
    ),
    "a heading renamed": (
        {"a.md": SECTIONS},
        {"a.md": SECTIONS.replace("# A\n", "# An\n")},
        NO_MINIMUM,
        {"changed": 1, "embedding": 2},
        3,
    ),
    "a heading that is not embedded": (
        {"a.md": SECTIONS},
        {"a.md": SECTIONS.replace("# A\n", "# An\n")},
        {**NO_MINIMUM, "context": "none"},
        {"changed": 1, "renamed": 2},
        1,
    ),
    "a document renamed": (
        {"a.md": SECTIONS},
        {"b.md": SECTIONS},
        NO_MINIMUM,
        {"renamed": 3},
        0,
    ),
    "another document": (
        {"a.md": SECTIONS},
        {"b.md": "Else.\n"},
        NO_MINIMUM,
        {"removed": 3, "added": 1},
        1,
    ),
}


@pytest.mark.parametrize(
    ("before", "after", "options", "kinds", "embed"), EDITS.values(), ids=EDITS
)
def test_what_an_edit_is_called_and_costs(
    before: dict[str, str],
    after: dict[str, str],
    options: dict[str, Any],
    kinds: dict[str, int],
    embed: int,
) -> None:
    diff = compare(snapshot(before, **options), snapshot(after, **options))
    assert (diff.counts, diff.embed) == (kinds, embed)


def test_one_chunk_divided_is_split_and_the_other_way_merged() -> None:
    sections = "# A\n\nOne two three four five.\n\n# B\n\nSix seven eight nine ten.\n"
    one, two = snapshot({"a.md": sections}), snapshot({"a.md": sections}, max_tokens=14)
    assert compare(one, two).counts == {"split": 1}
    assert compare(two, one).counts == {"merged": 1}
    assert compare(one, two).config == (("max_tokens", 64, 14),)


def test_notebooks_are_compared_by_cells() -> None:
    cells = [
        {"cell_type": "markdown", "id": f"c{n}", "source": f"# Part {n}\n\nText {n}."}
        for n in range(3)
    ]

    def recorded(cells: list[dict[str, str]]) -> tuple[Header, list[DocumentRecord]]:
        notebook = read_notebook(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
        return HEADER, [record_document(Chunker(max_tokens=64), "n.ipynb", notebook)]

    new = {"cell_type": "markdown", "id": "new", "source": "Between."}
    diff = compare(recorded(cells), recorded([*cells[:1], new, *cells[1:]]))
    assert diff.counts == {"added": 1, "moved": 2}
    assert compare(recorded(cells), recorded(cells)).counts == {}
    other = [{**cell, "source": cell["source"].replace("Text 1", "Word 1")} for cell in cells]
    assert compare(recorded(cells), recorded(other)).counts == {"changed": 1}


# Reports


def report(one: Any, two: Any, **rules: Any) -> Report:
    return Report(compare(one, two), ("before", "now"), Rules(**rules), {"a.md": "docs/a.md"})


@given(recorded(), recorded())
@settings(max_examples=settings().max_examples // 2)
def test_any_comparison_can_be_reported(
    one: tuple[Header, list[DocumentRecord]], two: tuple[Header, list[DocumentRecord]]
) -> None:
    found = report(one, two)
    for form in REPORTS.values():
        page = form(found)
        assert page.endswith("\n")
        page.encode("utf-8", "backslashreplace")
    json.loads(REPORTS["json"](found))
    render_page(found, lambda _: None).encode()


def test_what_is_allowed_is_not_a_fault() -> None:
    one = snapshot({"a.md": GUIDE})
    longer = snapshot({"a.md": f"# New\n\nOne sentence.\n\n{GUIDE}"}, min_tokens=0)
    one = snapshot({"a.md": GUIDE}, min_tokens=0)
    diff = compare(one, longer)
    assert Rules().faults(diff)
    assert not Rules(frozenset({"added", "moved"})).faults(diff)
    assert not Rules(frozenset({"edited"})).faults(diff)
    assert Rules(frozenset({"moved"})).faults(diff) == ["1 added"]
    assert Rules(frozenset({"all"}), most=0).faults(diff) == ["1 to embed again, at most 0 may be"]
    assert not Rules(frozenset({"all"}), most=1, share=0.5).faults(diff)
    assert Rules(frozenset({"all"}), share=0.001).faults(diff)
    other = compare(one, snapshot({"a.md": GUIDE}, min_tokens=0, max_tokens=70))
    assert any(
        "changed" in fault or "recut" in fault
        for fault in Rules(frozenset({"edited"})).faults(other)
    )
    with pytest.raises(ConfigError, match="allow='moves': must be one of all, edited"):
        Rules(frozenset({"moved", "moves"}))
    allowed = Rules(frozenset({"configuration", *KINDS}))
    assert not allowed.faults(other)


def test_a_page_shows_both_sides_and_nothing_acts() -> None:
    text = (
        "# A\n\n<script>alert(1)</script>\n\nOne two three.\n\n# B <img src=x>\n\nFour five six.\n"
    )
    found = report(snapshot({"a.md": text}), snapshot({"a.md": text}, max_tokens=16))
    page = render_page(found, {"a.md": text}.get)
    assert not re.search("<(script|img)", page)
    assert page.count("<article") == 1 + 2
    assert html.unescape(page).count("<script>alert(1)</script>") == 2
    assert "default-src 'none'; style-src 'sha256-" in page
    # Without the text both ends are shown.
    ends = render_page(report(snapshot({"a.md": GUIDE}), snapshot({})), lambda _: None)
    assert "Sentence 0 of part 0" in ends
