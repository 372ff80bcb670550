"""Find HTML tables, their rows, and the tags that complete a part of a table.

A table is one block from the line of ``<table>`` to the line of ``</table>``, although markdown-it
ends an HTML block at a blank line, and begins none for a table after other text. A table that
contains Markdown (a list, a fence, a heading) is page layout and is not changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import groupby, pairwise, takewhile
from operator import attrgetter, eq
from typing import Final, NamedTuple

from chunkast.markdown.blocks import (
    Arranged,
    Signs,
    leaf_parts,
    new_block,
    relabelled,
    with_children,
)
from chunkast.markdown.tables import LONGEST_HEADER, Around, Cell, Tables
from chunkast.model import Block
from chunkast.text.html import VOID_ELEMENTS, Tag, tags_in
from chunkast.text.source_map import line_starts
from chunkast.text.white_space import is_blank

__all__ = ("arrange_tables", "html_tables")

_KIND: Final = "html-table"
_NAMES: Final = ("table", "TABLE")
# In a block of HTML a tag's name may be in any case.
_OPENING = re.compile("<(?i:table)")
# The kinds of blocks that the parser makes of a table without Markdown inside.
_LEAVES: Final = frozenset({"html", "paragraph", "blank", "code"})
_SPAN = re.compile(r"(?<![\w-])(col|row)span\s*=\s*[\"']?\s*(\d{1,4})", re.IGNORECASE)
# A short text that fills a cell.
_LABEL = re.compile(r"\s*([^<>\r\n]{1,48})\s*</t[dh]\s*>", re.IGNORECASE)
_MARKUP = re.compile(r"<[^<>]*>|&nbsp;|\*\*")
_NAME = re.compile(r"(?<=<)[a-z]+|(?<=</)[a-z]+|\*\*")
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
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
# More rows than a table has.
_ALL_ROWS: Final = 9_999


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


class _Cell(NamedTuple):
    """A cell: the numbers of its row and its first column, and where it begins.

    is_header: true if it is a ``<th>`` or in a ``<thead>``.
    may_group: true if it may name the rows below it: a ``<th>`` of several columns in the body.
    """

    row: int
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
        self.cells: list[_Cell] = []
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
        if self.above:
            self.spanned[start] = _row_above(self.above)
        else:
            self.tables.unspanned.append(start)

    def begin_cell(self, tag: Tag, in_head: bool) -> None:
        row = len(self.tables.rows) - self.first
        if self.cells and self.cells[-1].row == row:
            self.cell_starts.append(tag.start)
        while self.column in self.above:
            self.column += 1
        spans = _SPAN.finditer(self.text, tag.start, tag.end)
        sizes = {span[1].lower(): int(span[2]) for span in spans}
        is_header = in_head or tag.name == "th"
        may_group = is_header and not in_head and sizes.get("col", 1) > 1
        self.cells.append(_Cell(row, self.column, tag.start, is_header, may_group))
        end = min(self.column + (sizes.get("col") or 1), _MOST_COLUMNS + 1)
        # No rows are all rows of the table's part.
        if rows := (sizes.get("row", 1) or _ALL_ROWS) - 1:
            label = _LABEL.match(self.text, tag.end)
            self.reaching |= dict.fromkeys(range(self.column, end), (rows, ""))
            self.reaching[self.column] = rows, label[1].strip() if label else ""
        self.column = end

    def finish(self, tag: Tag) -> None:
        """End the table at its closing tag."""
        self.tables.tails.append(tag.start)
        rows = self.tables.rows[self.first :]
        filled = [list(row) for _, row in groupby(self.cells, attrgetter("row"))]
        headers = [*takewhile(lambda row: all(cell.is_header for cell in row), filled)]
        groups = sum(map(_may_group, filled))
        # The only such row may also be the title of a table without another header.
        while headers and _may_group(headers[-1]) and len(headers) + groups > 2:
            headers.pop()
        count = len(headers) or _begins_with_header(self.text, filled, tag.start)
        header = filled[count - 1][0].row if count else 0
        # A cell that extends out of the header would move the cells of other rows.
        if header == len(rows) or rows[header] in self.spanned:
            header = 0
        self.tables.leading.update(rows[: header + 1])
        self.headers.append((self.inside, rows[header] if rows else self.inside))
        self.ended = tag.end

    def edge(self, pos: int) -> None:
        """Record the text from the last table to ``pos``, the next table or the leaf's end."""
        if not is_blank(self.text[self.ended : pos]):
            self.tables.edges += (self.ended, pos)


def _may_group(row: Sequence[_Cell]) -> bool:
    """Return whether a row may name the rows below it."""
    return len(row) == 1 and row[0].may_group


def _row_above(reaching: Mapping[int, tuple[int, str]]) -> str | None:
    """Return a row with only the cells that extend into the rows below it, or None if too wide."""
    if (last := max(reaching)) >= _MOST_COLUMNS:
        return None
    cells = (reaching.get(column, (0, "")) for column in range(last + 1))
    row = (f"<td rowspan={rows + 1}>{label}</td>" for rows, label in cells)
    return f"<tr>{''.join(row)}</tr>"


def _begins_with_header(text: str, rows: Sequence[Sequence[_Cell]], end: int) -> bool:
    """Return whether the first row of a table without header cells reads as its header.

    ``rows`` are those with cells, and ``end`` is the end of the last.
    """
    cells = [cell for row in rows for cell in row]
    if len(rows) < 3 or any(cell.is_header for cell in cells):
        return False
    starts, first = [*(cell.start for cell in cells), end], len(rows[0])
    contents = (_content(text[start:end].lower()) for start, end in pairwise(starts))
    may_head, digits, is_bold = zip(*contents, strict=True)
    later = zip(cells[first:], digits[first:], strict=True)
    counts = Counter(cell.column for cell, found in later if found)
    columns = [cell.column for cell in rows[0]]
    # The cell above a column of numbers has none, or only a year.
    above = (bisect_right(columns, at) for at, count in counts.items() if count == len(rows) - 1)
    has_numbers = any(not digits[at - 1] or _YEAR.fullmatch(digits[at - 1]) for at in above if at)
    bold = [number for number, found in enumerate(is_bold) if found]
    return (has_numbers or bold == list(range(first))) and all(may_head[:first])


def _content(html: str) -> tuple[bool, str, bool]:
    """Return whether a cell may be one of a header, its words if they have digits, and if it is bold.

    A cell of a header has text, and is neither a link nor an image.
    """
    text = _MARKUP.sub(lambda markup: " " * len(markup[0]), html)
    words = text.strip()
    before, after = html[: len(text) - len(text.lstrip())], html[len(text.rstrip()) :]
    # The names of the elements around all words.
    around = set(_NAME.findall(before)) & set(_NAME.findall(after))
    is_link = "a" in around or words[:1] + words[-1:] == "[)"
    may_head = bool(words) and not is_link and "<img" not in html and "![" not in words
    return (
        may_head,
        words * bool(_DIGIT.search(words)),
        not around.isdisjoint(("b", "strong", "**")),
    )


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
    for tag in tags:
        edges = tag.start, tag.end
        tables.outer.append(edges[tag.closing])
        tables.inner.append(edges[not tag.closing])
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

    The tags are two alternative prefixes for the part after the cut, with and without the table's
    caption and header, and the suffix that closes the part before the cut. A part that begins
    inside a row has no header.
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
            header, opened = text[header_ends[pos] : pos], tuple(stack)
        if pos in wanted:
            above = reader.spanned.get(pos, "")
            shown = header if pos in rows and above is not None else ""
            yield pos, *around(shown, opened, tuple(stack), above or "")


def _tags(
    header: str, opened: Sequence[str], now: Sequence[str], above: str
) -> tuple[tuple[str, str], str]:
    """Return the tags that open the elements in ``now``, and the tags that close them.

    The opening tags are returned twice: with and without ``header`` and the row ``above``.
    """
    bare = "".join(f"<{name}>" for name in now)
    closing = "".join(f"</{name}>" for name in reversed(now))
    if not opened and "tr" in now:
        bare = ""  # The rest of a header row would be above other columns.
    if not now or (above and len(header) > LONGEST_HEADER):
        return (bare, bare), closing
    if is_blank(header):
        return (bare + above, bare), closing
    same = sum(1 for _ in takewhile(bool, map(eq, opened, now)))
    ended = "".join(f"</{name}>" for name in reversed(opened[same:]))
    begun = "".join(f"<{name}>" for name in now[same:])
    return (f"<table>{header}{ended}{begun}{above}", bare), closing
