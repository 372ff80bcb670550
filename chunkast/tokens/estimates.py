"""Estimate token counts, for tokenizers whose counts of adjacent spans do not add up.

A document is encoded once. An estimate then decides whether a span fits a limit, and only spans
close to the limit are counted. If the estimate of a finished chunk turns out to be less accurate
than this module assumes, the document is cut again without estimates (``cutting/run.py``).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Final

from chunkast.tokens.span_counts import Exact, Remembered, SpanCounts

__all__ = ("EstimateIndex",)

# An estimate is assumed to differ from the count by at most ``_MARGIN`` tokens and one token in
# ``_MARGIN_SHARE``.
_MARGIN: Final = 8
_MARGIN_SHARE: Final = 32
# The characters encoded at once for estimates.
_ENCODED_AT_ONCE: Final = 65_536
# The maximum number of spans whose counts are remembered.
_MAX_REMEMBERED: Final = 16_384


class EstimateIndex(SpanCounts):
    """Token counts of spans of ``text``; counts that are far from a limit are estimated.

    The estimate for a span is the number of the document's tokens that begin in it.
    ``token_starts(text)`` yields the approximate start of each token in a text, in order.
    """

    __slots__ = ("_count", "_counts", "_starts")

    def __init__(
        self, text: str, count: Callable[[str], int], token_starts: Callable[[str], Iterable[int]]
    ) -> None:
        self.text = text
        self.additive = False
        self.estimated = True
        self._count = count

        def counted(span: tuple[int, int]) -> int:
            return count(text[slice(*span)])

        self._counts = Remembered(counted, _MAX_REMEMBERED)
        self._starts = array("q")
        for at in range(0, len(text), _ENCODED_AT_ONCE):
            starts = token_starts(text[at : at + _ENCODED_AT_ONCE])
            # A token that a normalizer moved may begin before the token before it.
            self._starts.extend(accumulate((at + start for start in starts), max))
        self.exact = Exact((0, len(text)), (0, len(self._starts)))

    def count(self, start: int, end: int) -> int:
        """Return the exact number of tokens in ``text[start:end]``, and cache it."""
        return self._counts[start, end] if start < end else 0

    def count_after(self, before: str, start: int, end: int) -> int:
        """Return the exact number of tokens in ``before + text[start:end]``."""
        return self._count(before + self.text[start:end])

    def estimate(self, position: int) -> int:
        """Return the estimated number of tokens before ``position``."""
        return bisect_left(self._starts, position)

    def bounds(self, start: int, end: int) -> tuple[float, float]:
        """Return the likely minimum and maximum number of tokens in ``text[start:end]``."""
        tokens = self._difference(start, end)
        return tokens - _margin(tokens), tokens + _margin(tokens)

    def is_within(self, start: int, end: int, room: int) -> bool:
        """Return whether ``text[start:end]`` has at most ``room`` tokens.

        The tokens are counted only if the estimate is close to ``room``.
        """
        tokens = self._difference(start, end)
        if abs(tokens - room) > _margin(tokens):
            return tokens <= room
        return self.count(start, end) <= room

    def is_near(self, start: int, end: int) -> bool:
        """Return whether a span's estimate is as accurate as :meth:`is_within` assumes."""
        tokens = self._difference(start, end)
        return abs(tokens - self.count(start, end)) <= _margin(tokens)

    def _difference(self, start: int, end: int) -> int:
        """Return the estimated number of tokens in ``text[start:end]``."""
        return self.estimate(end) - self.estimate(start)


def _margin(tokens: int) -> int:
    """Return the maximum assumed difference between a span's estimate and its token count."""
    return _MARGIN + tokens // _MARGIN_SHARE
