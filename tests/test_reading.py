"""Outlines, sections and passages: exact costs, one boundary each, nothing beyond the budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker, ConfigError
from chunkast.reading import SectionError
from chunkast.text.white_space import is_blank
from tests.checks import counter_of
from tests.command import errors, run, write
from tests.strategies import documents

GUIDE = """---
title: Manual
---
Read this first.

# Guide

## Install

With pip. Then import it.

- one
- two

### From source

Clone it.

## Use {#usage}

Call `chunk`.

# Notes

## Install

Nothing here.
"""
CHUNKER = Chunker(max_tokens=32, overlap=0)
OUTLINE = CHUNKER.outline(GUIDE, "guide.md")


def test_an_outline_has_every_section_with_its_cost() -> None:
    assert [(str(s), s.level, s.anchor, s.start_line, s.end_line) for s in OUTLINE] == [
        ("Manual", 0, "", 1, 27),
        ("Manual > Guide", 1, "guide", 6, 21),
        ("Manual > Guide > Install", 2, "install", 8, 17),
        ("Manual > Guide > Install > From source", 3, "from-source", 15, 17),
        ("Manual > Guide > Use", 2, "usage", 19, 21),
        ("Manual > Notes", 1, "notes", 23, 27),
        ("Manual > Notes > Install", 2, "install-1", 25, 27),
    ]
    encoding = tiktoken.get_encoding("cl100k_base")
    for section in OUTLINE:
        whole = GUIDE[section.start_index : section.end_index]
        assert section.total_tokens == len(encoding.encode_ordinary(whole))
        own = whole.partition("\n#" if section.level else "\n# ")[0] if section.level else whole
        if section.level == 3:
            assert section.tokens == len(encoding.encode_ordinary(own))


# Titles that look like anchors or paths, and a heading whose anchor is empty.
TITLES = ("😀", "Fix \\#12", "12", "C\\#", "a -> b", "x {#usage}", "usage")
ODD = CHUNKER.outline("# Odd\n\n" + "".join(f"## {title}\n\nText.\n\n" for title in TITLES))


@pytest.mark.parametrize(
    ("where", "path"),
    [
        ("Guide > Install", "Manual > Guide > Install"),
        ("guide>install", "Manual > Guide > Install"),
        (("Guide", "Install"), "Manual > Guide > Install"),
        ("From source", "Manual > Guide > Install > From source"),
        ("#usage", "Manual > Guide > Use"),
        ("guide.md#install-1", "Manual > Notes > Install"),
        (1, "Manual"),
        (27, "Manual > Notes > Install"),
        (CHUNKER.chunk(GUIDE)[-1], "Manual > Notes"),
        ("Fix #12", "Odd > Fix #12"),
        ("notes.md#12", "Odd > 12"),
        ("C#", "Odd > C#"),
        (("C#",), "Odd > C#"),
        ("odd > A  ->  B", "Odd > a -> b"),
        ("usage", "Odd > usage"),
    ],
)
def test_a_section_is_found(where: Any, path: str) -> None:
    outline = ODD if path.startswith("Odd") else OUTLINE
    assert str(outline.find(where)) == path


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("Instal", r"'Instal' does not exist; the nearest are: .*Install"),
        (("Install",), r"is ambiguous, 2 match: Manual > Guide > Install \(#install, line 8\); "),
        ("F#", "'F#' does not exist"),
        ("Fix #usage", "'Fix #usage' does not exist"),
        (28, "is not in the document, whose last line is 27"),
        pytest.param(10**5000, "section <int> is not in the document", id="huge"),
        ("x" * 9_999, r"section 'x{60,80}\.\.\. does not exist"),
    ],
)
def test_an_unknown_section_is_answered_with_the_nearest(where: Any, says: str) -> None:
    with pytest.raises(SectionError, match=says):
        OUTLINE.find(where)


def test_a_passage_says_what_was_left_out() -> None:
    whole = OUTLINE.read("Guide > Install")
    assert whole.text == GUIDE[whole.start_index : whole.end_index]
    assert whole.text.startswith("## Install\n")
    assert whole.text.endswith("Clone it.")
    assert (whole.rest, whole.next_line) == ("", None)
    part = OUTLINE.read("Guide > Install", max_tokens=20)
    assert part.text == "## Install\n\nWith pip. Then import it.\n\n- one\n- two"
    assert part.tokens <= 20
    assert part.rest == f"continues at line 15, {part.tokens_after} tokens more"
    lines = OUTLINE.read(lines=(19, 21))
    assert lines.text == "## Use {#usage}\n\nCall `chunk`."
    assert OUTLINE.read().text == GUIDE.rstrip()


def test_a_chunk_grows_to_the_largest_section_that_fits() -> None:
    small = Chunker(max_tokens=12, min_tokens=0, overlap=0).chunk(GUIDE)
    [chunk] = [found for found in small if "Clone" in found.text]
    for section in (OUTLINE.find("From source"), OUTLINE.find("Guide > Install"), OUTLINE.find(1)):
        size = section.total_tokens
        found = OUTLINE.expand(chunk, max_tokens=size)
        assert (found.section, found.tokens, found.rest) == (section.path, size, "")
    alone = OUTLINE.expand(chunk, max_tokens=1)
    assert alone.oversize
    assert (alone.start_index, alone.end_index) == (chunk.start_index, chunk.end_index)


def test_wrong_values_are_configuration_errors() -> None:
    value: Any
    for value in (0, True, 1.5, "9"):
        with pytest.raises(ConfigError, match="max_tokens"):
            OUTLINE.read("Use", max_tokens=value)
        with pytest.raises(ConfigError, match="max_tokens"):
            OUTLINE.expand(CHUNKER.chunk(GUIDE)[0], max_tokens=value)
    for value in ((0, 1), (3, 2), (28, 30), (10**5000, 10**5001), ("1", 2), (1,)):
        with pytest.raises(ConfigError, match="lines"):
            OUTLINE.read(lines=value)


def test_a_passage_counts_control_characters_that_python_strips() -> None:
    chunker = Chunker(max_tokens=1, overlap=0)
    text = "0\x1f\n"
    passage = chunker.outline(text).expand(chunker.chunk(text)[-1], max_tokens=1)
    assert (passage.text, passage.tokens) == ("\x1f", 1)


@given(documents(), st.integers(1, 60), st.integers(1, 80), st.data())
def test_passages_are_verbatim_and_within_the_budget(
    text: str, budget: int, room: int, data: st.DataObject
) -> None:
    chunker = Chunker(max_tokens=budget, overlap=budget // 5)
    count = counter_of(chunker.config)
    outline, chunks = chunker.outline(text), chunker.chunk(text)
    points = {point.pos for point in chunker.analyze(text).break_points} | {len(text)}
    for section in outline:
        assert section.total_tokens == count(text[section.start_index : section.end_index])
        assert section.tokens <= section.total_tokens or section.total_tokens < 8
    if chunks:
        chunk = data.draw(st.sampled_from(chunks))
        found = outline.expand(chunk, max_tokens=room)
        assert found.text == text[found.start_index : found.end_index]
        assert found.tokens == count(found.text)
        assert found.start_index <= chunk.start_index
        assert chunk.end_index <= found.end_index
        assert found.oversize == (chunk.token_count > room)
        assert found.oversize or found.tokens <= room
        if found.tokens > chunk.token_count and found.end_index > chunk.end_index:
            end = (
                found.end_index
                + len(text[found.end_index :])
                - len(text[found.end_index :].lstrip())
            )
            assert not points.isdisjoint(range(found.end_index, end + 1))
        cut = outline.expand(chunk, max_tokens=room, cut=True)
        assert cut.text in chunk.text or cut == found
        assert not cut.oversize
    section = data.draw(st.sampled_from(outline.sections))
    passage = outline.read(section, max_tokens=room)
    assert passage.text == text[passage.start_index : passage.end_index]
    single = len(passage.text) <= 8 and passage.tokens > room
    assert passage.tokens <= room or single
    left = text[passage.end_index : section.end_index]
    assert (passage.next_line is None) == is_blank(left)


def test_the_commands_print_an_outline_and_a_section(tmp_path: Path) -> None:
    write(tmp_path, {"guide.md": GUIDE})
    done = run("outline", "guide.md", "--depth", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [
        "Manual  lines 1-27  55 tokens",
        "  Guide  lines 6-21  36 tokens",
        "    Install  lines 8-17  23 tokens",
        "    Use  lines 19-21  10 tokens",
        "  Notes  lines 23-27  9 tokens",
        "    Install  lines 25-27  6 tokens",
    ]
    listed = json.loads(run("outline", "guide.md", "--format", "json", cwd=tmp_path).stdout)
    assert [section["anchor"] for section in listed[1:]][-1] == "install-1"
    done = run("read", "guide.md", "Guide > Install", "--max-tokens", "20", cwd=tmp_path)
    assert done.stdout == b"## Install\n\nWith pip. Then import it.\n\n- one\n- two\n"
    assert done.stderr == b"chunkast: note: continues at line 15, 7 tokens more\n"
    piped = run("read", "-", "--lines", "19-21", cwd=tmp_path, stdin=GUIDE.encode())
    assert piped.stdout == b"## Use {#usage}\n\nCall `chunk`.\n"
    for arguments, says in (
        (["Install"], "guide.md: section 'Install' is ambiguous, 2 match: "),
        (["Use", "--lines", "1"], "read takes a SECTION or --lines, not both"),
        (["--lines", "99"], "lines=(99, 99): must be a first and a last line from 1 to 27"),
    ):
        done = run("read", "guide.md", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert says in errors(done.stderr)[0]


def test_the_commands_read_from_a_database(tmp_path: Path) -> None:
    write(tmp_path, {"guide.md": GUIDE})
    small = ("--max-tokens", "16", "--overlap", "0", "--context", "none", "--extensions", "")
    assert run("index", "guide.md", "--db", "a.db", "-q", *small, cwd=tmp_path).returncode == 0
    assert run("outline", "--db", "a.db", cwd=tmp_path).stdout.startswith(b"guide.md  ")
    assert run("outline", cwd=tmp_path).returncode == 2
    done = run("read", "none.md", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 2
    assert "a.db: has no document 'none.md'" in errors(done.stderr)[0]
    by_name = run("read", "guide.md", "From source", "--db", "a.db", cwd=tmp_path)
    assert by_name.stdout == b"### From source\n\nClone it.\n"
    within = ("search", "clone", "--db", "a.db", "--limit", "1", "--within")
    assert run(*within, "gu*", cwd=tmp_path).stdout.startswith(b"guide.md:15-17  ")
    done = run(*within, "docs/*", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    nearest = "matches no document; the nearest folders are *"
    assert errors(done.stderr) == [f"chunkast: error: within='docs/*': {nearest}"]
    assert run("search", "zebra", "--db", "a.db", "--within", "*", cwd=tmp_path).returncode == 1
    assert run("read", "gone/none.md", cwd=tmp_path).returncode == 2
    # What is not given is as in the index.
    for more, anchor in (([], "use-usage"), (["--extensions", "attributes"], "usage")):
        arguments = ("outline", "guide.md", "--db", "a.db", *more, "--format", "json")
        listed = json.loads(run(*arguments, cwd=tmp_path).stdout)
        assert anchor in [section["anchor"] for section in listed]
    search = ("search", "clone", "--db", "a.db", "--expand", "8", "--format", "json")
    [hit] = json.loads(run(*search, cwd=tmp_path).stdout)["hits"]
    assert hit["text"] == "### From source\n\nClone it."
    by_id = run("read", "--id", hit["id"], "--db", "a.db", "--max-tokens", "99", cwd=tmp_path)
    assert by_id.stdout.decode() == GUIDE
    done = run("read", "guide.md", "--id", hit["id"], "--db", "a.db", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
