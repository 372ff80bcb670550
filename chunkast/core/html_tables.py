"""The rows and cells of HTML tables, and what makes a part of one a table again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import eq
from typing import Final

from chunkast.text.html import VOID_ELEMENTS, Tag, tags_in
from chunkast.text.white_space import is_blank

__all__ = ("HtmlTables", "html_tables", "missing_tags", "tags_around")

_ROWSPAN = re.compile(r"\browspan\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)
_PARTS: Final = frozenset({"thead", "tbody", "tfoot"})
_CELLS: Final = frozenset({"td", "th"})
_STRUCTURE: Final = _PARTS | _CELLS | {"tr"}
_TABLE: Final = _STRUCTURE | {"table"}
# What begins something of its own inside a cell.
_ITEMS: Final = frozenset(
    "p li dt dd div ul ol dl tr h1 h2 h3 h4 h5 h6 blockquote pre".split()  # noqa: SIM905
)
# What an opening tag closes where the closing tag was left out.
_BEFORE_ROW: Final = frozenset({"caption", "colgroup", "tr"}) | _CELLS
_IMPLIED: Final = {
    **dict.fromkeys(_PARTS, _BEFORE_ROW | _PARTS),
    **dict.fromkeys(_CELLS, _CELLS),
    "tr": _BEFORE_ROW,
    **{name: frozenset({name}) for name in ("li", "p")},
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
}
# Elements in each other, deeper than which none is looked at.
_DEEPEST: Final = 24


@dataclass(slots=True)
class HtmlTables:
    """The tables of a leaf (nearly always it is one) by what begins where, all sorted.

    The tag that opens a part of the table stays with what is before it: a row that takes the whole
    budget is then whole, and well-formed without anything around it. Tables in a cell belong to it.

    rows: the rows; ``groups`` those that no cell of an earlier row reaches into.
    leading: a table's first row, those of its header, and the row after it: no places to cut.
    tails: where what closes a table, or a part of it, begins.
    cells: all cells but the first of each row.
    contents: where what is between the tags of each cell begins and ends, by turns.
    inner: the rows of the tables in its cells; those of tables in these are items.
    items: what else begins inside a cell: a paragraph, an item, a line.
    edges: where a table begins or ends beside other text.
    headers: of each table where its caption and header begin and end.
    """

    rows: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    leading: set[int] = field(default_factory=set)
    tails: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    contents: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    headers: list[tuple[int, int]] = field(default_factory=list)

    def cell_contents(self) -> Iterator[tuple[int, int]]:
        """Return the spans between the tags of each cell."""
        return zip(self.contents[::2], self.contents[1::2], strict=True)


class _Reader:
    """Reads the tables of a leaf, tag by tag."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.found = HtmlTables()
        self.ended = start  # the table before

    def begin(self, inside: int) -> None:
        """A table begins, its first tag ends at ``inside``."""
        self.inside = inside
        # The table's first row in those of the leaf, and whether each so far is a header: None
        # for one without a cell.
        self.first = len(self.found.rows)
        self.are_headers: list[bool | None] = []
        self.cell = -1
        # How many rows from the next one on a cell reaches into.
        self.reached = 0

    def take(self, tag: Tag, in_head: bool) -> None:
        """A tag of a row, a cell or a part of the table."""
        self.end_cell(tag.start)
        if tag.closing or tag.name in _PARTS:
            if tag.closing and tag.name in _PARTS:
                self.found.tails.append(tag.start)
            return
        if tag.name == "tr" or not self.are_headers:
            self.begin_row(tag.start)
        if tag.name in _CELLS:
            is_header = in_head or tag.name == "th"
            if self.are_headers[-1] is None:
                self.are_headers[-1] = is_header
            else:
                self.found.cells.append(tag.start)
                self.are_headers[-1] &= is_header
            if span := _ROWSPAN.search(self.text, tag.start, tag.end):
                self.reached = max(self.reached, int(span[1]) - 1)
            self.cell = tag.end

    def begin_row(self, start: int) -> None:
        self.found.rows.append(start)
        if not self.reached:
            self.found.groups.append(start)
        self.reached = max(self.reached - 1, 0)
        self.are_headers.append(None)

    def end_cell(self, end: int) -> None:
        if self.cell >= 0:
            self.found.contents += (self.cell, end)
            self.cell = -1

    def item(self, tag: Tag, depth: int) -> None:
        """A tag inside a cell, in so many tables."""
        if tag.name == "br":
            self.found.items.append(tag.end)
        elif not tag.closing and tag.name in _ITEMS:
            inner = tag.name == "tr" and depth == 2
            (self.found.inner if inner else self.found.items).append(tag.start)

    def finish(self, tag: Tag) -> None:
        """The table's last tag."""
        self.end_cell(tag.start)
        self.found.tails.append(tag.start)
        rows = self.found.rows[self.first :]
        header = sum(1 for _ in takewhile(bool, self.are_headers))
        if header == len(rows):
            header = 0
        self.found.leading.update(rows[: header + 1])
        self.found.headers.append((self.inside, rows[header] if rows else self.inside))
        self.ended = tag.end

    def edge(self, pos: int) -> None:
        """A table begins at ``pos``, or the leaf ends there."""
        if not is_blank(self.text[self.ended : pos]):
            self.found.edges += (self.ended, pos)


def html_tables(text: str, start: int, end: int) -> HtmlTables:
    """The tables in ``text[start:end]``, from their tags alone, however they are nested."""
    reader = _Reader(text, start)
    for tag, stack in _walk(text, start, end):
        depth = stack.count("table")
        if not depth:
            reader.edge(tag.start)
            reader.begin(tag.end)
        elif depth == 1 and tag.name in _STRUCTURE:
            reader.take(tag, "thead" in stack)
        elif depth == 1 and tag.closing and tag.name == "table":
            reader.finish(tag)
        elif not _CELLS.isdisjoint(stack):
            reader.item(tag, depth)
    reader.edge(end)
    return reader.found


def _walk(text: str, start: int, end: int) -> Iterator[tuple[Tag, list[str]]]:
    """The tags of tables, each with the elements that are open before it, outermost first.

    A closing tag that closes nothing since the innermost table began is left out.
    """
    stack: list[str] = []
    deeper = 0
    for tag in tags_in(text, start, end):
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
    """Close what ``<name>`` closes: of a row or cell all up to the table, else what is innermost."""
    closes = _IMPLIED.get(name)
    if closes:
        inner = _inner(stack) if name in _STRUCTURE else len(stack) - 1
        place = next((at for at in range(inner, len(stack)) if stack[at] in closes), len(stack))
        del stack[place:]


def _inner(stack: list[str]) -> int:
    """The place after the innermost table."""
    return len(stack) - stack[::-1].index("table")


def missing_tags(text: str, *, begins_inside: bool, ends_inside: bool) -> tuple[str, str]:
    """Return the fewest tags before and after a part of a table that close all that it opens.

    Elements outside the table, which a part may open that does not begin inside the table, or close
    that does not end there, are left alone.
    """
    opened: list[str] = []
    closed: list[str] = []
    for tag in tags_in(text, 0, len(text)):
        if tag.closing and tag.name in opened:
            while opened.pop() != tag.name:
                pass
        elif tag.closing:
            opened.clear()
            closed.append(tag.name)
        elif tag.name not in VOID_ELEMENTS:
            opened.append(tag.name)
    first, last = 0, len(closed) - 1
    if not begins_inside:
        first = next((at for at, name in enumerate(opened) if name in _TABLE), len(opened))
    if not ends_inside:
        last = max((at for at, name in enumerate(closed) if name in _TABLE), default=-1)
    before = "".join(f"<{name}>" for name in reversed(closed[: last + 1]))
    return before, "".join(f"</{name}>" for name in reversed(opened[first:]))


def tags_around(
    text: str, start: int, end: int, tables: HtmlTables, cuts: Iterable[int]
) -> Iterator[tuple[int, str, str, str]]:
    """For each of the ``cuts`` in ``text[start:end]``, sorted, what goes around the parts beside it.

    That is what to put before the part after it, with the table's caption and header and
    without, and what closes the part before it.
    """
    walk = _walk(text, start, end)
    tag, stack = next(walk, (None, []))
    header_ends = {header_end: inside for inside, header_end in tables.headers}
    wanted = set(cuts)
    header = ""
    opened: tuple[str, ...] = ()
    known: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for pos in sorted(wanted | header_ends.keys()):
        while tag is not None and tag.start < pos:
            if not stack:
                header = ""
                known.clear()
            tag, _ = next(walk, (None, stack))
        if pos in header_ends:
            header, opened = text[header_ends[pos] : pos], tuple(stack)
            known.clear()
        if pos in wanted:
            now = tuple(stack)
            if now not in known:
                known[now] = _tags(header, opened, now)
            yield pos, *known[now]


def _tags(header: str, opened: Sequence[str], now: Sequence[str]) -> tuple[str, str, str]:
    """Return the tags that open the elements ``now``, with a header and without, and close them."""
    bare = "".join(f"<{name}>" for name in now)
    closing = "".join(f"</{name}>" for name in reversed(now))
    if not now or is_blank(header):
        return bare, bare, closing
    same = sum(1 for _ in takewhile(bool, map(eq, opened, now)))
    ended = "".join(f"</{name}>" for name in reversed(opened[same:]))
    begun = "".join(f"<{name}>" for name in now[same:])
    return f"<table>{header}{ended}{begun}", bare, closing
