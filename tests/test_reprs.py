"""What a chunker, an analysis and a chunk show of themselves."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunk, Chunker

TEXT = "# Guide\n\nCarry two litres of water, and more when the sun shines.\n\n- one\n- two\n"
ANYTHING = st.text(st.characters(), max_size=200)


class Page(HTMLParser):
    """The elements of a piece of HTML, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.names.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def chunk(text: str, **changes: Any) -> Chunk:
    [found] = Chunker(overlap=0).chunk("x", "a.md")
    return replace(found, text=text, **changes)


def test_a_chunker_shows_what_differs_from_the_defaults() -> None:
    assert repr(Chunker()) == "Chunker()"
    assert repr(Chunker(scores={}, overlap=0.15)) == "Chunker()"
    chunker = Chunker(chunk_size=512, overlap=0.1, scores={"hr": 5}, extensions=())
    shown = "Chunker(max_tokens=512, overlap=0.1, scores={'hr': 5}, extensions=())"
    assert repr(chunker) == shown
    assert eval(shown, {"Chunker": Chunker}).config == chunker.config  # noqa: S307 - our own text


def test_a_chunk_shows_where_it_is_from_and_how_it_begins() -> None:
    [found] = Chunker(overlap=0).chunk(TEXT, "docs/guide.md")
    assert repr(found) == (
        f"<Chunk {found.id} docs/guide.md:1-6, {found.token_count} tokens: "
        "'# Guide Carry two litres of water, and …'>"
    )
    [found] = Chunker(overlap=0).chunk("It's\n")
    assert repr(found) == f'<Chunk {found.id} lines 1-1, {found.token_count} tokens: "It\'s">'


@given(ANYTHING, ANYTHING)
def test_a_line_is_one_line_whatever_the_document_holds(text: str, source: str) -> None:
    shown = repr(chunk(text, source=source))
    assert shown.isprintable()
    assert len(shown) < 600 + 12 * len(source)


@given(ANYTHING, ANYTHING)
def test_html_shows_documents_as_text(text: str, source: str) -> None:
    found = chunk(text, source=source, headings=(text, source))
    page = Page(found._repr_html_())
    assert page.names <= {"div", "b", "br", "pre"}
    page.text.encode()
    analysis = replace(Chunker().analyze(f"# {text}\n"), notes=(text,))
    page = Page(analysis._repr_html_())
    assert page.names <= {"div", "b"}
    page.text.encode()
