"""The block tree against the CommonMark and GFM specifications and markdown-it-py."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from markdown_it import MarkdownIt

from chunkast.markdown import parse_blocks
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


class Example(NamedTuple):
    source: str
    outline: list[Any] | None
    extensions: tuple[str, ...]

    def parse(self) -> Block:
        return parse_blocks(self.source, extensions=self.extensions)


def load(name: str, prefix: str, extensions: tuple[str, ...]) -> dict[str, Example]:
    stored = json.loads((FIXTURES / name).read_text("ascii"))
    return {
        f"{prefix}-{example['example']}": Example(
            example["markdown"], example["outline"], extensions
        )
        for example in stored["examples"]
    }


EXAMPLES = load("commonmark.json", "commonmark", ()) | load("gfm_tables.json", "gfm", ("tables",))


def walk(block: Block) -> Iterator[Block]:
    """Every block below this one, parents first."""
    for child in block.children:
        yield child
        yield from walk(child)


def name_of(block: Block) -> str:
    if block.kind == "heading":
        return f"h{block.level}"
    return "code" if block.kind == "fence" else block.kind


def tree_outline(block: Block, depth: int = 0) -> list[str]:
    lines = []
    for child in block.children:
        if child.kind not in DROPPED:
            lines.append("  " * depth + name_of(child))
        if child.kind in CONTAINERS:
            lines += tree_outline(child, depth + 1)
    return lines


def stored_outline(nodes: list[Any], depth: int = 0) -> list[str]:
    lines = []
    for node in nodes:
        kind, children = (node, []) if isinstance(node, str) else node
        lines.append("  " * depth + kind)
        lines += stored_outline(children, depth + 1)
    return lines


def split_lines(source: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", source)


def span(lines: list[str], start: int, end: int) -> str:
    """Line numbers, without the blank lines (inside quotes too) at the end."""
    while end > start + 1 and not lines[end - 1].strip(" \t\r\n>"):
        end -= 1
    return f"{start}-{end}"


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_an_example_of_a_specification(example: Example) -> None:
    if example.outline is not None:
        check_outline(example, example.outline)
    check_leaves_tile_the_source_at_line_starts(example)
    check_blocks_lie_where_markdown_it_puts_them(example)


def check_outline(example: Example, outline: list[Any]) -> None:
    found = "\n".join(tree_outline(example.parse()))
    assert found == "\n".join(stored_outline(outline)), example.source


def check_leaves_tile_the_source_at_line_starts(example: Example) -> None:
    source, root = example.source, example.parse()
    assert (root.kind, root.start, root.end) == ("document", 0, len(source))

    leaves = [block for block in walk(root) if not block.children]
    found = [(block.kind, source[block.start : block.end]) for block in leaves]
    assert "".join(text for _, text in found) == source, found
    ends = [0, *(block.end for block in leaves)]
    assert [block.start for block in leaves] == ends[:-1], found
    assert all(text for _, text in found), found

    line_starts = {0}
    for line in split_lines(source):
        line_starts.add(max(line_starts) + len(line))
    for parent in (root, *walk(root)):
        assert {parent.start, parent.end} <= line_starts, parent
        for child in parent.children:
            assert parent.start <= child.start <= child.end <= parent.end, parent


def check_blocks_lie_where_markdown_it_puts_them(example: Example) -> None:
    parser = MarkdownIt("commonmark")
    if "tables" in example.extensions:
        parser.enable("table")
    lines = split_lines(example.source)
    expected = [
        f"{token.tag if kind == 'heading' else kind} {span(lines, *token.map)}"
        for token in parser.parse(example.source)
        if (kind := TOKENS.get(token.type)) and token.map
    ]

    line_at, position = {0: 0}, 0
    for number, line in enumerate(lines, 1):
        position += len(line)
        line_at[position] = number
    found = [
        f"{name_of(block) if block.kind == 'heading' else block.kind} "
        f"{span(lines, line_at[block.start], line_at[block.end])}"
        for block in walk(example.parse())
        if block.kind in TOKENS.values()
    ]
    assert "\n".join(found) == "\n".join(expected), example.source
