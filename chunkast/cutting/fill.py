"""Find one cut after another by score, for ``packing="fill"``."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain, pairwise, starmap
from typing import Final

from chunkast.analysis import Sections
from chunkast.config import ChunkConfig
from chunkast.cutting.costs import Costs
from chunkast.cutting.overlap import Overlap
from chunkast.cutting.scored_search import ranked_cuts
from chunkast.cutting.units import Piece, Units

__all__ = ("Filling",)

# A last piece below this share of the budget is balanced with the one before it.
_CRUMB_SHARE: Final = 5
# The maximum number of cuts to try when balancing two pieces; there may be thousands.
_BALANCES: Final = 64


class Filling:
    """Packs units in order into pieces that fit, each as full as its break points allow.

    ``(i, j)`` means the units from ``i`` up to, but not including, ``j``.
    """

    def __init__(
        self, config: ChunkConfig, units: Units, costs: Costs, sections: Sections, overlap: Overlap
    ) -> None:
        self.config = config
        self.costs = costs
        self.pos = units.pos
        self.score = [point.score for point in units.points]
        self.last = len(units.pos) - 1
        self.sections = sections
        self.overlap = overlap
        # The number of tokens before each unit; inside blocks, this is only roughly right.
        self.tokens_before = costs.tokens_before(units.pos)

    def fits(self, i: int, j: int, room: int) -> bool:
        """Return whether the text between the points ``i`` and ``j`` fits into ``room`` tokens."""
        return self.costs.fits(self.pos[i], self.pos[j], room)

    def share(self, i: int, j: int) -> float:
        """Return the token count between two points, divided by that in ``tokens_before``."""
        rough = self.tokens_before[j] - self.tokens_before[i]
        return self.costs.shown_tokens(self.pos[i], self.pos[j]) / rough if rough else 1.0

    def piece(self, i: int, j: int) -> Piece:
        return Piece(self.pos[i], self.pos[j])

    def pieces(self) -> list[Piece]:
        """Return all pieces."""
        ends = [0]
        while ends[-1] < self.last:
            at = ends[-1]
            room = self.costs.room(self.pos[at])
            if len(ends) > 1:
                room -= self.overlap.reserve(self.piece(*ends[-2:]))
            limit = self.limit(at, room)
            # The rest of the text is only counted if it may fit.
            rest_fits = limit == self.last and self.fits(at, self.last, room)
            ends.append(self.last if rest_fits else self.best_end(at, room, limit))
        if len(ends) > 2:
            ends[-2] = self.balanced(ends)
        return [*starmap(self.piece, pairwise(ends))]

    def best_end(self, first: int, room: int, limit: int) -> int:
        """Return the end of the piece that begins with unit ``first`` and has at least one unit.

        ``limit`` is the result of :meth:`limit` for the piece. These are tried in order: the points
        in the window, best first (see :meth:`by_value`); the other points before the limit; points
        at which the piece fits only without context and overlap; points between units that belong
        together; :meth:`beside_headings`.
        """
        score = self.score
        nearest = [h for h in range(limit, first, -1) if score[h] > 0]
        for h in chain(self.by_value(nearest, first, room), nearest):
            if self.fits(first, h, room):
                return h
        usable = range(first + 1, self.limit(first, self.costs.budget) + 1)
        beyond = (h for h in usable if score[h] > 0 or h == self.last)
        separating = sorted(usable, key=lambda h: (score[h], h), reverse=True)
        for h in chain(beyond, separating):
            if score[h] > -math.inf and self.fits(first, h, self.costs.budget):
                return h
        return self.beside_headings(first, usable.stop)

    def beside_headings(self, first: int, stop: int) -> int:
        """Return the end, at most ``stop``, of a piece that begins with headings.

        If not all headings fit together with the text below, the outermost are cut off.
        """
        pos, near = self.pos, range(first + 1, min(stop, self.last) + 1)
        below = next((h for h in near if self.score[h] > -math.inf), None)
        if below is not None:
            return below if self.costs.fits_alone(pos[first], pos[below]) else first + 1
        fitting = (h for h in reversed(near) if self.fits(first, h, self.costs.budget))
        return next(fitting, first + 1)

    def limit(self, first: int, room: int) -> int:
        """Return the greatest end at which a piece from ``first`` fits, or an upper bound of it."""
        before = self.tokens_before
        end = max(bisect_right(before, before[first] + room, first) - 1, first)
        while end < self.last and self.fits(first, end + 1, room):
            end += 1
        return end

    def by_value(self, points: Sequence[int], first: int, room: int) -> list[int]:
        """Return the points in the window before the limit, best first.

        ``points`` are in descending order. If there are no points in the window, the window is
        moved back to the nearest point.
        """
        before, window = self.tokens_before, self.config.window_tokens
        share = self.share(first, points[0]) if points else 1.0
        distances = {h: max(room - share * (before[h] - before[first]), 0) for h in points}
        nearest = min(distances.values(), default=0)
        limit = nearest if nearest > window else 0
        cuts = ((h, distance - limit, self.score[h]) for h, distance in distances.items())
        return [h for _, h in ranked_cuts(cuts, window=window, decay=self.config.decay)]

    def balanced(self, ends: list[int]) -> int:
        """Return the end of the second-last piece, moved back if the last piece is very small."""
        before, budget = self.tokens_before, self.costs.budget
        first, middle, last = ends[-3:]
        crumb = budget // _CRUMB_SHARE
        if self.sections.begins(self.pos[middle]) or not self.fits(middle, last, crumb - 1):
            return middle
        reserve = self.overlap.reserve(self.piece(*ends[-4:-2])) if len(ends) > 3 else 0
        start = before[first]
        share = self.share(first, last)
        half = share * (before[last] - start) / 2
        cuts: list[tuple[int, float, float]] = []
        for h in range(middle - 1, first, -1):
            tokens = share * (before[h] - start)
            if tokens < crumb:
                break
            cuts.append((h, abs(tokens - half), self.score[h]))
        room = self.costs.room(self.pos[first]) - reserve
        for value, h in ranked_cuts(cuts, window=half, decay=self.config.decay)[:_BALANCES]:
            if value <= 0:
                break
            if not self.fits(h, last, crumb - 1) and self.fits(first, h, room):
                after = self.costs.room(self.pos[h]) - self.overlap.reserve(self.piece(first, h))
                if self.fits(h, last, after):
                    return h
        return middle
