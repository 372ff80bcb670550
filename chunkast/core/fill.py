"""The scored search: what "fill" packs by, from where the last cut fell to the next."""

from __future__ import annotations

from itertools import chain

from chunkast.core.analysis.search import ranked_cuts
from chunkast.core.layout import Layout
from chunkast.core.overlap import Overlap
from chunkast.core.piece import Piece
from chunkast.core.sections import Sections

__all__ = ("fill",)

# A last piece smaller than this share of the budget is balanced with the one before.
_CRUMB_SHARE = 5
# At most this many places are tried to balance them: where overlap takes most of the budget
# none may fit, and a piece may have thousands.
_BALANCES = 64


def fill(layout: Layout, sections: Sections, overlap: Overlap) -> list[Piece]:
    """All units of a document, in order, as pieces that fit: as full as their points allow."""
    return _Search(layout, sections, overlap).pieces()


class _Search:
    def __init__(self, layout: Layout, sections: Sections, overlap: Overlap) -> None:
        self.layout = layout
        self.sections = sections
        self.overlap = overlap
        self.config = layout.config

    def pieces(self) -> list[Piece]:
        layout, last = self.layout, self.layout.units
        pieces: list[Piece] = []
        at = 0
        while at < last:
            reserve = self.overlap.reserve(pieces[-1]) if pieces else 0
            if layout.fits(at, last, reserve):
                end = last
            else:
                end = self.best_end(at, self.layout.budget - layout.context(at) - reserve)
            pieces.append(Piece(at, end))
            at = end
        return self.balanced(pieces) if len(pieces) > 1 else pieces

    def best_end(self, first: int, room: int) -> int:
        """Where the piece that begins with unit ``first`` ends: at least one unit on.

        In this order: the best point in the window, or in one further back; any point
        before the limit; a point beyond the room that the budget still allows, at the expense of context
        and overlap; a point that parts what belongs together; the next point at all.
        """
        layout, last = self.layout, self.layout.units
        limit = layout.furthest(first, last, room, about=layout.index.estimated)
        nearest = [h for h in range(limit, first, -1) if layout.score[h] > 0]
        for h in chain(self.by_value(nearest, first, room), nearest):
            if layout.within(first, h, room):
                return h
        room = self.layout.budget
        usable = range(first + 1, layout.furthest(first, last, room) + 1)
        beyond = (h for h in usable if layout.score[h] > 0 or h == last)
        parting = sorted(usable, key=lambda h: (layout.score[h], h), reverse=True)
        for h in chain(beyond, parting):
            if layout.within(first, h, room):
                return h
        return first + 1

    def by_value(self, points: list[int], first: int, room: int) -> list[int]:
        """The points of the window before the limit, the best first, low before high.

        ``points`` come last to first. When none lies in the window, the window ends at
        the last of them instead. Counts are not monotone: the best point has to be asked
        whether it fits.
        """
        layout, window = self.layout, self.config.window_tokens
        # Beyond the limit by an estimate's rounding is at the limit.
        distances = {h: max(room - layout.before[h] + layout.before[first], 0) for h in points}
        nearest = min(distances.values(), default=0)
        limit = nearest if nearest > window else 0
        cuts = ((h, distance - limit, layout.score[h]) for h, distance in distances.items())
        return [h for _, h in ranked_cuts(cuts, window=window, decay=self.config.decay)]

    def balanced(self, pieces: list[Piece]) -> list[Piece]:
        """Share the last two pieces more evenly when the last one is a crumb."""
        layout = self.layout
        one, two = pieces[-2:]
        crumb = self.layout.budget // _CRUMB_SHARE
        if self.sections.begins(two.first) or not layout.has_at_most(
            two.first, two.last, crumb - 1
        ):
            return pieces
        before = self.overlap.reserve(pieces[-3]) if len(pieces) > 2 else 0
        start = layout.before[one.first]
        half = (layout.before[two.last] - start) / 2
        cuts: list[tuple[int, float, float]] = []
        for h in range(two.first - 1, one.first, -1):
            tokens = layout.before[h] - start
            if tokens < crumb:
                break
            cuts.append((h, abs(tokens - half), layout.score[h]))
        ranked = ranked_cuts(cuts, window=half, decay=self.config.decay)
        for value, h in ranked[:_BALANCES]:
            left, right = Piece(one.first, h), Piece(h, two.last)
            if value <= 0:
                break
            if (
                not layout.has_at_most(h, two.last, crumb - 1)
                and layout.fits(one.first, h, before)
                and layout.fits(h, two.last, self.overlap.reserve(left))
            ):
                return [*pieces[:-2], left, right]
        return pieces
