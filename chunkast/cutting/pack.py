"""Packing: combining units into chunks.

"sections" keeps a section whole if it fits, and joins neighbouring whole sections that have the
same parent. Text that does not fit is built up by joining its units. "fill" is a scored search.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import Final

from chunkast.cutting.document import Document
from chunkast.cutting.fill import fill
from chunkast.cutting.joining import Joins, joined
from chunkast.cutting.measure import Measure
from chunkast.cutting.overlap import Overlap
from chunkast.cutting.section_units import Sections
from chunkast.cutting.units import Piece

__all__ = ("pack",)

# A piece below this share of the budget is a crumb: it joins a neighbour that has room.
_CRUMB_SHARE: Final = 10


def pack(document: Document, measure: Measure, sections: Sections, overlap: Overlap) -> list[Piece]:
    """Return all units of the document, in order, as pieces that fit the budget.

    A single unit over budget becomes a piece of its own.
    """
    if document.config.packing == "fill":
        return fill(document.config, measure, sections, overlap)
    packer = _Packer(document, measure, sections, overlap)
    return [*starmap(Piece, pairwise([0, *packer.section(0, 0)]))]


class _Packer:
    def __init__(
        self, document: Document, measure: Measure, sections: Sections, overlap: Overlap
    ) -> None:
        self.text = document.text
        self.least = document.config.min_tokens
        self.measure = measure
        self.units = measure.units
        self.sections = sections
        self.overlap = overlap
        self.tenth = -(-measure.budget // _CRUMB_SHARE)
        # Cuts inside sections that do not fit; a piece beside one is not a whole section.
        self.cuts: set[int] = set()

    def section(self, number: int, first: int) -> list[int]:
        """Pack a section whose text begins at unit ``first``, and return the end of each piece.

        The text may begin before the section, with headings that have no text of their own.
        """
        sections, last = self.sections, self.sections.end(number)
        if self.least != 0 and self.fits(first, last):
            return [last]
        body_end = sections.starts[number + 1]
        ends: list[int] = []
        waiting = first
        if self.units.has_text(first, body_end):
            ends = self.body(first, body_end)
            waiting = body_end
        for child in sections.children(number):
            child_end = sections.end(child)
            if not self.units.has_text(waiting, child_end):
                continue  # nothing but headings so far
            ends += self.final(self.section(child, waiting))
            waiting = child_end
        if waiting < last:
            ends += self.body(waiting, last)
        return self.without_crumbs(self.joined([first, *ends], self.belong))[1:]

    def body(self, first: int, last: int) -> list[int]:
        """Pack a section's own text by joining its units, and return the end of each piece."""
        if self.fits(first, last):
            return [last]
        bounds = self.joined(range(first, last + 1), self.fit_together)
        return self.final(self.without_crumbs(bounds)[1:])

    def joined(self, bounds: Sequence[int], joins: Joins) -> list[int]:
        return joined(self.measure, self.text, bounds, joins)

    def final(self, ends: list[int]) -> list[int]:
        """Mark the cuts between these pieces as final, and return ``ends``."""
        self.cuts.update(ends[:-1])
        return ends

    def without_crumbs(self, bounds: list[int]) -> list[int]:
        """Join each crumb (a very small piece) with a neighbour, and return the remaining bounds.

        The two must fit into one piece without heading path and overlap.
        """
        if any(starmap(self.is_crumb, pairwise(bounds))):
            return self.joined(bounds, self.crumb_fits)
        return bounds

    def is_crumb(self, i: int, j: int) -> bool:
        least = self.tenth if self.least is None else min(self.tenth, self.least)
        return self.measure.fits(i, j, least - 1)

    def crumb_fits(self, i: int, h: int, j: int) -> bool:
        """Return whether one of two pieces is a crumb (a very small piece) and both fit into one.

        The heading path and overlap are ignored.
        """
        if not (self.is_crumb(i, h) or self.is_crumb(h, j)):
            return False
        measure = self.measure
        return measure.fits(i, j, measure.budget - measure.context.frame_tokens(self.units.pos[i]))

    def fits(self, i: int, j: int) -> bool:
        """Return whether the units ``(i, j)`` fit together with their context and overlap."""
        measure, most = self.measure, self.overlap.most
        # Context takes at most half the budget.
        if measure.fits(i, j, measure.budget - measure.budget // 2 - most):
            return True
        room = measure.room(i)
        if measure.fits(i, j, room - most):
            return True
        # The overlap before a piece is only measured near the limit.
        return (
            bool(most)
            and measure.fits(i, j, room)
            and (measure.fits(i, j, room - self.overlap.before(i)))
        )

    def fit_together(self, i: int, h: int, j: int) -> bool:
        """Return whether the pieces ``(i, h)`` and ``(h, j)`` fit into one piece.

        Context and overlap are ignored for pieces that belong together, such as a heading and its
        text.
        """
        if self.units.score[h] < 0:
            return self.measure.fits(i, j, self.measure.budget)
        return self.fits(i, j)

    def belong(self, i: int, h: int, j: int) -> bool:
        """Return whether the pieces ``(i, h)`` and ``(h, j)`` should be joined.

        They must fit together, and one of them must be small. Two whole sections may both be large
        if no minimum size is configured.
        """
        whole = self.cuts.isdisjoint((i, h, j))
        if not (self.least is None and whole) and self.units.has_text(h, j):
            most = (self.tenth if self.least is None else self.least) - 1
            if not self.measure.fits(i, h, most) and not self.measure.fits(h, j, most):
                return False
        return self.fits(i, j)
