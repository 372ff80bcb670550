"""Cut a document from the top down, looking no deeper than necessary.

A section that fits is one piece. If a section does not fit, its own text and its subsections are
cut one by one, and adjacent pieces are joined. Own text that does not fit is divided into units,
which are never cut, and adjacent units are joined.
"""

from __future__ import annotations

import math
from itertools import compress, pairwise, starmap
from typing import Final

from chunkast.analysis import Structure
from chunkast.config import ChunkConfig
from chunkast.cutting.costs import Costs
from chunkast.cutting.fill import Filling
from chunkast.cutting.joining import Edges, joined
from chunkast.cutting.overlap import Overlap
from chunkast.cutting.units import Piece, UnitFinder
from chunkast.tokens import Remembered

__all__ = ("Cutter",)

# A piece below this share of the budget is a crumb: it joins a neighbour that has room.
_CRUMB_SHARE: Final = 10
# The number of positions whose room is remembered.
_REMEMBERED: Final = 1_024


class Cutter:
    """Cuts one document into pieces that fit the budget.

    A single unit over budget becomes a separate piece.
    """

    def __init__(
        self, structure: Structure, config: ChunkConfig, costs: Costs, finder: UnitFinder
    ) -> None:
        self.sections = finder.sections
        self.overlap = Overlap(structure, config, costs, finder)
        self._structure = structure
        self._config = config
        self._costs = costs
        self._finder = finder
        self._least = config.min_tokens
        self._tenth = -(-costs.budget // _CRUMB_SHARE)
        # The most tokens in a crumb.
        self._crumb = (self._tenth if self._least is None else min(self._tenth, self._least)) - 1
        # A piece of so few tokens always fits: context takes up at most half the budget.
        self._always_fits = costs.budget - costs.budget // 2 - self.overlap.most
        self._room = Remembered(costs.room, _REMEMBERED)
        # Cuts inside sections that do not fit; a piece beside one is not a whole section.
        self._final: set[int] = set()

    def pieces(self) -> list[Piece]:
        """Return the pieces of the document, in order, without omitted front matter."""
        pieces: list[Piece] = []
        for root in self.sections.roots:
            start, end = self.sections.starts[root], self.sections.end(root)
            if start == end:
                continue
            if self._config.packing == "fill":
                units = self._finder.between(start, end)
                filling = Filling(self._config, units, self._costs, self.sections, self.overlap)
                pieces += filling.pieces()
            else:
                pieces += starmap(Piece, pairwise([start, *self._section(root)]))
        return pieces

    def own_text(self, first: int, last: int) -> list[int]:
        """Cut a section's own text ``[first, last)``, and return the end of each piece."""
        if self._fits(first, last):
            return [last]
        units = self._finder.between(first, last)

        def fit_together(i: int, h: int, j: int) -> bool:
            # Context and overlap are ignored for pieces that belong together, and the closing line
            # of a fence as well for a heading and its text.
            score = units.points[units.at(h)].score
            if score == -math.inf:
                return self._costs.fits_alone(i, j)
            return self._costs.fits(i, j, self._costs.budget) if score < 0 else self._fits(i, j)

        bounds = joined(self._costs, units.pos, units.edges, fit_together)
        return self._finished(self._without_crumbs(bounds, units.edges)[1:])

    def _section(self, section: int) -> list[int]:
        """Cut a section, and return the end of each piece."""
        first, last = self.sections.starts[section], self.sections.end(section)
        if self._least != 0 and self._fits(first, last):
            return [last]
        bounds = [first]
        for part in self.sections.parts(section):
            own = part.section < 0
            ends = self.own_text(part.start, part.end) if own else self._section(part.section)
            bounds += self._finished(ends)
        bounds = joined(self._costs, bounds, self._finder.edges, self._belong)
        return self._without_crumbs(bounds, self._finder.edges)[1:]

    def _finished(self, ends: list[int]) -> list[int]:
        """Mark the cuts between these pieces as final, and return ``ends``."""
        self._final.update(ends[:-1])
        return ends

    def _without_crumbs(self, bounds: list[int], edges: Edges) -> list[int]:
        """Join each crumb (a very small piece) with a neighbour, and return the remaining bounds.

        The two must fit into one piece without heading path and overlap.
        """
        small = compress(pairwise(bounds), self._costs.may_fit(bounds, 1, self._crumb))
        if any(starmap(self._is_crumb, small)):
            return joined(self._costs, bounds, edges, self._crumb_fits)
        return bounds

    def _is_crumb(self, i: int, j: int) -> bool:
        return self._costs.fits(i, j, self._crumb)

    def _crumb_fits(self, i: int, h: int, j: int) -> bool:
        """Return whether one of two pieces is a crumb (a very small piece) and both fit into one.

        The heading path and overlap are ignored.
        """
        if not (self._is_crumb(i, h) or self._is_crumb(h, j)):
            return False
        costs = self._costs
        return costs.fits(i, j, costs.budget - costs.context.inner_tokens(i))

    def _fits(self, i: int, j: int) -> bool:
        """Return whether ``text[i:j]`` fits together with its context and overlap."""
        overlap = self.overlap
        least, most = self._costs.bounds(i, j)
        if most <= self._always_fits:
            return True
        if least > self._costs.budget:
            return False
        room = self._room[i]
        if most <= room - overlap.most:
            return True
        if least > room:
            return False
        size = self._costs.size(i, j)
        if size <= room - overlap.most:
            return True
        # The overlap before a piece is only measured near the limit.
        return size <= room and size <= room - overlap.reserve_at(i)

    def _belong(self, i: int, h: int, j: int) -> bool:
        """Return whether the pieces ``(i, h)`` and ``(h, j)`` should be joined.

        They must fit together, and one of them must be small. Two whole sections may both be large
        if no minimum size is configured, and headings without text have any size. An appendix is no
        whole section.
        """
        whole = self._final.isdisjoint((i, h, j)) and h not in self.sections.appendices
        # The start of a section that was cut has text, even if the text is in the next piece.
        has_text = j in self._final or self._structure.has_text(h, j)
        if has_text and not (self._least is None and whole):
            most = (self._tenth if self._least is None else self._least) - 1
            if not self._costs.fits(i, h, most) and not self._costs.fits(h, j, most):
                return False
        return self._fits(i, j)
