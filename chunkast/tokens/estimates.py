"""Token counts of which nothing is known: estimates, taken once for a document.

These answer whether a span is within a budget where they are far enough from it; the text is
counted elsewhere, and wherever its count is told. If the estimate of any chunk turns out to be
further from its count, nothing is estimated (``engine/run.py``).
"""

# ruff: noqa: ARG002 - what only some of them need

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Final

from chunkast.tokens.spans import Exact, SpanCounts, remember

__all__ = ("EstimateIndex", "StartIndex")

# An estimate is taken to be at most this many tokens, and one in so many, from the count.
_MARGIN: Final = 8
_MARGIN_SHARE: Final = 32
# So many characters are encoded at once for estimates.
_ENCODED_AT_ONCE: Final = 65_536
# The most spans whose counts are remembered.
_MAX_REMEMBERED: Final = 16_384


class EstimateIndex(SpanCounts):
    """Counts of spans of ``text``, made where estimates do not suffice.

    ``trusted``: whether estimates may stand in for counts far from them.
    """

    __slots__ = ("_counts", "_trusted")

    def __init__(self, text: str, *, trusted: bool = True) -> None:
        self.text = text
        self.additive = False
        self.estimated = True
        self.most_per_character = math.inf
        self._trusted = trusted
        self._counts: dict[tuple[int, int], int] = {}

    def count(self, start: int, end: int) -> int:
        """Exactly how many tokens ``text[start:end]`` has; remembered."""
        if start >= end:
            return 0
        known = self._counts.get((start, end))
        if known is None:
            known = self.count_after("", start, end)
            remember(self._counts, (start, end), known, _MAX_REMEMBERED)
        return known

    def tokens(self, start: int, end: int) -> int:
        """About how many tokens ``text[start:end]`` has."""
        return self.estimate(end) - self.estimate(start)

    def margin(self, start: int, end: int, tokens: int) -> int:
        """How far the estimate of a span may be from its count."""
        return _MARGIN + tokens // _MARGIN_SHARE

    def at_most(self, start: int, end: int) -> float:
        """What ``count(start, end)`` is likely to be below; infinite where that does not suffice."""
        tokens = self.tokens(start, end)
        return tokens + self.margin(start, end, tokens) if self._trusted else math.inf

    def is_within(self, start: int, end: int, room: int) -> bool:
        """Whether ``text[start:end]`` has at most ``room`` tokens, as far as estimates tell."""
        tokens = self.tokens(start, end)
        if self._trusted and abs(tokens - room) > self.margin(start, end, tokens):
            return tokens <= room
        return self.count(start, end) <= room

    def may_fit(self, start: int, end: int, room: int) -> bool:
        """Whether estimates leave it open that ``text[start:end]`` has at most ``room`` tokens."""
        tokens = self.tokens(start, end)
        return tokens - room <= self.margin(start, end, tokens) or not self._trusted

    def is_near(self, start: int, end: int) -> bool:
        """Whether the estimate of a span is as near its count as :meth:`is_within` takes it for."""
        tokens = self.tokens(start, end)
        return abs(tokens - self.count(start, end)) <= self.margin(start, end, tokens)


class StartIndex(EstimateIndex):
    """Estimates by where the tokens of the text begin: ``token_starts`` (``Counter``)."""

    __slots__ = ("_count", "_starts")

    def __init__(
        self,
        text: str,
        count: Callable[[str], int],
        token_starts: Callable[[str], Iterable[int]],
    ) -> None:
        super().__init__(text)
        self._count = count
        # But for what joins where the text is taken apart.
        self._starts = array("q")
        for at in range(0, len(text), _ENCODED_AT_ONCE):
            starts = token_starts(text[at : at + _ENCODED_AT_ONCE])
            # What a normalizer moves may begin before the token before it.
            self._starts.extend(accumulate((at + start for start in starts), max))
        self.exact = Exact((0, len(text)), (0, len(self._starts)))

    def count_after(self, before: str, start: int, end: int) -> int:
        """How many tokens ``before + text[start:end]`` has."""
        return self._count(before + self.text[start:end])

    def estimate(self, position: int) -> int:
        """About how many tokens lie before ``position``."""
        return bisect_left(self._starts, position)
