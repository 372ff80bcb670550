"""The packer: which units go together.

"sections" keeps a heading's section whole while it fits and merges whole neighbours
under one parent; what does not fit is cut by the scored search. "fill" is the scored
search over the whole document.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, chain

from chunkast.boundaries import ranked_cuts
from chunkast.engine.anchors import anchors
from chunkast.engine.layout import Layout
from chunkast.engine.overlap import Overlap
from chunkast.engine.piece import Piece
from chunkast.engine.sections import Sections
from chunkast.text.source_map import positions_in

__all__ = ("pack",)

# A last piece smaller than this share of the budget is balanced with the one before.
_CRUMB_SHARE = 5
# At most this many places are tried to balance them: where overlap takes most of the budget
# none may fit, and a piece may have thousands.
_BALANCES = 64


def pack(
    layout: Layout, sections: Sections, overlap: Overlap, has_text: Iterable[int]
) -> list[Piece]:
    """All units of the document, in order, as pieces that fit the budget.

    ``has_text`` says of each unit whether it is more than a heading. A single unit larger
    than the budget is a piece of its own.
    """
    packer = _Packer(layout, sections, overlap, has_text)
    if layout.config.packing == "fill":
        return packer.cut(0, layout.units)
    return packer.section(0, 0)


class _Packer:
    def __init__(
        self, layout: Layout, sections: Sections, overlap: Overlap, has_text: Iterable[int]
    ) -> None:
        self.layout = layout
        self.sections = sections
        self.overlap = overlap
        self.config = layout.config
        fill = self.config.packing == "fill"
        self.section_starts = frozenset(sections.starts if fill else ())
        keep = positions_in(layout.text, layout.units)
        self.texts = keep(accumulate(has_text, initial=0))

    def section(self, number: int, first: int) -> list[Piece]:
        """The pieces of a section whose text begins at unit ``first``.

        That is before the section itself where a heading without text of its own
        precedes it: it goes with the text it heads.
        """
        sections = self.sections
        last = sections.end(number)
        if self.config.min_tokens != 0 and self.layout.fits(first, last):
            return [Piece(first, last, True)]
        body_end = sections.starts[number + 1]
        pieces: list[Piece] = []
        waiting = first
        if self.has_text(first, body_end):
            pieces.extend(self.whole_or_cut(first, body_end))
            waiting = body_end
        for child in sections.children(number):
            child_end = sections.end(child)
            if not self.has_text(waiting, child_end):
                continue  # nothing but headings so far
            inner = self.section(child, waiting)
            if len(inner) > 1:
                inner = [Piece(piece.first, piece.last, False) for piece in inner]
            pieces.extend(inner)
            waiting = child_end
        if waiting < last:
            pieces.extend(self.whole_or_cut(waiting, last))
        return self.merge(pieces)

    def whole_or_cut(self, first: int, last: int) -> list[Piece]:
        fits = self.layout.fits(first, last)
        return [Piece(first, last, True)] if fits else self.cut(first, last)

    def has_text(self, i: int, j: int) -> bool:
        return self.texts[j] > self.texts[i]

    def merge(self, pieces: list[Piece]) -> list[Piece]:
        """Join neighbours that are whole while one of them is small and the sum fits."""
        merged: list[Piece] = []
        for piece in pieces:
            previous = merged[-1] if merged else None
            if previous is not None and self.belongs(previous, piece):
                merged[-1] = Piece(previous.first, piece.last, previous.whole)
            else:
                merged.append(piece)
        return merged

    def belongs(self, previous: Piece, piece: Piece) -> bool:
        fits = self.layout.fits
        if not self.has_text(piece.first, piece.last):
            return fits(previous.first, piece.last)
        if not (previous.whole and piece.whole):
            return False
        least = self.config.min_tokens
        return (
            least is None
            or self.layout.count(previous.first, previous.last) < least
            or self.layout.count(piece.first, piece.last) < least
        ) and fits(previous.first, piece.last)

    def cut(self, first: int, last: int) -> list[Piece]:
        """Cut a span that does not fit by the scored search.

        With "sections" a long one is cut from one anchor to the next; to "fill" chunks is
        to have no cut that need not be.
        """
        layout = self.layout
        inner = anchors(layout, first, last) if self.config.packing == "sections" else []
        pieces: list[Piece] = []
        at = first
        for stop in [*inner, last]:
            begun = len(pieces)
            while at < stop:
                reserve = self.reserve(pieces[-1]) if pieces else 0
                if layout.fits(at, stop, reserve):
                    end = stop
                else:
                    room = self.config.budget - layout.context(at) - reserve
                    end = self.best_end(at, stop, room)
                pieces.append(Piece(at, end, False))
                at = end
            if len(pieces) - begun > 1:
                pieces = self.balanced(pieces)
        return pieces

    def reserve(self, previous: Piece) -> int:
        """The room that overlap takes in the piece after ``previous``."""
        return 0 if self.begins_section(previous.last) else self.overlap.reserve(previous)

    def begins_section(self, unit: int) -> bool:
        """Whether no overlap is put before a unit, as a section that was not kept begins there."""
        return unit in self.section_starts

    def best_end(self, first: int, last: int, room: int) -> int:
        """Where the piece that begins with unit ``first`` ends: at least one unit on.

        In this order: the best point in the window, or in one further back; any point
        before the limit; a point beyond the room that the budget still allows, at the expense of context
        and overlap; a point that parts what belongs together; the next point at all.
        """
        layout = self.layout
        limit = layout.furthest(first, last, room, about=layout.index.estimated)
        nearest = [h for h in range(limit, first, -1) if layout.score[h] > 0]
        for h in chain(self.by_value(nearest, first, room), nearest):
            if layout.within(first, h, room):
                return h
        room = self.config.budget
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
        distances = [max(room - layout.before[h] + layout.before[first], 0) for h in points]
        nearest = min(distances, default=0)
        limit = nearest if nearest > window else 0
        cuts = (
            (h, distance - limit, layout.score[h])
            for h, distance in zip(points, distances, strict=True)
        )
        return [h for _, h in ranked_cuts(cuts, window=window, decay=self.config.decay)]

    def balanced(self, pieces: list[Piece]) -> list[Piece]:
        """Share the last two pieces more evenly when the last one is a crumb."""
        layout = self.layout
        one, two = pieces[-2:]
        crumb = self.config.budget // _CRUMB_SHARE
        if self.begins_section(two.first) or not layout.has_at_most(two.first, two.last, crumb - 1):
            return pieces
        before = self.reserve(pieces[-3]) if len(pieces) > 2 else 0
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
            left, right = Piece(one.first, h, False), Piece(h, two.last, False)
            if value <= 0:
                break
            if (
                not layout.has_at_most(h, two.last, crumb - 1)
                and layout.fits(one.first, h, before)
                and layout.fits(h, two.last, self.reserve(left))
            ):
                return [*pieces[:-2], left, right]
        return pieces
