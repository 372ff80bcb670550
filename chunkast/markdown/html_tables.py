"""Find HTML tables, their rows, and the tags that complete a part of a table.

A table is one block from the line of ``<table>`` to the line of ``</table>``, although markdown-it
ends an HTML block at a blank line, and begins none within a paragraph. A table that contains
Markdown (a list, a fence, a heading) is page layout and is not changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise, takewhile
from operator import attrgetter, eq
from typing import Final, NamedTuple

from chunkast.markdown.blocks import Arranged, Signs, leaf_parts, new_block, rearranged
from chunkast.markdown.tables import Around, Cell, Tables, begins_with_header, words_of
from chunkast.model import Block
from chunkast.text.html import VOID_ELEMENTS, Tag, tags_in
from chunkast.text.source_map import line_starts
from chunkast.text.white_space import is_blank

__all__ = ("arrange_tables", "html_tables")

_KIND: Final = "html-table"
# In a block of HTML a tag's name may be in any case.
_OPENING = re.compile("<(?i:table)")
# The kinds of blocks that the parser makes of a table without Markdown inside.
_LEAVES: Final = frozenset({"html", "paragraph", "blank", "code"})
_SPAN = re.compile(r"(?<![\w-])(col|row)span\s*=\s*[\"']?\s*(\d{1,4})", re.IGNORECASE)
# A short text that fills a cell.
_LABEL = re.compile(r"\s*([^<>\r\n]{1,48})\s*</t[dh]\s*>", re.IGNORECASE)
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
# Cells beyond these columns have no padding.
_MOST_COLUMNS: Final = 64
# The number of characters in a header that is repeated above a row with padding of its own.
_LONGEST_HEADER: Final = 4_096
# More rows than a table has.
_ALL_ROWS: Final = 9_999


def arrange_tables(text: str, tree: Block, signs: Signs) -> Arranged:
    """Turn the lines of each table into an "html-table" leaf."""

    def with_tables(blocks: list[Block]) -> list[Block]:
        spans = _tables(text, blocks)
        return _replaced(text, blocks, _whole_lines(text, blocks, spans)) if spans else blocks

    return (rearranged(tree, with_tables) if signs.may_open("table", "TABLE") else tree), []


def _tables(text: str, children: Sequence[Block]) -> list[tuple[int, int]]:
    """Return the spans of the outermost tables, from opening to closing tag, sorted."""
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for block in children:
        if block.kind not in _LEAVES:
            opened.clear()
        if block.kind not in _LEAVES or not (
            opened or _OPENING.search(text, block.start, block.end)
        ):
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


def _first_opening(text: str, block: Block) -> int:
    """Return the position of the first ``<table`` in a paragraph, before any code, or -1."""
    first = _OPENING.search(text, block.start, block.end) if block.kind == "paragraph" else None
    return first.start() if first and text.find("`", block.start, first.start()) < 0 else -1


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


class _Cell(NamedTuple):
    """A cell: the number of its first column, and where it begins.

    is_header: true if it is a ``<th>`` or in a ``<thead>``.
    may_group: true if it may name the rows below it: a cell of several columns in the body.
    """

    column: int
    start: int
    is_header: bool
    may_group: bool


class _Reader:
    """Reads the tables of a leaf, tag by tag.

    cell_starts: the starts of cells, except the first cell of each row.
    spanned: for each row that an earlier cell extends into, a row to add above it if the earlier
        rows are missing; None if that row would be too wide. Its cells extend into the same rows.
    headers: the span of each table's caption and header.
    """

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.tables = Tables()
        self.cell_starts: list[int] = []
        self.spanned: dict[int, str | None] = {}
        self.headers: list[tuple[int, int]] = []
        self.ended = start  # the end of the last table

    def begin(self, inside: int) -> None:
        """Begin a table whose opening tag ends at ``inside``."""
        self.inside = inside
        # The index of the table's first row among the leaf's rows.
        self.first = len(self.tables.rows)
        self.cells: list[list[_Cell]] = []  # by row
        # By column: the number of rows below the current one that a cell extends into, and the
        # cell's text if it is short.
        self.reaching: dict[int, tuple[int, str]] = {}

    def take(self, tag: Tag, in_head: bool) -> None:
        """Process a tag of a row, a cell or a part of the table, such as ``<thead>``."""
        if tag.name in _PARTS:
            self.reaching = {}  # no cell extends beyond its part
            if tag.closing:
                self.tables.tails.append(tag.start)
        elif not tag.closing:
            if tag.name == "tr" or len(self.tables.rows) == self.first:
                self.begin_row(tag.start)
            if tag.name in _CELLS:
                self.begin_cell(tag, in_head)

    def begin_row(self, start: int) -> None:
        self.column, self.above = 0, self.reaching
        cells = self.above.items()
        self.reaching = {at: (rows - 1, label) for at, (rows, label) in cells if rows > 1}
        self.tables.rows.append(start)
        self.cells.append([])
        if self.above:
            self.spanned[start] = _row_above(self.above)
        else:
            self.tables.unspanned.append(start)

    def begin_cell(self, tag: Tag, in_head: bool) -> None:
        if self.cells[-1]:
            self.cell_starts.append(tag.start)
        while self.column in self.above:
            self.column += 1
        spans = _SPAN.finditer(self.text, tag.start, tag.end)
        sizes = {span[1].lower(): int(span[2]) for span in spans}
        is_header = in_head or tag.name == "th"
        is_plain = sizes.get("row", 1) == 1 and not (self.above or in_head)
        self.cells[-1].append(
            _Cell(self.column, tag.start, is_header, is_plain and sizes.get("col", 1) > 1)
        )
        end = min(self.column + (sizes.get("col") or 1), _MOST_COLUMNS + 1)
        # No rows are all rows of the table's part.
        if rows := (sizes.get("row", 1) or _ALL_ROWS) - 1:
            label = _LABEL.match(self.text, tag.end)
            self.reaching |= dict.fromkeys(range(self.column, end), (rows, ""))
            self.reaching[self.column] = rows, label[1].strip() if label else ""
        self.column = end

    def finish(self, tag: Tag) -> None:
        """End the table at its closing tag."""
        rows = self.tables.rows[self.first :]
        spans = [*pairwise([*rows, tag.start])]
        may_group = [*map(self.may_group, self.cells, spans)]
        header = self.header(may_group, tag.start)
        # A cell that extends out of the header would move the cells of other rows.
        if header == len(rows) or rows[header] in self.spanned:
            header = 0
        self.tables.leading |= dict.fromkeys(rows[: header + 1], "lead-in")
        self.headers.append((self.inside, rows[header] if rows else self.inside))
        self.tables.add_groups(spans[header:], may_group[header:])
        self.tables.tails.append(tag.start)
        self.ended = tag.end

    def may_group(self, row: Sequence[_Cell], span: tuple[int, int]) -> bool:
        """Return whether a row may name the rows below it."""
        if len(row) != 1 or not row[0].may_group:
            return False
        words, _, is_bold = words_of(self.text[slice(*span)].lower())
        return is_bold or (row[0].is_header and words != "")

    def header(self, may_group: Sequence[bool], end: int) -> int:
        """Return the number of rows in the header of the table, which ends at ``end``."""
        rows = self.cells
        count = len([*takewhile(lambda row: row and all(c.is_header for c in row), rows)])
        while count and may_group[count - 1]:
            count -= 1
        plain = [row for row, group in zip(rows, may_group, strict=True) if row and not group]
        if count or plain[:1] != rows[:1] or any(cell.is_header for row in plain for cell in row):
            return count
        starts = [*(cell.start for row in rows for cell in row), end]
        html = {start: self.text[start:last].lower() for start, last in pairwise(starts)}
        cells = [[(cell.column, html[cell.start]) for cell in row] for row in plain]
        return int(begins_with_header(cells))

    def edge(self, pos: int) -> None:
        """Record the text from the last table to ``pos``, the next table or the leaf's end."""
        if not is_blank(self.text[self.ended : pos]):
            self.tables.edges += (self.ended, pos)


def _row_above(reaching: Mapping[int, tuple[int, str]]) -> str | None:
    """Return a row with only the cells that extend into the rows below it, or None if too wide."""
    if (last := max(reaching)) >= _MOST_COLUMNS:
        return None
    cells = (reaching.get(column, (0, "")) for column in range(last + 1))
    row = (f"<td rowspan={rows + 1}>{label}</td>" for rows, label in cells)
    return f"<tr>{''.join(row)}</tr>"


def html_tables(text: str, start: int, end: int) -> Tables:
    """Find the tables in ``text[start:end]`` by their tags alone."""
    reader = _Reader(text, start)
    tables, tags = reader.tables, list(tags_in(text, start, end))
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
    tables.outer = [tag.end if tag.closing else tag.start for tag in tags]
    tables.inner = [tag.start if tag.closing else tag.end for tag in tags]
    tables.cells = partial(_cells, sorted([*tables.rows, *reader.cell_starts]))
    tables.around = partial(_around, reader, tags)
    return tables


def _cells(starts: Sequence[int], start: int, end: int) -> Iterator[Cell]:
    """Yield the cells in a row or in a part of a row, or outside tables; ``starts`` has their starts."""
    inside = starts[bisect_right(starts, start) : bisect_left(starts, end)]
    for span in pairwise([start, *inside, end]):
        yield Cell(*span, *span)


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


def _around(
    reader: _Reader, tags: Sequence[Tag], text: str, cuts: Iterable[int]
) -> Iterator[Around]:
    """Yield each of the ``cuts`` in a leaf with the tags to add there.

    The tags are alternative prefixes for the part after the cut, with and without the table's
    caption and header and the group rows that name the row, and the suffix that closes the part
    before the cut. A part that begins inside a row has no header.
    """
    walk = _walk(tags)
    tag, stack = next(walk, (None, []))
    header_ends = {header_end: inside for inside, header_end in reader.headers}
    wanted, rows = set(cuts), set(reader.tables.rows)
    header = ""
    opened: tuple[str, ...] = ()
    # Equal tags are the same object, since a header may be long.
    around = cache(_tags)
    for pos in sorted(wanted | header_ends.keys()):
        while tag is not None and tag.start < pos:
            if not stack:
                header, opened = "", ()
            tag, _ = next(walk, (None, stack))
        if pos in header_ends:
            header, opened = re.sub(r"(\s)\s+", r"\1", text[header_ends[pos] : pos]), tuple(stack)
        if pos in wanted:
            above = reader.spanned.get(pos, "")
            begins_row = pos in rows and above is not None
            groups = reader.tables.group_rows(text, pos) if begins_row else ("",)
            shown = header if begins_row else ""
            yield (
                pos,
                *around(shown, opened, tuple(stack), tuple(g + (above or "") for g in groups)),
            )


def _tags(
    header: str, opened: Sequence[str], now: Sequence[str], rows: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """Return the tags that open the elements in ``now``, and the tags that close them.

    The opening tags are returned with ``header`` and each of the alternative ``rows``, and then
    without.
    """
    bare = "".join(f"<{name}>" for name in now)
    closing = "".join(f"</{name}>" for name in reversed(now))
    if not opened and "tr" in now:
        bare = ""  # The rest of a header row would be above other columns.
    if not now or (rows[0] and len(header) > _LONGEST_HEADER):
        return (bare,), closing
    above = bare
    if not is_blank(header):
        same = sum(1 for _ in takewhile(bool, map(eq, opened, now)))
        ended = "".join(f"</{name}>" for name in reversed(opened[same:]))
        begun = "".join(f"<{name}>" for name in now[same:])
        above = f"<table>{header}{ended}{begun}"
    return (*(above + row for row in rows), bare), closing
