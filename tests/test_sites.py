"""Documents of sites and of other programs: their containers, titles and front matter."""

from __future__ import annotations

from typing import Any

from chunkast import Chunker
from tests import test_speaks
from tests.tables import cases, each_case


@each_case("sites", "documents")
def test_documents_of_sites(case: dict[str, Any]) -> None:
    test_speaks.test_chunks_speak(case)


@cases("sites", "front matter")
def test_front_matter_has_a_title(matter: str, title: str, text: str) -> None:
    for line_end in ("\n", "\r\n", "\r"):
        for mark in ("", "\ufeff"):
            whole = mark + (matter + text).replace("\n", line_end)
            analysis = Chunker(front_matter="parsed").analyze(whole)
            assert len(analysis.front_matter) == len(mark + matter.replace("\n", line_end))
            assert analysis.front_matter_data
            [chunk] = Chunker(front_matter_text="drop").chunk(whole)
            assert chunk.embed_text == f"{title}\n\n{chunk.text}".lstrip()
            assert "Text." in chunk.text


@cases("sites", "no front matter")
def test_other_lines_are_text(text: str) -> None:
    for each in (text, text.replace("\n", "\r\n")):
        assert not Chunker().analyze(each).front_matter


def test_front_matter_without_delimiters_is_data() -> None:
    def data(text: str) -> object:
        return Chunker(front_matter="parsed").analyze(text).front_matter_data

    assert data("% A: b\n% C; 'd'\n\nText.\n") == {"title": "A: b", "author": "C; 'd'"}
    text = "Title: A\nDate: 2026-03-04\nTags: b,\n  c\n\nText.\n"
    assert data(text) == {"title": "A", "date": "2026-03-04", "tags": "b, c"}
    [chunk] = Chunker(front_matter_keys=("tags",), front_matter_text="drop").chunk(text)
    assert chunk.embed_text == "tags: b, c\nA\n\nText."


@cases("sites", "titles")
def test_titles_of_sites(content: str, title: str) -> None:
    for heading in (f"# {content}\n", f"{content}\n===\n"):
        [section] = Chunker().outline(f"{heading}\nText.\n").sections[1:]
        assert section.path == (title,)


@cases("sites", "latex")
def test_headings_of_latex(text: str, paths: list[list[str]]) -> None:
    for each in (text, text.replace("\n", "\r\n")):
        assert [list(section.path) for section in Chunker().outline(each).sections[1:]] == paths
    assert not Chunker(extensions=()).analyze(text.replace("# A\n", "")).headings


def test_the_parts_of_a_draft_are_rules() -> None:
    text = "---\ntitle: A\n--- abstract\n\nB.\n\n--- middle\n\n# C\n\nD.\n--- back\n"
    blocks = Chunker().analyze(text).blocks.children
    assert [block.kind for block in blocks if block.kind != "blank"] == (
        ["front-matter", "paragraph", "hr", "heading", "paragraph", "hr"]
    )
