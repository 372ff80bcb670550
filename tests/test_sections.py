"""The sections of a chunk, and of what is found in it: hits, citations, pages and metadata."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given

from chunkast import Chunk, Chunker, chunk, locate_quote
from chunkast.notebook import chunk_notebook
from tests.command import run, write
from tests.strategies import documents
from tests.test_documents import CELLS, notebook


@dataclass(frozen=True)
class Place:
    start_index: int
    end_index: int


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
    assert all_in_one.section_anchors == ("", "install", "from-source", "use")
    # What was stored before sections were known has the same state.
    values = all_in_one.to_dict()
    del values["sections"], values["section_starts"], values["section_anchors"]
    earlier = Chunk.from_dict(values)
    assert (earlier.sections, earlier.section_at(5)) == ((), earlier.headings)
    assert (earlier.section_anchors, earlier.anchor_at(5), earlier.anchor) == ((), "", "")
    assert earlier.state_hash == all_in_one.state_hash


def test_text_before_the_first_heading_is_in_the_document_alone() -> None:
    assert chunk("Text.")[0].sections == ()
    [both] = chunk("Text.\n\n# A\n\nMore.")
    assert (both.sections, both.section_at(0), both.section_at(7)) == ((("A",),), (), ("A",))
    assert (both.anchor, both.anchor_at(7), both.section_anchors) == ("", "a", ("a",))
    assert chunk("---\ntitle: T\n---\nText.")[0].sections == (("T",),)
    # A title that is a heading as well is not repeated.
    assert chunk("---\ntitle: T\n---\n# T\n\nText.")[0].sections == (("T",), ("T",))


ANCHORED = """Before.

# Install

<details>

## With *pip* {#pip}

Run it.

</details>

It goes on.

# Install

---
title: Another page
---

On it.

# Use

Call it.[^1]

[^1]: A note.
"""


@pytest.mark.parametrize("budget", [500, 12])
def test_each_section_has_the_anchor_of_its_heading(budget: int) -> None:
    chunks = Chunker(max_tokens=budget, overlap=0).chunk(ANCHORED, "a.md")
    found = [anchor for each in chunks for anchor in each.section_anchors]
    anchors = ["install", "pip", "install", "install-1", "", "use"]
    assert [anchor for anchor, _ in groupby(found)] == anchors
    for each in chunks:
        assert each.anchor == each.anchor_at(each.start_index)
        assert Chunk.from_dict(each.to_dict()) == each
        if "goes on" in each.text:
            assert each.anchor_at(ANCHORED.index("It goes on")) == "install"
        if "On it" in each.text:
            assert each.anchor_at(ANCHORED.index("On it")) == ""


def test_cells_have_no_anchors() -> None:
    chunks = chunk_notebook(Chunker(), notebook(*CELLS), "a.ipynb")
    assert any(each.sections for each in chunks)
    assert all(each.section_anchors == ("",) * len(each.sections) for each in chunks)


@given(documents())
def test_sections_are_those_of_the_headings(text: str) -> None:
    chunker = Chunker(max_tokens=24, overlap=6)
    headings = chunker.analyze(text).headings
    outline = chunker.outline(text)
    for found in chunker.chunk(text):
        for start, anchor in zip(found.section_starts, found.section_anchors, strict=True):
            first = start + len(text[start:]) - len(text[start:].lstrip())
            assert outline.find(Place(first, first + 1)).anchor == anchor
        own = found.start_index + found.overlap
        assert list(found.section_starts) == sorted(found.section_starts)
        assert all(own <= start < found.end_index for start in found.section_starts)
        inside = [h for h in headings if own <= h.start < found.end_index and h.title]
        begun = [tuple(filter(None, h.path)) for h in inside]  # as Chunk.sections have them
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


_TEXT = "Some words of this section. " * 9
_NOTES = f"[^a]: {_TEXT}\n\n[b]: https://example.com/a-page\n\n[^c]: {_TEXT}\n"
# A text, and the heading path of the footnotes and link definitions at its end.
_ENDS = {
    "one title": (f"# T\n\n{_TEXT}\n\n## A\n\n{_TEXT}\n\n{_NOTES}", ("T",)),
    "one title, and no other heading": (f"# T\n\n{_TEXT}\n\n{_NOTES}", ("T",)),
    "one title, not the first heading": (f"## A\n\n# T\n\n## B\n\n{_TEXT}\n\n{_NOTES}", ("T",)),
    "two titles": (f"# T\n\n{_TEXT}\n\n# U\n\n{_TEXT}\n\n{_NOTES}", ()),
    "no title": (f"## A\n\n{_TEXT}\n\n{_NOTES}", ()),
    "a page": (f"# S\n\n---\nurl: b\n---\n\n# T\n\n## A\n\n{_TEXT}\n\n{_NOTES}", ("T",)),
    "before a page": (f"# T\n\n## A\n\n{_TEXT}\n\n{_NOTES}\n---\nurl: b\n---\n\n# U\n", ("T",)),
    "a title in a tab": (f'## A\n\n=== "a"\n\n    # T\n\n    {_TEXT}\n\n{_NOTES}', ("T",)),
    "in a tab": (
        '# T\n\n=== "a"\n\n    ## B\n\n    ' + f"{_TEXT}\n\n{_NOTES}".replace("\n\n", "\n\n    "),
        ("T", "B"),
    ),
    "before other text": (f"# T\n\n## A\n\n{_TEXT}\n\n{_NOTES}\nMore.\n", ("T", "A")),
    "nothing else": (_NOTES, ()),
}


@pytest.mark.parametrize(("text", "path"), _ENDS.values(), ids=_ENDS)
def test_footnotes_at_the_end_belong_to_the_document(text: str, path: tuple[str, ...]) -> None:
    for packing in ("sections", "fill"):
        chunks = Chunker(max_tokens=64, overlap=0, packing=packing).chunk(text)
        [found] = [chunk for chunk in chunks if "[b]:" in chunk.text]
        assert found.section_at(text.index("[b]:")) == path
    sections = Chunker().outline(text).sections
    around = [each for each in sections if each.start_index <= text.index("[b]:") < each.end_index]
    assert around[-1].path == path


def test_footnotes_at_the_end_join_only_as_a_crumb() -> None:
    for size, apart in ((1, False), (9, True)):
        notes = f"[^a]: {'note ' * size}\n"
        text = f"# T\n\n{_TEXT}\n\n## A\n\n{_TEXT}\n\n## B\n\nText.[^a]\n\n{notes}"
        last = Chunker(max_tokens=80, overlap=0).chunk(text)[-1]
        assert last.text.startswith("[^a]:") == apart
