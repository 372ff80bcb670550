"""The packer: which units go together.

"sections" keeps a heading's section whole while it fits and joins whole neighbours under one
parent; what does not fit is joined from its units up. "fill" is the scored search over the
whole document.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise, starmap

from chunkast.core.fill import fill
from chunkast.core.joining import joined
from chunkast.core.layout import Layout
from chunkast.core.leaves import TEXT
from chunkast.core.overlap import Overlap
from chunkast.core.piece import Piece
from chunkast.core.sections import Sections
from chunkast.text.source_map import positions_in

__all__ = ("pack",)

# What takes less than this share of the budget is a crumb: it joins a neighbour that has room.
_CRUMB_SHARE = 10


def pack(
    layout: Layout,
    sections: Sections,
    overlap: Overlap,
    says: bytearray,
    depth: Callable[[int], int],
) -> list[Piece]:
    """All units of the document, in order, as pieces that fit the budget.

    ``says`` is what each unit says, by ``Leaves.says``, ``depth(unit)`` how many containers hold
    both it and the unit before it. A single unit larger than the budget is a piece of its own.
    """
    if layout.config.packing == "fill":
        return fill(layout, sections, overlap)
    packer = _Packer(layout, sections, overlap, says, depth)
    return [*starmap(Piece, pairwise([0, *packer.section(0, 0)]))]


class _Packer:
    def __init__(
        self,
        layout: Layout,
        sections: Sections,
        overlap: Overlap,
        says: bytearray,
        depth: Callable[[int], int],
    ) -> None:
        self.layout = layout
        self.sections = sections
        self.depth = depth
        self.config = layout.config
        # Whether a span fits with its context and the overlap that may be put before it.
        self.fits = overlap.leaves_room
        keep = positions_in(layout.text, layout.units)
        self.says = says
        # How many units before each are text of a section.
        self.texts = keep(accumulate((said & TEXT for said in says), initial=0))
        self.tenth = -(-layout.budget // _CRUMB_SHARE)
        # Where bodies were cut, and sections that lie inside one that does not fit.
        self.cuts: set[int] = set()

    def section(self, number: int, first: int) -> list[int]:
        """Where the pieces of a section end whose text begins at unit ``first``.

        That is before the section itself where a heading without text of its own
        precedes it: it goes with the text it heads.
        """
        sections = self.sections
        last = sections.end(number)
        if self.config.min_tokens != 0 and self.fits(first, last):
            return [last]
        body_end = sections.starts[number + 1]
        ends: list[int] = []
        waiting = first
        if self.has_text(first, body_end):
            ends = self.body(first, body_end)
            waiting = body_end
        for child in sections.children(number):
            child_end = sections.end(child)
            if not self.has_text(waiting, child_end):
                continue  # nothing but headings so far
            ends += self.closed(self.section(child, waiting))
            waiting = child_end
        if waiting < last:
            ends += self.body(waiting, last)
        bounds = joined(self.layout, [first, *ends], self.depth, self.belong)
        return self.without_crumbs(bounds)[1:]

    def body(self, first: int, last: int) -> list[int]:
        """The ends of the pieces of a section's own text: from its units up if it does not fit."""
        if self.fits(first, last):
            return [last]
        bounds = joined(self.layout, range(first, last + 1), self.depth, self.fit_together)
        return self.closed(self.without_crumbs(bounds)[1:])

    def without_crumbs(self, bounds: list[int]) -> list[int]:
        """``bounds`` less those beside a crumb that only context and overlap keep from a neighbour."""
        if any(starmap(self.is_crumb, pairwise(bounds))):
            return joined(self.layout, bounds, self.depth, self.crumb_fits)
        return bounds

    def is_crumb(self, i: int, j: int) -> bool:
        """Whether a piece is below a tenth of the budget, or says nothing or less than its heading path."""
        least = self.config.min_tokens
        says = self.says[i:j]
        if least != 0 and TEXT not in says and any(says):
            return True
        crumb, context = self.tenth, self.layout.context(i)
        if context > crumb:  # its frame, a part of it, takes longer to find
            crumb = max(crumb, context - self.layout.frame(i))
        return self.layout.within(i, j, (crumb if least is None else min(crumb, least)) - 1)

    def crumb_fits(self, i: int, h: int, j: int) -> bool:
        """Whether a crumb and its neighbour fit at the expense of heading path and overlap."""
        return (self.is_crumb(i, h) or self.is_crumb(h, j)) and self.layout.fits_without_path(i, j)

    def closed(self, ends: list[int]) -> list[int]:
        """``ends``, of which pieces that were cut are not joined with what is outside."""
        self.cuts.update(ends[:-1])
        return ends

    def has_text(self, i: int, j: int) -> bool:
        return self.texts[j] > self.texts[i]

    def fit_together(self, i: int, h: int, j: int) -> bool:
        """What belongs together does so at the expense of context and overlap, if need be."""
        if self.layout.score[h] < 0:
            return self.layout.within(i, j, self.layout.budget)
        return self.fits(i, j)

    def belong(self, i: int, h: int, j: int) -> bool:
        """Whether two neighbours are both whole, or one of them is small, and both fit."""
        least, within = self.config.min_tokens, self.layout.within
        whole = self.cuts.isdisjoint((i, h, j))
        if not (least is None and whole) and self.has_text(h, j):
            most = (self.tenth if least is None else least) - 1
            if not within(i, h, most) and not within(h, j, most):
                return False
        return self.fits(i, j)
