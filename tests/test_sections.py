"""The sections of a chunk, and of what is found in it: hits, citations, pages and metadata."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given

from chunkast import Chunk, Chunker, chunk, locate_quote
from tests.command import run, write
from tests.strategies import documents

GUIDE = """---
title: Manual
---
Read this first.

# Install

With pip.

## From *source*

Clone it.

# Use

Call `chunk`.
"""


def test_every_section_in_the_text_is_named() -> None:
    [all_in_one] = chunk(GUIDE)
    assert all_in_one.headings == ()
    assert all_in_one.sections == (
        ("Manual",),
        ("Manual", "Install"),
        ("Manual", "Install", "From source"),
        ("Manual", "Use"),
    )
    for path, start in zip(all_in_one.sections, all_in_one.section_starts, strict=True):
        assert all_in_one.section_at(start) == path
        assert GUIDE[start:].startswith(("---", "#"))
    # What was stored before sections were known has the same state.
    values = all_in_one.to_dict()
    del values["sections"], values["section_starts"]
    earlier = Chunk.from_dict(values)
    assert (earlier.sections, earlier.section_at(5)) == ((), earlier.headings)
    assert earlier.state_hash == all_in_one.state_hash


def test_text_before_the_first_heading_is_in_the_document_alone() -> None:
    assert chunk("Text.")[0].sections == ()
    [both] = chunk("Text.\n\n# A\n\nMore.")
    assert (both.sections, both.section_at(0), both.section_at(7)) == ((("A",),), (), ("A",))
    assert chunk("---\ntitle: T\n---\nText.")[0].sections == (("T",),)
    # A title that is a heading as well is not repeated.
    assert chunk("---\ntitle: T\n---\n# T\n\nText.")[0].sections == (("T",), ("T",))


@given(documents())
def test_sections_are_those_of_the_headings(text: str) -> None:
    chunker = Chunker(max_tokens=24, overlap=6)
    headings = chunker.analyze(text).headings
    for found in chunker.chunk(text):
        own = found.start_index + found.overlap
        assert list(found.section_starts) == sorted(found.section_starts)
        assert all(own <= start < found.end_index for start in found.section_starts)
        begun = [h.path for h in headings if own <= h.start < found.end_index and h.title]
        assert [path for path in found.sections if path in begun] == begun
        if found.headings and found.headings[-1]:
            assert found.headings == found.sections[0] == found.section_at(found.start_index)


def test_a_citation_names_the_section_of_the_quote() -> None:
    [found] = locate_quote("Clone it", chunk(GUIDE))
    assert found.section == ("Manual", "Install", "From source")
    chunks = Chunker(max_tokens=12, overlap=4).chunk("# A\n\n" + "One two three four. " * 9)
    assert {found.section for found in locate_quote("One two", chunks)} == {("A",)}


def test_the_commands_name_the_section_of_a_hit(tmp_path: Path) -> None:
    write(tmp_path, {"guide.md": GUIDE})
    run("index", "guide.md", "--db", "a.db", cwd=tmp_path)
    for query, section in (
        ("cloning", "Manual > Install > From source"),
        ("pip install", "Manual > Install"),
        ("call chunk", "Manual > Use"),
        ("manual", "Manual"),
    ):
        done = run("search", query, "--db", "a.db", cwd=tmp_path)
        assert done.stdout.decode().splitlines()[0].partition("  #")[0].endswith(f"  {section}")
    done = run("quote", "Clone it.", "--db", "a.db", cwd=tmp_path)
    assert done.stdout.decode().endswith("  Manual > Install > From source\n")
    done = run("chunk", "guide.md", "--format", "text", cwd=tmp_path)
    head = done.stdout.decode().splitlines()[0]
    assert head.endswith("  Manual … Manual > Use (4 sections)")
