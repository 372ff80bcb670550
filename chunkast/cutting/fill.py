"""The scored search of ``packing="fill"``, which finds one cut after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain
from typing import Final

from chunkast.config import ChunkConfig
from chunkast.cutting.measure import Measure
from chunkast.cutting.overlap import Overlap
from chunkast.cutting.scored_search import ranked_cuts
from chunkast.cutting.section_units import Sections
from chunkast.cutting.units import Piece

__all__ = ("fill",)

# A last piece below this share of the budget is balanced with the one before it.
_CRUMB_SHARE: Final = 5
# The maximum number of cuts to try when balancing two pieces; there may be thousands.
_BALANCES: Final = 64


def fill(
    config: ChunkConfig, measure: Measure, sections: Sections, overlap: Overlap
) -> list[Piece]:
    """Pack all units in order into pieces that fit, each as full as its break points allow."""
    return _Search(config, measure, sections, overlap).pieces()


class _Search:
    def __init__(
        self, config: ChunkConfig, measure: Measure, sections: Sections, overlap: Overlap
    ) -> None:
        self.config = config
        self.measure = measure
        self.score = measure.units.score
        self.sections = sections
        self.overlap = overlap

    def pieces(self) -> list[Piece]:
        last = len(self.measure.units)
        pieces: list[Piece] = []
        at = 0
        while at < last:
            room = self.measure.room(at) - (self.overlap.reserve(pieces[-1]) if pieces else 0)
            end = last if self.measure.fits(at, last, room) else self.best_end(at, room)
            pieces.append(Piece(at, end))
            at = end
        return self.balanced(pieces) if len(pieces) > 1 else pieces

    def best_end(self, first: int, room: int) -> int:
        """Return the end of the piece that begins with unit ``first`` and has at least one unit.

        These points are tried in order: the best point in the window, or in a window further back;
        any point before the limit; a point that fits without context and overlap; a point that
        separates units that belong together; the next point.
        """
        measure, score = self.measure, self.score
        nearest = [h for h in range(self.limit(first, room), first, -1) if score[h] > 0]
        for h in chain(self.by_value(nearest, first, room), nearest):
            if measure.fits(first, h, room):
                return h
        usable = range(first + 1, self.limit(first, measure.budget) + 1)
        beyond = (h for h in usable if score[h] > 0 or h == len(measure.units))
        separating = sorted(usable, key=lambda h: (score[h], h), reverse=True)
        for h in chain(beyond, separating):
            if measure.fits(first, h, measure.budget):
                return h
        return first + 1

    def limit(self, first: int, room: int) -> int:
        """Return the last end at which a piece from ``first`` fits, or an estimate beyond that."""
        before = self.measure.before
        end = max(bisect_right(before, before[first] + room, first) - 1, first)
        while end < len(self.measure.units) and self.measure.fits(first, end + 1, room):
            end += 1
        return end

    def by_value(self, points: Sequence[int], first: int, room: int) -> list[int]:
        """Return the points in the window before the limit, best first.

        ``points`` are in descending order. If there are no points in the window, the window is
        moved back to the nearest point.
        """
        before, window = self.measure.before, self.config.window_tokens
        distances = {h: max(room - before[h] + before[first], 0) for h in points}
        nearest = min(distances.values(), default=0)
        limit = nearest if nearest > window else 0
        cuts = ((h, distance - limit, self.score[h]) for h, distance in distances.items())
        return [h for _, h in ranked_cuts(cuts, window=window, decay=self.config.decay)]

    def balanced(self, pieces: list[Piece]) -> list[Piece]:
        """Balance the sizes of the last two pieces if the last piece is very small."""
        measure, before = self.measure, self.measure.before
        one, two = pieces[-2:]
        crumb = measure.budget // _CRUMB_SHARE
        if self.sections.begins(two.first) or not measure.fits(*two, crumb - 1):
            return pieces
        reserve = self.overlap.reserve(pieces[-3]) if len(pieces) > 2 else 0
        start = before[one.first]
        half = (before[two.last] - start) / 2
        cuts: list[tuple[int, float, float]] = []
        for h in range(two.first - 1, one.first, -1):
            tokens = before[h] - start
            if tokens < crumb:
                break
            cuts.append((h, abs(tokens - half), self.score[h]))
        for value, h in ranked_cuts(cuts, window=half, decay=self.config.decay)[:_BALANCES]:
            left, right = Piece(one.first, h), Piece(h, two.last)
            if value <= 0:
                break
            if (
                not measure.fits(*right, crumb - 1)
                and measure.fits(*left, measure.room(one.first) - reserve)
                and measure.fits(*right, measure.room(h) - self.overlap.reserve(left))
            ):
                return [*pieces[:-2], left, right]
        return pieces
