"""HTML tables: one block from the line of ``<table>`` to the line of ``</table>``.

markdown-it ends an HTML block at a blank line, and does not begin one for a table after other text.
A table that contains Markdown (a list, a fence, a heading) is page layout and is left unchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from chunkast.markdown.blocks import Signs, leaf_parts, new_block, relabelled, with_children
from chunkast.model import Block
from chunkast.text.html import tags_in
from chunkast.text.source_map import line_starts

__all__ = ("arrange_tables",)

_KIND: Final = "html-table"
_NAMES: Final = ("table", "TABLE")
# In a block of HTML a tag's name may be in any case.
_OPENING = re.compile("<(?i:table)")
# The kinds of blocks that the parser makes of a table without Markdown inside.
_PARTS: Final = frozenset({"html", "paragraph", "blank", "code"})


def arrange_tables(text: str, tree: Block, signs: Signs) -> tuple[Block, list[tuple[int, int]]]:
    """Turn the lines of each table into an "html-table" leaf."""
    if not signs.may_open(*_NAMES):
        return tree, []
    return _arranged(text, tree, [found.start() for found in _OPENING.finditer(text)]), []


def _arranged(text: str, block: Block, places: Sequence[int]) -> Block:
    """Return ``block`` with table leaves; ``places`` are the sorted positions of ``<table``."""
    if not _has_any(places, block):
        return block
    children = [
        _arranged(text, child, places) if child.children else child for child in block.children
    ]
    spans = _tables(text, children, places)
    if spans:
        parts = _replaced(text, children, _whole_lines(text, children, spans))
        return relabelled(block.kind, block, tuple(parts))
    return with_children(block, children)


def _tables(text: str, children: Sequence[Block], places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of the outermost tables, from opening to closing tag, sorted."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for block in children:
        if not opened and not _has_any(places, block):
            continue
        if block.kind not in _PARTS:
            opened.clear()
            continue
        first = block.start if block.kind == "html" else _first_opening(text, block)
        if first < 0 and not opened:
            continue
        for tag in tags_in(text, block.start, block.end):
            if tag.name != "table":
                pass
            elif tag.closing and opened:
                start = opened.pop()
                while found and found[-1][0] > start:
                    found.pop()
                found.append((start, tag.end))
            elif not tag.closing and (opened or 0 <= first <= tag.start):
                opened.append(tag.start)
    return found


def _has_any(places: Sequence[int], block: Block) -> bool:
    return bisect_left(places, block.start) < bisect_left(places, block.end)


def _first_opening(text: str, block: Block) -> int:
    """Return the position of the first ``<table`` in a paragraph, before any code, or -1."""
    if block.kind != "paragraph":
        return -1
    places = [text.find(f"<{name}", block.start, block.end) for name in _NAMES]
    first = min((place for place in places if place >= 0), default=-1)
    return first if text.find("`", block.start, max(first, block.start)) < 0 else -1


def _whole_lines(
    text: str, children: Sequence[Block], spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Extend ``spans`` to whole lines, and join spans that share a line."""
    starts = line_starts(text, children[0].start, children[-1].end)
    lines: list[tuple[int, int]] = []
    for start, end in spans:
        first, last = starts[bisect_right(starts, start) - 1], starts[bisect_left(starts, end)]
        if lines and first < lines[-1][1]:
            first = lines.pop()[0]
        lines.append((first, last))
    return lines


def _replaced(
    text: str, children: Sequence[Block], spans: Sequence[tuple[int, int]]
) -> list[Block]:
    """Replace each of the ``spans`` with one leaf, and keep the lines outside them."""
    parts = [new_block(_KIND, *span) for span in spans]
    ends = [end for _, end in spans]
    for block in children:
        first = bisect_right(ends, block.start)
        last = bisect_left(spans, (block.end,), first)
        if first == last:
            parts.append(block)
            continue
        cut = ((max(s, block.start), min(e, block.end), "", "") for s, e in spans[first:last])
        parts += leaf_parts(text, block, cut)
    return sorted(parts, key=attrgetter("start"))
