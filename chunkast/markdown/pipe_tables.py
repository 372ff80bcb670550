"""Read the rows of pipe tables: count and find their cells."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise

from chunkast.text.spans import content_end
from chunkast.text.white_space import is_blank

__all__ = ("cell_content", "cell_spans", "count_cells", "count_delimiters", "padding_at")

# Any pipe separates cells, even inside code, unless a backslash precedes it (GFM).
_PIPE = re.compile(r"(?<!\\)\|")
# Before a row's first cell: indentation, and the marks of quotes around the table.
_MARGIN = re.compile(r"[ \t>]*")
_OPENING = re.compile(r"[ \t>]*\|[ \t]*|[ \t]+")
# A line with marks of a delimiter row only: not a rule or an item.
_DELIMITER_ROW = re.compile(r"(?:[|:][|:\- \t]|-[|:\-])[|:\- \t]*")
_DELIMITER = re.compile(r"[ \t]*:?-+:?[ \t]*")


def count_delimiters(row: str) -> int:
    """Return the number of columns in a delimiter row, or 0 if ``row`` is not one."""
    if not _DELIMITER_ROW.fullmatch(row):
        return 0
    delimiters = row.rstrip(" \t").removeprefix("|").removesuffix("|").split("|")
    return len(delimiters) if all(map(_DELIMITER.fullmatch, delimiters)) else 0


def count_cells(row: str) -> int:
    """Return the number of cells in a row without surrounding white space."""
    pipes = len(_PIPE.findall(row)) if "\\" in row else row.count("|")
    return pipes + 1 - row.startswith("|") - (row.endswith("|") and not row.endswith("\\|"))


def cell_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span of each cell in the row ``text[start:end]``, including the pipe before it.

    The spans tile the row: the first includes the margin, and the last includes the closing pipe
    and the line ending.
    """
    margin = _MARGIN.match(text, start, end)
    first = margin.end() if margin else start
    pipes = [match.start() for match in _PIPE.finditer(text, first, end)]
    if pipes and pipes[0] == first:
        del pipes[0]
    if pipes and is_blank(text[pipes[-1] + 1 : end]):
        del pipes[-1]
    yield from pairwise([start, *pipes, end])


def cell_content(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of a cell's text, without pipes and surrounding white space.

    ``text[start:end]`` is a cell or a part of a cell.
    """
    opening = _OPENING.match(text, start, end)
    first = opening.end() if opening else start
    last = content_end(text, first, end)
    if last > first and text[last - 1] == "|" and text[last - 2 : last - 1] != "\\":
        last = content_end(text, first, last - 1)
    return first, last


def padding_at(
    text: str, row: tuple[int, int], cuts: Iterable[int], columns: int
) -> Iterator[tuple[int, str]]:
    """Yield each of the ``cuts`` inside a row, with the text that keeps the columns after it.

    This is the row's margin and an empty cell for each column before the cut. Cuts in the margin,
    in cells beyond the table's ``columns`` and before an escaped pipe are skipped.
    """
    margin = _MARGIN.match(text, *row)
    first = margin.end() if margin else row[0]
    edges = [first, *(start for start, _ in cell_spans(text, *row))]
    del edges[1]
    for pos in cuts:
        column = bisect_left(edges, pos)
        if first <= pos and column <= columns and text[pos - 1 : pos + 1] != "\\|":
            yield pos, text[row[0] : first] + "| " * column
