"""Whether a chunk over a span of one document fits the budget."""

from __future__ import annotations

from dataclasses import dataclass

from chunkast.text.spans import trim_span
from chunkast.tokens import SpanCounts, is_far_above

__all__ = ("Measure",)


@dataclass(frozen=True, slots=True)
class Measure:
    """Counts spans of a document as chunks would be; ``budget`` is in tokens.

    With ``trim`` blank lines at a span's start and white space at its end do not count.
    """

    text: str
    index: SpanCounts
    budget: int
    trim: bool

    def size(self, start: int, end: int) -> int:
        """How many tokens a chunk over the span would have."""
        if self.trim:
            start, end = trim_span(self.text, start, end)
        return self.index.count(start, end)

    def fits(self, start: int, end: int) -> bool:
        """Whether a chunk over the span would be within the budget."""
        # Most spans are so short that nothing has to be counted.
        if self.index.at_most(start, end) <= self.budget:
            return True
        if self.trim:
            start, end = trim_span(self.text, start, end)
        return self.index.is_within(start, end, self.budget)

    def fits_untrimmed(self, start: int, end: int) -> bool:
        """The same, with the white space at the span's ends."""
        index = self.index
        return index.at_most(start, end) <= self.budget or index.is_within(start, end, self.budget)

    def is_above(self, start: int, end: int) -> bool:
        """Whether a chunk over the span is too large; a span that is by far is not counted."""
        estimated = self.index.estimate(end) - self.index.estimate(start)
        return is_far_above(estimated, self.budget) or not self.fits(start, end)
