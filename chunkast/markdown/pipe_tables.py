"""Read the rows and cells of pipe tables, and complete a part of a table."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise

from chunkast.markdown.tables import LONGEST_HEADER, Around, Cell, Tables
from chunkast.text.source_map import line_starts
from chunkast.text.spans import content_end
from chunkast.text.white_space import is_blank

__all__ = ("count_cells", "count_delimiters", "pipe_table")

# Any pipe separates cells, even inside code, unless a backslash precedes it (GFM).
_PIPE = re.compile(r"(?<!\\)\|")
# Before a row's first cell: indentation, and the marks of quotes around the table.
_MARGIN = re.compile(r"[ \t>]*")
_OPENING = re.compile(r"[ \t>]*\|[ \t]*|[ \t]+")
# A line with marks of a delimiter row only: not a rule or an item.
_DELIMITER_ROW = re.compile(r"(?:[|:][|:\- \t]|-[|:\-])[|:\- \t]*")
_DELIMITER = re.compile(r"[ \t]*:?-+:?[ \t]*")


def count_delimiters(row: str) -> int:
    """Return the number of columns in a delimiter row, or 0 if ``row`` is not a delimiter row."""
    if not _DELIMITER_ROW.fullmatch(row):
        return 0
    delimiters = row.rstrip(" \t").removeprefix("|").removesuffix("|").split("|")
    return len(delimiters) if all(map(_DELIMITER.fullmatch, delimiters)) else 0


def count_cells(row: str) -> int:
    """Return the number of cells in a row without surrounding white space."""
    pipes = len(_PIPE.findall(row)) if "\\" in row else row.count("|")
    return pipes + 1 - row.startswith("|") - (row.endswith("|") and not row.endswith("\\|"))


def pipe_table(text: str, start: int, end: int) -> Tables:
    """Read the lines of a pipe table; its cells are read when they are needed."""
    starts = line_starts(text, start, end)
    body = starts[2:-1]
    cells = cache(partial(_cells, text))
    around = partial(_around, starts, cells)
    return Tables(rows=body, leading={*body[:1]}, lines=starts[1:-1], cells=cells, around=around)


def _around(
    starts: Sequence[int],
    cells: Callable[[int, int], Sequence[Cell]],
    text: str,
    cuts: Iterable[int],
) -> Iterator[Around]:
    """Yield the cuts in a table whose lines begin at ``starts``, with the header to repeat.

    A part that begins inside a row is padded with empty cells, or has no frame.
    """
    if len(starts) < 4:
        return
    header, body = text[starts[0] : starts[2]], starts[2]
    columns = len(cells(starts[1], body))
    for pos in cuts:
        number = bisect_right(starts, pos)
        row = starts[number - 1], starts[number]
        if pos == row[0] or pos < body:
            yield pos, (header,) if pos >= body else (), ""
        else:
            padding = _padding(text, row, cells(*row), pos, columns)
            has_frame = padding is not None and len(header) <= LONGEST_HEADER
            yield pos, (f"{header}{padding}",) if has_frame else (), ""


def _padding(
    text: str, row: tuple[int, int], cells: Sequence[Cell], pos: int, columns: int
) -> str | None:
    """Return the text that keeps the columns after a cut inside a row, or None.

    This is the row's margin and an empty cell for each column before the cut. A cut in the margin,
    in cells beyond the table's ``columns`` or before an escaped pipe has none.
    """
    margin = _MARGIN.match(text, *row)
    first = margin.end() if margin else row[0]
    column = bisect_left(cells, (pos,), 1) - (pos == first)
    if pos < first or column > columns or text[pos - 1 : pos + 1] == "\\|":
        return None
    return text[row[0] : first] + "| " * column


def _cells(text: str, start: int, end: int) -> list[Cell]:
    """Return the cells in a row of a table, or in a part of a row.

    Their spans tile it: the first includes the margin, the last the closing pipe and the line
    ending.
    """
    margin = _MARGIN.match(text, start, end)
    first = margin.end() if margin else start
    pipes = [match.start() for match in _PIPE.finditer(text, first, end)]
    if pipes and pipes[0] == first:
        del pipes[0]
    if pipes and is_blank(text[pipes[-1] + 1 : end]):
        del pipes[-1]
    return [Cell(*span, *_content(text, *span)) for span in pairwise([start, *pipes, end])]


def _content(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the text of a cell or of a part of it, without pipes and white space."""
    opening = _OPENING.match(text, start, end)
    first = opening.end() if opening else start
    last = content_end(text, first, end)
    if last > first and text[last - 1] == "|" and text[last - 2 : last - 1] != "\\":
        last = content_end(text, first, last - 1)
    return first, last
