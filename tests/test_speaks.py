"""Small documents, and what their chunks must say when each is read alone."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from markdown_it import MarkdownIt

from chunkast import Chunk, Chunker
from tests.tables import table

_FOLDER: Final = Path(__file__).parents[1] / "fixtures" / "cases"
_CASES: Final = [
    case
    for name in ("speaks.json", "written.json")
    for case in json.loads((_FOLDER / name).read_text("utf-8"))["cases"]
] + table("introductions", "documents")


def chunks_of(case: dict[str, Any]) -> list[Chunk]:
    chunker = Chunker(max_tokens=case["max_tokens"], overlap=case["overlap"])
    return chunker.chunk(case["text"], source=case["source"])


def first_with(snippet: str, chunks: list[Chunk]) -> Chunk:
    return next(chunk for chunk in chunks if snippet in chunk.text)


def path_of(snippet: str, text: str, chunks: list[Chunk]) -> list[str]:
    """The path of the last section that begins in the chunk at or before the snippet."""
    chunk, at = first_with(snippet, chunks), text.index(snippet)
    begun = zip(chunk.section_starts, chunk.sections, strict=True)
    paths = [path for start, path in begun if start <= at]
    return list(paths[-1]) if paths else []


def column_of(snippet: str, embed_text: str) -> str | None:
    """The header above a cell, as a reader of Markdown sees it; None without a table."""
    tokens = MarkdownIt("commonmark").enable("table").parse(embed_text)
    rows: list[list[str]] = []
    for token, following in pairwise(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(following.content)
    found = [row.index(cell) for row in rows for cell in row if snippet in cell]
    return rows[0][found[0]] if found else None


def context_of(chunk: Chunk) -> str:
    return chunk.embed_text[: chunk.embed_text.index(chunk.text)]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in _CASES])
def test_chunks_speak(case: dict[str, Any]) -> None:
    expect, text = case["expect"], case["text"]
    chunker = Chunker(max_tokens=case["max_tokens"], overlap=case["overlap"])
    chunks = chunks_of(case)
    outline = chunker.outline(text, source=case["source"])
    if "headings" in expect:
        # A page and its first heading have the same path.
        paths = dict.fromkeys(section.path for section in outline.sections[1:])
        assert list(map(list, paths)) == expect["headings"]
    path = partial(path_of, text=text, chunks=chunks)
    paths = expect.get("paths", {})
    assert {snippet: path(snippet) for snippet in paths} == paths
    for snippet, said in expect.get("says", {}).items():
        embed_text = first_with(snippet, chunks).embed_text
        assert [each for each in said if each not in embed_text] == []
    for snippet, unsaid in expect.get("never_says", {}).items():
        context = context_of(first_with(snippet, chunks))
        assert [each for each in unsaid if each in context] == []
    for snippets in expect.get("together", ()):
        assert any(all(snippet in chunk.text for snippet in snippets) for chunk in chunks)
    for sentence in expect.get("whole", ()):
        assert any(sentence in re.sub(r"\s+", " ", chunk.text) for chunk in chunks)
    for line in expect.get("not_end", ()):
        assert [chunk for chunk in chunks[:-1] if chunk.text.rstrip().endswith(line)] == []
    for snippet in expect.get("starts", ()):
        assert any(chunk.text.startswith(snippet) for chunk in chunks)
    found = {name: outline.find(name).start_line for name in expect.get("find", ())}
    assert found == expect.get("find", {})
    for snippet, header in expect.get("columns", {}).items():
        assert column_of(snippet, first_with(snippet, chunks).embed_text) in (header, None)
