"""Token counts of chunks made of units; only this module decides which units fit together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from chunkast.cutting.context import Context
from chunkast.cutting.document import TRIMMED, Document
from chunkast.cutting.replaced import Replaced
from chunkast.cutting.units import Units
from chunkast.tokens import NOT_EXACT, is_far_above

__all__ = ("Measure",)

# A span with more tokens of white space than this at its ends may be judged too large to join.
_MOST_SPACE: Final = 16


class Measure:
    """Measures ranges ``(i, j)`` of a document's units as chunks.

    ``budget`` is in tokens. ``before`` has the number of tokens before each unit, which is exact at
    the start of a block and approximate inside a divided block.
    """

    def __init__(
        self, document: Document, units: Units, context: Context, replaced: Replaced
    ) -> None:
        self.units = units
        self.context = context
        self.replaced = replaced
        self.budget = document.config.budget
        self.collect = document.index.collect
        self._document = document
        self._additive = document.index.additive
        self._replaces = bool(replaced)
        self.before, self._sums = _tokens_before(document, units)

    def span(self, i: int, j: int) -> tuple[int, int]:
        """Return the text span of a chunk of the units ``(i, j)``; the span may be empty."""
        return self._document.span(self.units.pos[i], self.units.pos[j])

    def tokens(self, i: int, j: int) -> int:
        """Return the exact token count of a chunk of the units ``(i, j)``."""
        return self._document.tokens(self.units.pos[i], self.units.pos[j])

    def room(self, i: int) -> int:
        """Return the token count that context leaves for a chunk that begins with unit ``i``."""
        return self.budget - self.context.tokens(self.units.pos[i])

    def fits(self, i: int, j: int, room: int) -> bool:
        """Return whether the units ``(i, j)`` and any frame suffix fit into ``room`` tokens."""
        if i == j:
            return True
        if self.context.most_suffix_tokens:
            room -= self.context.suffix_tokens(self.units.pos[j])
        if self._replaces:
            # What is embedded is only counted for text that may become one chunk.
            if not (self._has(i, j, self.budget) or self._is_opaque(i, j)):
                return False
            embedded = self.replaced.body(*self.span(i, j))
            if embedded is not None:
                return embedded[1] <= room
        return self._has(i, j, room)

    def _has(self, i: int, j: int, most: int) -> bool:
        """Return whether the text of the units ``(i, j)`` has at most ``most`` tokens."""
        if self._additive:
            first, last = self._sums[i], self._sums[j]
            if first != NOT_EXACT != last and last - first + TRIMMED <= most:
                return True  # nearly all spans
        size = self.before[j] - self.before[i]
        if size > most + _MOST_SPACE if self._additive else is_far_above(size, most):
            return False
        return self._document.fits(self.units.pos[i], self.units.pos[j], most)

    def _is_opaque(self, i: int, j: int) -> bool:
        """Return whether the units ``(i, j)`` are one opaque run kept whole, after any lead-ins."""
        last = j - 1
        if self._has(last, j, self.budget) or not self._has(i, last, self.budget):
            return False
        return all(self.units.score[h] < 0 for h in range(i + 1, j))


def _tokens_before(document: Document, units: Units) -> tuple[Sequence[int], Sequence[int]]:
    """Return the number of tokens before each unit, as two sequences.

    The second has ``NOT_EXACT`` in place of approximate values, unless all values are estimates.
    The size of a unit never depends on text outside it.
    """
    index, pos = document.index, units.pos
    if index.estimated:
        estimates = index.collect(map(index.estimate, pos))
        return estimates, estimates
    exact = index.collect(index.exact.each(pos))
    if NOT_EXACT not in exact:
        return exact, exact
    sizes = (
        index.count(*span) if NOT_EXACT in (first, last) else last - first
        for span, (first, last) in zip(pairwise(pos), pairwise(exact), strict=True)
    )
    return index.collect(accumulate(sizes, initial=0)), exact
