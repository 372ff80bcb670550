"""The rows and cells of tables in all formats, and the text that completes parts of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

__all__ = ("LONGEST_HEADER", "Around", "Cell", "Tables")

# The number of characters in a header that is repeated before parts of rows, or above a row with
# padding of its own. Each of them has a prefix of its own, so without a limit the total would not
# be linear.
LONGEST_HEADER: Final = 4_096
# A cut, the alternative prefixes for the part after it, from longest to shortest, and the suffix for
# the part before it.
Around: TypeAlias = tuple[int, tuple[str, ...], str]


class Cell(NamedTuple):
    """The span of a cell, in Markdown with the pipe before it, and the span of the cell's text."""

    start: int
    end: int
    text_start: int
    text_end: int


@dataclass(slots=True)
class Tables:
    """Sorted positions in the tables of a leaf. A leaf rarely contains more than one table.

    A ``<thead>``, ``<tbody>`` or ``<tfoot>`` tag stays with the text before it, so that a row that
    takes up the whole budget is well-formed by itself. A table inside a cell is text.

    edges: the start and end of each span of text outside the tables, alternating.
    unspanned: the starts of rows that no cell of an earlier row extends into.
    rows: the starts of rows; in Markdown, only of rows below the header.
    leading: the starts of header rows and of the row after them; cuts there are avoided.
    lines: the starts of lines, if the table consists of lines.
    tails: the starts of the tags that close a table or a part of a table.
    outer: for each tag, its start if it opens an element, or its end if it closes one.
    inner: the other ends of the tags, in the same order.
    cells: returns the cells in a row or in a part of a row.
    around: yields the sorted cuts in the leaf, with the prefixes and the suffix that complete the
        parts of the document's text. A part without prefixes has no frame.
    """

    edges: list[int] = field(default_factory=list)
    unspanned: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    leading: set[int] = field(default_factory=set)
    lines: list[int] = field(default_factory=list)
    tails: list[int] = field(default_factory=list)
    outer: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    cells: Callable[[int, int], Iterable[Cell]] = lambda *_: ()
    around: Callable[[str, Iterable[int]], Iterable[Around]] = lambda *_: ()
