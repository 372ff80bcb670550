"""HTML tables: the blocks that they form, their rows, and the tags that complete a part of one.

A table is one block from the line of ``<table>`` to the line of ``</table>``. markdown-it ends an
HTML block at a blank line, and does not begin one for a table after other text. A table that
contains Markdown (a list, a fence, a heading) is page layout and is left unchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from operator import attrgetter, eq
from typing import Final

from chunkast.markdown.blocks import (
    Arranged,
    Signs,
    leaf_parts,
    new_block,
    relabelled,
    with_children,
)
from chunkast.model import Block
from chunkast.text.html import VOID_ELEMENTS, Tag, tags_in
from chunkast.text.source_map import line_starts
from chunkast.text.white_space import is_blank

__all__ = ("HtmlTables", "arrange_tables", "html_tables", "tags_around")

_KIND: Final = "html-table"
_NAMES: Final = ("table", "TABLE")
# In a block of HTML a tag's name may be in any case.
_OPENING = re.compile("<(?i:table)")
# The kinds of blocks that the parser makes of a table without Markdown inside.
_LEAVES: Final = frozenset({"html", "paragraph", "blank", "code"})
_ROWSPAN = re.compile(r"\browspan\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)
_PARTS: Final = frozenset({"thead", "tbody", "tfoot"})
_CELLS: Final = frozenset({"td", "th"})
_STRUCTURE: Final = _PARTS | _CELLS | {"tr"}
# Opening tag -> open elements that it closes implicitly: HTML lets their closing tags be omitted.
_BEFORE_ROW: Final = frozenset({"caption", "colgroup", "tr"}) | _CELLS
_IMPLIED: Final = {
    **dict.fromkeys(_PARTS, _BEFORE_ROW | _PARTS),
    **dict.fromkeys(_CELLS, _CELLS),
    "tr": _BEFORE_ROW,
    **{name: frozenset({name}) for name in ("li", "p")},
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
}
# Elements nested deeper than this are ignored.
_DEEPEST: Final = 24


def arrange_tables(text: str, tree: Block, signs: Signs) -> Arranged:
    """Turn the lines of each table into an "html-table" leaf."""
    if not signs.may_open(*_NAMES):
        return tree, []
    return _arranged(text, tree, [opening.start() for opening in _OPENING.finditer(text)]), []


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
    spans: list[tuple[int, int]] = []
    for block in children:
        if not opened and (block.kind not in _LEAVES or not _has_any(places, block)):
            continue
        if block.kind not in _LEAVES:
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
                while spans and spans[-1][0] > start:
                    spans.pop()
                spans.append((start, tag.end))
            elif not tag.closing and (opened or 0 <= first <= tag.start):
                opened.append(tag.start)
    return spans


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


@dataclass(slots=True)
class HtmlTables:
    """Sorted positions in the HTML tables of a leaf. A leaf rarely contains more than one table.

    A ``<thead>``, ``<tbody>`` or ``<tfoot>`` tag stays with the text before it, so that a row that
    takes up the whole budget is well-formed by itself. A table inside a cell is text.

    rows: the starts of rows.
    groups: the starts of rows that no cell of an earlier row extends into.
    leading: the starts of header rows and of the row after them; cuts there are avoided.
    tails: the starts of the tags that close a table or a part of a table.
    cells: the starts of cells, except the first cell of each row.
    outer: for each tag, its start if it opens an element, or its end if it closes one.
    inner: the other ends of the tags, in the same order.
    edges: the start and end of each stretch of text outside the tables, alternating.
    headers: the span of each table's caption and header.
    tags: all tags, in order.
    """

    rows: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    leading: set[int] = field(default_factory=set)
    tails: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    outer: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    headers: list[tuple[int, int]] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)


class _Reader:
    """Reads the tables of a leaf, tag by tag."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.tables = HtmlTables()
        self.ended = start  # the end of the last table

    def begin(self, inside: int) -> None:
        """Begin a table whose opening tag ends at ``inside``."""
        self.inside = inside
        # The index of the table's first row among the leaf's rows, and for each of its rows so far
        # whether it is a header row; None for a row without cells.
        self.first = len(self.tables.rows)
        self.are_headers: list[bool | None] = []
        # The number of following rows into which a cell reaches.
        self.reached = 0

    def take(self, tag: Tag, in_head: bool) -> None:
        """Process a tag of a row, a cell or a part of the table, such as ``<thead>``."""
        if tag.closing or tag.name in _PARTS:
            if tag.closing and tag.name in _PARTS:
                self.tables.tails.append(tag.start)
            return
        if tag.name == "tr" or not self.are_headers:
            self.begin_row(tag.start)
        if tag.name in _CELLS:
            is_header = in_head or tag.name == "th"
            if self.are_headers[-1] is not None:
                self.tables.cells.append(tag.start)
            self.are_headers[-1] = is_header and self.are_headers[-1] is not False
            if span := _ROWSPAN.search(self.text, tag.start, tag.end):
                self.reached = max(self.reached, int(span[1]) - 1)

    def begin_row(self, start: int) -> None:
        self.tables.rows.append(start)
        if not self.reached:
            self.tables.groups.append(start)
        self.reached = max(self.reached - 1, 0)
        self.are_headers.append(None)

    def finish(self, tag: Tag) -> None:
        """End the table at its closing tag."""
        self.tables.tails.append(tag.start)
        rows = self.tables.rows[self.first :]
        header = sum(1 for _ in takewhile(bool, self.are_headers))
        if header == len(rows):
            header = 0
        self.tables.leading.update(rows[: header + 1])
        self.tables.headers.append((self.inside, rows[header] if rows else self.inside))
        self.ended = tag.end

    def edge(self, pos: int) -> None:
        """Record any text from the last table to ``pos``, the next table or the end of the leaf."""
        if not is_blank(self.text[self.ended : pos]):
            self.tables.edges += (self.ended, pos)


def html_tables(text: str, start: int, end: int) -> HtmlTables:
    """Find the tables in ``text[start:end]`` by their tags alone."""
    reader = _Reader(text, start)
    tags = reader.tables.tags = list(tags_in(text, start, end))
    for tag, stack in _walk(tags):
        depth = stack.count("table")
        if not depth:
            reader.edge(tag.start)
            reader.begin(tag.end)
        elif depth == 1 and tag.name in _STRUCTURE:
            reader.take(tag, "thead" in stack)
        elif depth == 1 and tag.closing and tag.name == "table":
            reader.finish(tag)
    reader.edge(end)
    for tag in tags:
        edges = tag.start, tag.end
        reader.tables.outer.append(edges[tag.closing])
        reader.tables.inner.append(edges[not tag.closing])
    return reader.tables


def _walk(tags: Iterable[Tag]) -> Iterator[tuple[Tag, list[str]]]:
    """Yield each tag in a table, with the elements that are open before it, outermost first.

    A closing tag that matches no open element in the innermost table is skipped.
    """
    stack: list[str] = []
    deeper = 0
    for tag in tags:
        name = tag.name
        if not stack and (tag.closing or name != "table"):
            continue
        if tag.closing and deeper:
            deeper -= 1
        elif tag.closing:
            inner = 0 if name == "table" else _inner(stack)
            if name not in stack[inner:]:
                continue
            yield tag, stack
            while stack.pop() != name:
                pass
        elif name in VOID_ELEMENTS:
            yield tag, stack
        elif len(stack) == _DEEPEST:
            deeper += 1
        else:
            _close_implied(stack, name)
            yield tag, stack
            stack.append(name)


def _close_implied(stack: list[str], name: str) -> None:
    """Remove the elements that ``<name>`` closes implicitly from ``stack``.

    The tag of a row, a cell or a part of a table may close any element inside the innermost table.
    Any other tag may close only the innermost element.
    """
    closes = _IMPLIED.get(name)
    if closes:
        inner = _inner(stack) if name in _STRUCTURE else len(stack) - 1
        place = next((at for at in range(inner, len(stack)) if stack[at] in closes), len(stack))
        del stack[place:]


def _inner(stack: list[str]) -> int:
    """Return the index after the innermost table in ``stack``."""
    return len(stack) - stack[::-1].index("table")


def tags_around(
    text: str, tables: HtmlTables, cuts: Iterable[int]
) -> Iterator[tuple[int, str, str, str]]:
    """Yield each of the ``cuts`` in a leaf's ``tables``, in order, with the tags to add there.

    The tags are two alternative prefixes for the part after the cut, with and without the table's
    caption and header, and the suffix that closes the part before the cut. A part that begins
    inside a row has no header.
    """
    walk = _walk(tables.tags)
    tag, stack = next(walk, (None, []))
    header_ends = {header_end: inside for inside, header_end in tables.headers}
    wanted, rows = set(cuts), set(tables.rows)
    header = ""
    opened: tuple[str, ...] = ()
    # Equal tags are the same object, since a header may be long.
    tags = cache(_tags)
    for pos in sorted(wanted | header_ends.keys()):
        while tag is not None and tag.start < pos:
            if not stack:
                header = ""
            tag, _ = next(walk, (None, stack))
        if pos in header_ends:
            header, opened = text[header_ends[pos] : pos], tuple(stack)
        if pos in wanted:
            prefix, bare, suffix = tags(header, opened, tuple(stack))
            yield pos, prefix if pos in rows else bare, bare, suffix


def _tags(header: str, opened: Sequence[str], now: Sequence[str]) -> tuple[str, str, str]:
    """Return the tags that open the elements in ``now``, and the tags that close them.

    The opening tags are returned twice: with and without ``header``.
    """
    bare = "".join(f"<{name}>" for name in now)
    closing = "".join(f"</{name}>" for name in reversed(now))
    if not now or is_blank(header):
        return bare, bare, closing
    same = sum(1 for _ in takewhile(bool, map(eq, opened, now)))
    ended = "".join(f"</{name}>" for name in reversed(opened[same:]))
    begun = "".join(f"<{name}>" for name in now[same:])
    return f"<table>{header}{ended}{begun}", bare, closing
