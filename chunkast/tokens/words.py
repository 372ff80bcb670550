r"""Counts from remembered words, for tokenizers that split any text at places that are known.

A *boundary* lies between two characters, such as a letter and a space, that no pre-token has both
of, whatever stands around them. What the tokens of a piece between boundaries are depends on the
piece alone, and on whether it begins the text: there many tokenizers put a space. So a piece is
counted once, and its count remembered.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from chunkast.text.spans import content_end
from chunkast.tokens.estimates import EstimateIndex
from chunkast.tokens.pretokens import RememberedCounts
from chunkast.tokens.spans import NOT_EXACT, Exact, remember

__all__ = ("WordIndex", "Words")

# At most this many characters are taken apart at once, but for a longer piece.
_SPLIT_AT_ONCE: Final = 65_536
# Parts of pieces with at most this many characters are counted as pieces are; longer ones seldom come
# again.
_MAX_REMEMBERED_LENGTH: Final = 64
# The most spans of a document whose counts are remembered.
_MAX_REMEMBERED: Final = 16_384


class Words:
    """Counts texts by the pieces between boundaries that ``split`` takes them apart into.

    ``first`` gives the tokens of a piece that begins a text, ``later`` those of one that begins at a
    boundary in a text. Both are remembered.
    """

    def __init__(
        self,
        split: Callable[[str], list[str]],
        first: Callable[[str], int],
        later: Callable[[str], int],
    ) -> None:
        self._split = split
        self.first = RememberedCounts(first).__getitem__
        self.later = RememberedCounts(later).__getitem__

    def count(self, text: str) -> int:
        """How many tokens the text has."""
        return sum(sum(counts) for _, counts in self.counts(text))

    def counts(self, text: str) -> Iterator[tuple[Sequence[str], Sequence[int]]]:
        """The pieces of a text and their counts, in order, as many at once as are taken apart at once."""
        if not text:
            yield ("",), (self.first(""),)
        at, rest, begun = 0, "", False
        while at < len(text):
            # As much again as is left over, so that long pieces are not taken apart too often.
            end = at + max(len(rest), _SPLIT_AT_ONCE)
            pieces = self._split(rest + text[at:end])
            # The last one may go on.
            rest = pieces.pop() if end < len(text) else ""
            at = end
            if pieces and not begun:
                begun = True
                yield pieces[:1], (self.first(pieces[0]),)
                del pieces[0]
            yield pieces, [*map(self.later, pieces)]


class WordIndex(EstimateIndex):
    """Token counts of spans of ``text``: those between two boundaries are looked up.

    A span begins and ends inside of pieces; only where one of these is long are there estimates.
    """

    __slots__ = ("_positions", "_tails", "_tokens", "_words")

    def __init__(self, text: str, words: Words, *, trusted: bool) -> None:
        super().__init__(text, trusted=trusted)
        self._words = words
        if trusted and text.isascii():
            self.most_per_character = 2  # of a text of one: see ``at_most``
        # The boundaries with the text's ends, and the tokens before each.
        self._positions, self._tokens = array("q", (0,)), array("q", (0,))
        for pieces, counts in words.counts(text):
            self._positions.extend(accumulate(map(len, pieces), initial=self._positions.pop()))
            self._tokens.extend(accumulate(counts, initial=self._tokens.pop()))
        self.exact = Exact((0, len(text)), (0, self._tokens[-1]))
        # The tokens of long parts of pieces from the boundary before them, by their ends.
        self._tails: dict[int, int] = {}

    def count(self, start: int, end: int) -> int:
        """Exactly how many tokens ``text[start:end]`` has."""
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
        """How many tokens ``before + text[start:end]`` has."""
        first = bisect_right(self._positions, start)
        if not before or start >= end or self._positions[first] >= end:
            return self._words.count(before + self.text[start:end])
        stop = self._positions[first]
        tokens = self._words.count(before + self.text[start:stop]) + self.count(start, end)
        return tokens - self._head(start, stop)

    def base(self, start: int, end: int) -> int:
        """What is taken from :meth:`upto` for the count of a span that begins at ``start``."""
        first = bisect_right(self._positions, start)
        stop = self._positions[min(first, len(self._positions) - 1)]
        near = start < stop <= start + _MAX_REMEMBERED_LENGTH
        if not near or stop > content_end(self.text, start, end):
            return NOT_EXACT
        # Less than none at the text's start, where a part may have more tokens than the whole.
        return max(self._tokens[first] - self._words.first(self.text[start:stop]), NOT_EXACT)

    def upto(self, end: int) -> int:
        """How many tokens lie before ``end``, of a text that has a boundary there or earlier."""
        last = bisect_right(self._positions, end) - 1
        at = self._positions[last]
        if end - at > _MAX_REMEMBERED_LENGTH:
            return NOT_EXACT
        tokens = self._tokens[last]
        return tokens + self._words.later(self.text[at:end]) if at < end else tokens

    def estimate(self, position: int) -> int:
        """About how many tokens lie before ``position``; exact at a boundary."""
        slot = min(bisect_right(self._positions, position), len(self._positions) - 1)
        start, end = self._positions[slot - 1], self._positions[slot]
        tokens = self._tokens[slot] - self._tokens[slot - 1]
        return self._tokens[slot - 1] + tokens * (position - start) // max(end - start, 1)

    def margin(self, start: int, end: int, tokens: int) -> int:
        """How far the estimate of a span may be from its count.

        More than elsewhere by the tokens between the boundaries next to both of its ends.
        """
        first = bisect_right(self._positions, start)
        last = min(bisect_right(self._positions, end), len(self._positions) - 1)
        more = self._tokens[last] - self._tokens[last - 1]
        if first < last:
            more += self._tokens[first] - self._tokens[first - 1]
        return super().margin(start, end, tokens) + more

    def at_most(self, start: int, end: int) -> float:
        """What ``count(start, end)`` is likely to be below; infinite where that does not suffice."""
        # A token of ASCII has a character or more, but for a space put before the text.
        if self.most_per_character < math.inf:
            return end - start + 1
        if not self._trusted:
            return math.inf
        # Those of all pieces that the span has a part of.
        first = bisect_right(self._positions, start) - 1
        last = bisect_left(self._positions, end)
        tokens = self._tokens[last] - self._tokens[first]
        return tokens + super().margin(start, end, tokens)

    def is_within(self, start: int, end: int, room: int) -> bool:
        """Whether ``text[start:end]`` has at most ``room`` tokens, as far as estimates tell."""
        tokens = self._difference(start, end)
        return super().is_within(start, end, room) if tokens == NOT_EXACT else tokens <= room

    def is_near(self, start: int, end: int) -> bool:
        """Whether the estimate of a span is as near its count as :meth:`is_within` takes it for."""
        if self.count(start, end) > self.at_most(start, end):
            return False
        return self._difference(start, end) != NOT_EXACT or super().is_near(start, end)

    def _difference(self, start: int, end: int) -> int:
        """What ``count(start, end)`` gives; ``NOT_EXACT`` where a long part of a piece is at an end."""
        base = self.base(start, end)
        upto = NOT_EXACT if base == NOT_EXACT else self.upto(end)
        return NOT_EXACT if upto == NOT_EXACT else upto - base

    def _head(self, start: int, end: int) -> int:
        """The tokens of a part of a piece that begins a text."""
        if end - start <= _MAX_REMEMBERED_LENGTH:
            return self._words.first(self.text[start:end])
        return super().count(start, end)

    def _tail(self, start: int, end: int) -> int:
        """The tokens of the part of a piece from the boundary at ``start``."""
        if end - start <= _MAX_REMEMBERED_LENGTH:
            return self._words.later(self.text[start:end])
        known = self._tails.get(end)
        if known is None:
            known = self._words.later(self.text[start:end])
            remember(self._tails, end, known, _MAX_REMEMBERED)
        return known
