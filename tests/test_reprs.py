"""What a chunker, an analysis and a chunk show of themselves."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunk, ChunkConfig, Chunker

TEXT = "# Guide\n\nCarry two litres of water, and more when the sun shines.\n\n- one\n- two\n"
ANYTHING = st.text(st.characters(), max_size=200)


def chunk(text: str, **changes: Any) -> Chunk:
    [found] = Chunker(overlap=0).chunk("x", "a.md")
    return replace(found, text=text, **changes)


def test_a_chunker_shows_what_differs_from_the_defaults() -> None:
    assert repr(Chunker()) == "Chunker()"
    assert repr(Chunker(scores={}, overlap=0.15)) == "Chunker()"
    assert repr(ChunkConfig()) == "ChunkConfig()"
    config = ChunkConfig(max_tokens=256, encoding="o200k_base")
    assert repr(config) == "ChunkConfig(max_tokens=256, encoding='o200k_base')"
    assert eval(repr(config), {"ChunkConfig": ChunkConfig}) == config  # noqa: S307 - our own text
    chunker = Chunker(chunk_size=512, overlap=0.1, scores={"hr": 5}, extensions=())
    shown = "Chunker(max_tokens=512, overlap=0.1, scores={'hr': 5}, extensions=())"
    assert repr(chunker) == shown
    assert eval(shown, {"Chunker": Chunker}).config == chunker.config  # noqa: S307 - our own text


def test_an_outline_shows_its_source_if_it_has_one() -> None:
    assert repr(Chunker().outline(TEXT)) == "<Outline: 2 sections>"
    assert repr(Chunker().outline(TEXT, "a.md")) == "<Outline a.md: 2 sections>"


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
    analysis = replace(Chunker().analyze(f"# {text}\n"), notes=(text,))
    for shown in (found, analysis):
        page = shown._repr_html_()
        page.encode()
        # Whatever is not one of our own tags is escaped.
        left = re.sub(r"</?(div|b|br|pre)( style=\"[\w -:]*\")?>", "", page)
        assert not set('<>"') & set(left)
