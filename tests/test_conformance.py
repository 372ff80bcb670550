"""The block tree against the CommonMark and GFM specifications and markdown-it-py."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from chunkast.markdown import parse_document
from chunkast.model import Block

FIXTURES = Path(__file__).parents[1] / "fixtures" / "conformance"
CONTAINERS = {"list", "item", "quote"}
DROPPED = {"blank", "link-definition", "marker"}
TOKENS = {
    "blockquote_open": "quote",
    "bullet_list_open": "list",
    "code_block": "code",
    "fence": "fence",
    "heading_open": "heading",
    "hr": "hr",
    "html_block": "html",
    "list_item_open": "item",
    "ordered_list_open": "list",
    "table_open": "table",
}
STORED = {
    f"{name}-{example['example']}": (example["markdown"], example["outline"], extensions)
    for name, extensions in (("commonmark", ()), ("gfm_tables", ("tables",)))
    for example in json.loads((FIXTURES / f"{name}.json").read_text("ascii"))["examples"]
}


def name_of(block: Block) -> str:
    if block.kind == "heading":
        return f"h{block.level}"
    return "code" if block.kind == "fence" else block.kind


def tree_outline(block: Block) -> list[Any]:
    """The outline in the form of the fixtures: names, and a name with a list for a container."""
    return [
        [name_of(child), tree_outline(child)] if child.kind in CONTAINERS else name_of(child)
        for child in block.children
        if child.kind not in DROPPED
    ]


def span(lines: list[str], start: int, end: int) -> str:
    """Line numbers, without the blank lines (inside quotes too) at the end."""
    while end > start + 1 and not lines[end - 1].strip(" \t\r\n>"):
        end -= 1
    return f"{start}-{end}"


@pytest.mark.parametrize(("source", "outline", "extensions"), STORED.values(), ids=STORED)
def test_an_example_of_a_specification(
    source: str, outline: list[Any] | None, extensions: tuple[str, ...]
) -> None:
    root = parse_document(source, extensions).tree
    if outline is not None:
        assert tree_outline(root) == outline

    leaves = list(root.leaves())
    assert "".join(source[leaf.start : leaf.end] for leaf in leaves) == source
    assert [leaf.start for leaf in leaves] == [0, *(leaf.end for leaf in leaves)][:-1]
    lines = re.findall(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", source)
    line_at = {pos: number for number, pos in enumerate(accumulate(map(len, lines), initial=0))}
    for parent in root.walk():
        assert {parent.start, parent.end} <= line_at.keys()
        for child in parent.children:
            assert parent.start <= child.start < child.end <= parent.end

    found = [
        f"{name_of(block) if block.kind == 'heading' else block.kind} "
        f"{span(lines, line_at[block.start], line_at[block.end])}"
        for block in root.walk()
        if block.kind in TOKENS.values()
    ]
    assert found == list(positions_of_markdown_it(source, lines, extensions))


def positions_of_markdown_it(
    source: str, lines: list[str], extensions: tuple[str, ...]
) -> Iterator[str]:
    parser = MarkdownIt("commonmark").enable("table" if "tables" in extensions else [])
    for token in parser.parse(source):
        if (kind := TOKENS.get(token.type)) and token.map:
            yield f"{token.tag if kind == 'heading' else kind} {span(lines, *token.map)}"
