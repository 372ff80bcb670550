r"""Counts tokens by looking up words in a cache, for tokenizers with known boundaries.

A *boundary* lies between two characters, such as a letter and a space, that are never in the same
pre-token, whatever text surrounds them. The tokens of a piece between two boundaries depend only on
the piece, and on whether it is at the start of the text, where many tokenizers add a space. So each
piece is counted once and its count is cached.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from chunkast.tokens.estimates import MAX_REMEMBERED, EstimateIndex
from chunkast.tokens.pretokens import RememberedCounts
from chunkast.tokens.spans import Exact, remember

__all__ = ("Pieces", "WordIndex", "Words")

# A text is split in parts of this many characters, unless a piece is longer.
_SPLIT_AT_ONCE: Final = 65_536
# Parts of pieces with at most this many characters are counted and remembered like pieces; longer
# ones seldom occur again.
_MAX_REMEMBERED_LENGTH: Final = 64


class Pieces(NamedTuple):
    """Functions that split a text into pieces and count the tokens in a piece.

    ``split(text)`` splits a text at its boundaries. ``first(piece)`` counts the tokens in a piece
    at the start of a text; ``later(piece)``, in a piece that begins at a boundary inside a text.
    """

    split: Callable[[str], list[str]]
    first: Callable[[str], int]
    later: Callable[[str], int]


class Words:
    """Counts the tokens in texts piece by piece, and caches the counts of the pieces."""

    def __init__(self, pieces: Pieces) -> None:
        self._split = pieces.split
        self.first = RememberedCounts(pieces.first).__getitem__
        self.later = RememberedCounts(pieces.later).__getitem__

    def count(self, text: str) -> int:
        """Return the number of tokens in ``text``."""
        return sum(sum(counts) for _, counts in self.counts(text))

    def counts(self, text: str) -> Iterator[tuple[Sequence[str], Sequence[int]]]:
        """Yield the pieces of ``text`` and their token counts, in order and in batches."""
        if not text:
            yield ("",), (self.first(""),)
        at, rest, begun = 0, "", False
        while at < len(text):
            # A batch grows with an unfinished piece, so that long pieces are not split too often.
            end = at + max(len(rest), _SPLIT_AT_ONCE)
            pieces = self._split(rest + text[at:end])
            # The last one may continue.
            rest = pieces.pop() if end < len(text) else ""
            at = end
            if pieces and not begun:
                begun = True
                yield pieces[:1], (self.first(pieces[0]),)
                del pieces[0]
            yield pieces, [*map(self.later, pieces)]


class WordIndex(EstimateIndex):
    """Token counts of spans of ``text``, looked up for the pieces between boundaries.

    A span may begin or end inside a piece. Its count is only estimated if it includes a long part
    of that piece.
    """

    __slots__ = ("_ascii", "_positions", "_tails", "_tokens", "_words")

    def __init__(self, text: str, words: Words) -> None:
        super().__init__(text)
        self._words = words
        self._ascii = text.isascii()
        # The boundaries with the text's ends, and the tokens before each.
        self._positions, self._tokens = array("q", (0,)), array("q", (0,))
        for pieces, counts in words.counts(text):
            self._positions.extend(accumulate(map(len, pieces), initial=self._positions.pop()))
            self._tokens.extend(accumulate(counts, initial=self._tokens.pop()))
        self.exact = Exact((0, len(text)), (0, self._tokens[-1]))
        # The tokens of the long start of a piece, by its end.
        self._tails: dict[int, int] = {}

    def count(self, start: int, end: int) -> int:
        """Return the exact number of tokens in ``text[start:end]``."""
        if start >= end:
            return 0
        first = bisect_right(self._positions, start)
        stop = self._positions[first]
        if stop >= end:
            return self._head(start, end)
        last = bisect_right(self._positions, end, first) - 1
        tokens = self._head(start, stop) + self._tokens[last] - self._tokens[first]
        at = self._positions[last]
        return tokens + self._tail(at, end) if at < end else tokens

    def count_after(self, before: str, start: int, end: int) -> int:
        """Return the exact number of tokens in ``before + text[start:end]``."""
        first = bisect_right(self._positions, start)
        if not before or start >= end or self._positions[first] >= end:
            return self._words.count(before + self.text[start:end])
        stop = self._positions[first]
        tokens = self._words.count(before + self.text[start:stop]) + self.count(start, end)
        return tokens - self._head(start, stop)

    def estimate(self, position: int) -> int:
        """Return the estimated number of tokens before ``position``; exact at a boundary."""
        slot = min(bisect_right(self._positions, position), len(self._positions) - 1)
        start, end = self._positions[slot - 1], self._positions[slot]
        tokens = self._tokens[slot] - self._tokens[slot - 1]
        return self._tokens[slot - 1] + tokens * (position - start) // max(end - start, 1)

    def at_most(self, start: int, end: int) -> float:
        """Return a likely, but not certain, upper bound of ``count(start, end)``."""
        # A token of ASCII has a character or more, except for a space put before the text.
        if self._ascii:
            return end - start + 1
        # The tokens of all pieces that overlap the span.
        first = bisect_right(self._positions, start) - 1
        last = bisect_left(self._positions, end)
        tokens = self._tokens[last] - self._tokens[first]
        return tokens + super()._margin(start, end, tokens)

    def is_within(self, start: int, end: int, room: int) -> bool:
        """Return whether ``text[start:end]`` has at most ``room`` tokens.

        If the span begins or ends with a long part of a piece, an estimate may decide.
        """
        if self._has_long_part(start, end):
            return super().is_within(start, end, room)
        return self.count(start, end) <= room

    def is_near(self, start: int, end: int) -> bool:
        """Return whether a span's estimate is as accurate as :meth:`is_within` assumes."""
        if self.count(start, end) > self.at_most(start, end):
            return False
        return not self._has_long_part(start, end) or super().is_near(start, end)

    def _has_long_part(self, start: int, end: int) -> bool:
        """Return whether a span begins or ends with a long part of a piece."""
        stop = self._positions[min(bisect_right(self._positions, start), len(self._positions) - 1)]
        if stop >= end:
            return end - start > _MAX_REMEMBERED_LENGTH
        at = self._positions[bisect_right(self._positions, end) - 1]
        return stop - start > _MAX_REMEMBERED_LENGTH or end - at > _MAX_REMEMBERED_LENGTH

    def _margin(self, start: int, end: int, tokens: int) -> int:
        """Return the maximum assumed difference between a span's estimate and its token count.

        It includes the tokens of the pieces at both ends of the span.
        """
        first = bisect_right(self._positions, start)
        last = min(bisect_right(self._positions, end), len(self._positions) - 1)
        more = self._tokens[last] - self._tokens[last - 1]
        if first < last:
            more += self._tokens[first] - self._tokens[first - 1]
        return super()._margin(start, end, tokens) + more

    def _head(self, start: int, end: int) -> int:
        """Return the token count of a part of a piece, as if it were at the start of a text."""
        if end - start <= _MAX_REMEMBERED_LENGTH:
            return self._words.first(self.text[start:end])
        return super().count(start, end)

    def _tail(self, start: int, end: int) -> int:
        """Return the token count of a part of a piece that begins at the boundary ``start``."""
        if end - start <= _MAX_REMEMBERED_LENGTH:
            return self._words.later(self.text[start:end])
        known = self._tails.get(end)
        if known is None:
            known = self._words.later(self.text[start:end])
            remember(self._tails, end, known, MAX_REMEMBERED)
        return known
