"""List the levels at which a block that exceeds the budget is divided, from coarse to fine.

A level maps a span ``[start, end)`` of the block to the break points inside it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Final, TypeAlias

from chunkast.analysis import INSIDE, Inside, Point, Structure
from chunkast.cutting.costs import Costs
from chunkast.cutting.headings_above import Above
from chunkast.model import Block
from chunkast.text.source_map import line_starts
from chunkast.text.spans import SpanSet
from chunkast.text.white_space import WHITE_SPACE, is_blank

__all__ = ("Body", "Level", "grapheme_levels", "levels_of")

Level: TypeAlias = Callable[[int, int], Iterable[Point]]

_POSITION = itemgetter(0)
_WORD = re.compile(f"(?<=[{WHITE_SPACE}])[^{WHITE_SPACE}]")
# In a first pass, word and cluster points are at least this share of the budget apart.
_STEP_SHARE: Final = 32
# The number of characters counted to estimate the characters per token.
_SAMPLE: Final = 64
# The score of a sentence in a table's cell, and of a row that an earlier cell extends into, as a share
# of the score of other sentences and rows.
_CELL_SHARE: Final = 0.2
# A line with the term of a definition in HTML, or with the definition, which belongs to the term.
_DEFINES = re.compile(r"[ \t]*<d([dt])\b", re.IGNORECASE)
# The number of tokens that the tags that close a table may have.
_CLOSING: Final = 8
# The kinds whose first and last line belong to the lines between them.
_DELIMITED: Final = frozenset({"fence", "math", "front-matter"})
# Code is divided at its syntax to this depth, then at lines. Without a grammar, a level of
# indentation has two depths.
_SYNTAX_DEPTH: Final = 24


@dataclass(frozen=True, slots=True)
class Body:
    """A block that exceeds the budget, and the data for its levels.

    blocked: the spans that must not be cut.
    sentences: the sorted starts of sentences.
    syntax: the points before definitions and statements, sorted by position.
    opened: the position after a fence's opening line, where only the levels for words and graphemes
        may cut.
    above: the headings that stay with the block's first word.
    """

    structure: Structure
    costs: Costs
    scores: Mapping[str, float]
    leaf: Block
    blocked: SpanSet
    sentences: Sequence[int]
    inside: Inside
    syntax: Sequence[Point]
    opened: int
    above: Above

    @property
    def text(self) -> str:
        """The text that the parser read."""
        return self.structure.parsed

    def is_within(self, start: int, end: int) -> bool:
        """Return whether a part fits together with the text that stays with its beginning.

        This is the headings above the block, or the group rows above a table row, unless these rows
        take up more than three quarters of the budget.
        """
        tables, costs = self.inside.tables, self.costs
        if tables.groups and tables.leading.get(start) == "orphan-heading":
            group = tables.groups[start][0][0]
            if 4 * costs.tokens(group, start) <= 3 * costs.budget:
                return costs.fits(group, end, costs.budget - _CLOSING)
        reserve = self.above.reserve if start < self.above.word_end else 0
        return costs.is_within(self.above.start(start), end, reserve)

    def is_free(self, pos: int) -> bool:
        """Return whether a cut is allowed at ``pos``."""
        return pos >= self.above.word_end and self.blocked.end(pos) == pos

    def point(self, pos: int, kind: str, share: float = 1.0) -> Point:
        score = self.scores[kind]
        return Point(pos, score if share == 1 else score * share, kind)

    def level(self, positions: Sequence[int], kind: str, share: float = 1.0) -> Level:
        """Return a level that cuts at the sorted ``positions``."""
        kinds = self.inside.tables.leading
        return lambda start, end: (
            self.point(pos, kinds.get(pos, kind), share) for pos in _between(positions, start, end)
        )

    def items(self, start: int, end: int) -> Iterator[Point]:
        """Yield a point before each sentence at which an item or turn begins in a paragraph."""
        marks = self.inside.text.marks if self.inside.text else ()
        for pos in _between(self.sentences, start, end) if marks else ():
            if any(mark.match(self.text, pos) for mark in marks):
                yield self.point(pos, "bullet")

    def definitions(self, start: int, end: int) -> list[Point]:
        """Return the points before the outermost definitions and statements in a span of code."""
        first = bisect_right(self.syntax, start, key=_POSITION)
        inside = self.syntax[first : bisect_left(self.syntax, end, key=_POSITION)]
        depth = min((item.depth for item in inside if self.is_free(item.pos)), default=0)
        return [item._replace(depth=INSIDE) for item in inside if item.depth == depth]

    def lines(self, start: int, end: int) -> Iterator[Point]:
        """Yield a point before each line that is not blank; a line after a blank line scores higher.

        The first and last lines of a fence or formula stay with the lines between them.
        """
        text, starts = self.text, line_starts(self.text, start, end)
        margin = self.structure.margin(self.leaf)
        blank = [is_blank(margin.without(text[pos:stop])) for pos, stop in pairwise(starts)]
        rows = [number for number, is_empty in enumerate(blank) if not is_empty]
        opening = self.leaf.kind in _DELIMITED
        closing = opening and self.leaf.closed and end >= self.leaf.end
        first = int(opening and start == self.leaf.start)
        for number, row in enumerate(rows):
            pos = starts[row]
            if pos == self.opened:
                continue
            defines = _DEFINES.match(text, pos)
            if 0 < number == first or (closing and number == len(rows) - 1):
                yield self.point(pos, "lead-in")
            elif defines:
                yield self.point(pos, "row" if defines[1] in "tT" else "lead-in")
            else:
                yield self.point(pos, "blank-line" if row and blank[row - 1] else "line")

    def unspanned(self, start: int, end: int) -> Iterator[Point]:
        """Yield a point before each row of an HTML table that no earlier cell extends into.

        If the rows up to the next such row do not fit with the header, yield the rows between, too.
        """
        tables, costs = self.inside.tables, self.costs
        if len(tables.unspanned) in (0, len(tables.rows)):
            return
        rows = [start, *_between(tables.unspanned, start, end)]
        frames = {pos: costs.count(each[0]) for pos, each, _ in tables.around(costs.text, rows)}
        for first, last in pairwise([*rows, end]):
            yield self.point(first, "row")
            header = frames[first] if frames[first] <= costs.budget // 2 else 0
            if not costs.fits(first, last, costs.budget - header):
                yield from self.level(tables.rows, "row", _CELL_SHARE)(first, last)

    def cells(self, start: int, end: int) -> Iterator[Point]:
        """Yield a point before each table cell in a span."""
        for cell in self.inside.tables.cells(start, end):
            yield self.point(cell.start, "cell")

    def cell_edges(self, start: int, end: int) -> Iterator[Point]:
        """Yield points at the edges of each cell's text, to separate it from the pipes."""
        for cell in self.inside.tables.cells(start, end):
            yield self.point(cell.text_start, "word")
            yield self.point(cell.text_end, "word")

    def words(self, start: int, end: int) -> Iterator[Point]:
        for match in _WORD.finditer(self.text, start + 1, end):
            if self.is_free(match.start()):
                yield self.point(match.start(), "word")

    def graphemes(self, start: int, end: int) -> Iterator[Point]:
        return self._clusters(start, end, 1)

    def far_graphemes(self, start: int, end: int) -> Iterator[Point]:
        return self._clusters(start, end, self._step(start, end))

    def _clusters(self, start: int, end: int, step: int) -> Iterator[Point]:
        pos = self.blocked.end(start + step)
        while pos < end:
            yield self.point(pos, "grapheme")
            pos = self.blocked.end(pos + step)

    def spaced(self, level: Level) -> Level:
        """Return a level with only some of the points of ``level``.

        The remaining points are at least a small share of the budget apart.
        """

        def far_apart(start: int, end: int) -> Iterator[Point]:
            step = self._step(start, end)
            least = start + step
            for point in level(start, end):
                if point.pos >= least:
                    yield point
                    least = point.pos + step

        return far_apart

    def _step(self, start: int, end: int) -> int:
        """Estimate the number of characters in a small share of the budget.

        The estimate depends only on text at the start of the span, so that edits outside the span
        do not move cuts inside it.
        """
        end = min(end, start + _SAMPLE)
        tokens = self.costs.tokens(start, end)
        step = max(1, self.costs.budget // _STEP_SHARE)
        return max(1, (end - start) * step // max(tokens, 1))


def _between(positions: Sequence[int], start: int, end: int) -> Sequence[int]:
    """Return the sorted ``positions`` that are strictly between ``start`` and ``end``."""
    return positions[bisect_right(positions, start) : bisect_left(positions, end)]


def levels_of(body: Body) -> list[Level]:
    """Return the levels for a block's shape, from coarse to fine."""
    shape = body.structure.row(body.leaf).shape
    kept = body.level(body.costs.kept_edges, "word")
    words: list[Level] = [kept, body.spaced(body.words), body.words]
    return [*_LEVELS[shape](body), *words, *grapheme_levels(body)]


def grapheme_levels(body: Body) -> list[Level]:
    """Return the levels for text that cannot be divided into words, such as blank lines."""
    return [body.far_graphemes, body.graphemes]


def _table_levels(body: Body) -> list[Level]:
    tables = body.inside.tables
    return [
        body.level(tables.edges, "row"),
        body.unspanned,
        body.level(tables.rows, "row"),
        body.level(tables.tails, "lead-in"),
        body.cells,
        body.level(body.sentences, "sentence", _CELL_SHARE),
        body.cell_edges,
        body.level(tables.outer, "word"),
        # An opening tag stays with the text of its element.
        body.level(tables.inner, "lead-in"),
        body.lines,
    ]


_LEVELS: Final[Mapping[str, Callable[[Body], list[Level]]]] = {
    "prose": lambda body: [body.items, body.level(body.sentences, "sentence"), body.lines],
    "code": lambda body: [*[body.definitions] * _SYNTAX_DEPTH, body.lines],
    "lines": lambda body: [body.lines],
    **dict.fromkeys(("html-table", "table", "text-table"), _table_levels),
    "container": lambda _: [],
}
