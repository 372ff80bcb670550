"""The rows and cells of tables in all formats, and the rows that parts of a table repeat."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

__all__ = ("Around", "Cell", "Tables", "begins_with_header", "words_of")

# The number of group rows in a row that are repeated, so that their total is linear.
_MOST_GROUPS: Final = 3
_MARKUP = re.compile(r"<[^<>]*>|&nbsp;|\*\*")
_NAME = re.compile(r"(?<=<)[a-z]+|(?<=</)[a-z]+|\*\*")
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
# A cut, the alternative prefixes for the part after it, from longest to shortest, and the suffix for
# the part before it.
Around: TypeAlias = tuple[int, tuple[str, ...], str]


class Cell(NamedTuple):
    """The span of a cell, including the pipe before it in Markdown, and the span of its text."""

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
    leading: the starts of header rows and of the row after them, and of each row after a group row,
        with the kinds of their points; cuts there are avoided, most of all right after a group row.
    groups: the spans of the group rows that name each row, outermost first, by the row's start.
    tails: the starts of the tags that close a table or a part of a table; in Markdown, of
        lines inside the header.
    outer: for each tag, its start if it opens an element, or its end if it closes one.
    inner: the other end of each tag, in the same order.
    cells: returns the cells in a row or in a part of a row.
    around: yields the sorted cuts in the leaf, with the prefixes and the suffix that complete the
        document's parts around them. A part without prefixes has no frame.
    """

    edges: list[int] = field(default_factory=list)
    unspanned: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    leading: dict[int, str] = field(default_factory=dict)
    groups: dict[int, Sequence[tuple[int, int]]] = field(default_factory=dict)
    tails: list[int] = field(default_factory=list)
    outer: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    cells: Callable[[int, int], Iterable[Cell]] = lambda *_: ()
    around: Callable[[str, Iterable[int]], Iterable[Around]] = lambda *_: ()

    def add_groups(self, rows: Sequence[tuple[int, int]], may_group: Sequence[bool]) -> None:
        """Find the group rows among these ``rows`` of a table, which are below its header.

        Group rows name the rows below them, up to the next group row or the end of their part of the
        table. The last row of a part is no group row, and if all rows may be, none is.
        """
        if not any(may_group):
            return
        above: list[tuple[int, int]] = []
        last, ended = 0 if all(may_group) else len(rows) - 1, 0
        for number, row in enumerate(rows):
            part, after = (bisect_left(self.tails, pos) for pos in row)
            is_group = may_group[number] and number < last and part == after
            if above[-1:] == [rows[number - 1]]:
                self.leading[row[0]] = "orphan-heading"
            elif is_group or part > ended:
                above = []
            if above:
                self.groups[row[0]] = above
            if is_group:
                above = [*above, row][-_MOST_GROUPS:]
            ended = part

    def group_rows(self, text: str, pos: int) -> Iterable[str]:
        """Return the group rows that name the row at ``pos``, then only the last of them, then ""."""
        rows = [text[start:end] for start, end in self.groups.get(pos, ())]
        return dict.fromkeys(("".join(rows), "".join(rows[-1:]), ""))


def begins_with_header(rows: Sequence[Sequence[tuple[int, str]]]) -> bool:
    """Return whether the first row of a table without header cells reads as its header.

    Each cell of the ``rows`` has its first column, and its Markdown or HTML in lower case.
    """
    if len(rows) < 3:
        return False
    first = len(rows[0])
    columns, contents = zip(*chain(*rows), strict=True)
    words, may_head, is_bold = zip(*map(words_of, contents), strict=True)
    later = zip(columns[first:], words[first:], strict=True)
    counts = Counter(column for column, found in later if _DIGIT.search(found))
    # The cell above a column of numbers has none, or only a year.
    numbers = (column for column, count in counts.items() if count == len(rows) - 1)
    above = [words[at - 1] for at in (bisect_right(columns, at, hi=first) for at in numbers) if at]
    has_numbers = any(not _DIGIT.search(head) or _YEAR.fullmatch(head) for head in above)
    bold = [number for number, found in enumerate(is_bold) if found]
    return (has_numbers or bold == [*range(first)]) and all(may_head[:first])


def words_of(html: str) -> tuple[str, bool, bool]:
    """Return the words of a cell, whether it may be one of a header, and whether it is bold.

    ``html`` is its Markdown or HTML in lower case. A cell of a header has text, and is neither a link
    nor an image.
    """
    text = _MARKUP.sub(lambda markup: " " * len(markup[0]), html)
    words = text.strip()
    before, after = html[: len(text) - len(text.lstrip())], html[len(text.rstrip()) :]
    # The names of the elements around all words.
    around = set(_NAME.findall(before)) & set(_NAME.findall(after))
    is_link = "a" in around or words[:1] + words[-1:] == "[)"
    may_head = bool(words) and not is_link and "<img" not in html and "![" not in words
    return words, may_head, bool(words) and not around.isdisjoint(("b", "strong", "**"))
