r"""Counts from remembered words, for tokenizers that split any text at places that are known.

A *boundary* lies between two characters, such as a letter and a space, that no pre-token has both
of, whatever stands around them. What the tokens of a piece between boundaries are depends on the
piece alone, and on whether it begins the text: there many tokenizers put a space. So a piece is
encoded once, after a character that it is never joined to, and its count remembered.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from chunkast.text.source_map import positions_in
from chunkast.tokens.estimates import EstimateIndex
from chunkast.tokens.pretokens import RememberedCounts
from chunkast.tokens.spans import Exact, remember

__all__ = ("WordIndex", "Words")

# So many characters are taken apart at once.
_SPLIT_AT_ONCE: Final = 65_536
# Of boundaries nearer to one another than this not all are kept.
_MIN_DISTANCE: Final = 32
# The most pieces whose counts are remembered, and how long they are: longer ones seldom come again.
_MAX_REMEMBERED_PIECES: Final = 65_536
_MAX_REMEMBERED_LENGTH: Final = 64
# The most positions of a document whose counts are remembered.
_MAX_REMEMBERED: Final = 16_384


class Words:
    """Counts texts by the pieces between the matches of ``boundary``, which take no characters.

    ``count`` gives the tokens of any text, ``count_pieces`` those of pieces that begin at boundaries
    and not at the start of a text.
    """

    def __init__(
        self,
        boundary: str,
        count: Callable[[str], int],
        count_pieces: Callable[[Sequence[str]], Iterable[int]],
    ) -> None:
        self._split = re.compile(boundary).split
        self._first = RememberedCounts(count).__getitem__
        self._count_pieces = count_pieces
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """How many tokens the text has."""
        return sum(tokens for _, counts in self.counts(text) for tokens in counts)

    def count_later(self, text: str) -> int:
        """How many tokens a text has that begins at a boundary of another."""
        return sum(self._later(self._split(text))) if text else 0

    def counts(self, text: str) -> Iterator[tuple[Sequence[str], Sequence[int]]]:
        """The pieces of a text and their counts, in order, as many at once as are taken apart at once."""
        at, rest, begun = 0, "", False
        while not begun or at < len(text):
            # As much again as is left over, so that long pieces are not taken apart too often.
            end = at + max(len(rest), _SPLIT_AT_ONCE)
            pieces = self._split(rest + text[at:end])
            # The last one may go on.
            rest = pieces.pop() if end < len(text) else ""
            at = end
            if pieces and not begun:
                begun = True
                yield pieces[:1], (self._first(pieces[0]),)
                del pieces[0]
            yield pieces, self._later(pieces)

    def _later(self, pieces: Sequence[str]) -> Sequence[int]:
        """The counts of pieces that do not begin a text; those met before are not encoded."""
        known = self._known
        new = dict.fromkeys(piece for piece in pieces if piece not in known)
        if not new:
            return [*map(known.__getitem__, pieces)]
        found = dict(zip(new, self._count_pieces([*new]), strict=True))
        counts = [found[piece] if piece in found else known[piece] for piece in pieces]
        if len(known) + len(found) > _MAX_REMEMBERED_PIECES:
            known.clear()
        known.update(item for item in found.items() if len(item[0]) <= _MAX_REMEMBERED_LENGTH)
        return counts


class WordIndex(EstimateIndex):
    """Exact token counts of spans of ``text``: those between two boundaries are looked up."""

    __slots__ = ("_heads", "_positions", "_tails", "_tokens", "_words")

    def __init__(self, text: str, words: Words, *, trusted: bool) -> None:
        super().__init__(text, trusted=trusted)
        self._words = words
        # Some of the boundaries, and the tokens before them.
        self._positions, self._tokens = _marks(text, words)
        self.exact = Exact((0, len(text)), (0, self._tokens[-1]))
        # The tokens from a position up to the first boundary after it, and up to one from the last.
        self._heads: dict[int, int] = {}
        self._tails: dict[int, int] = {}

    def count(self, start: int, end: int) -> int:
        """Exactly how many tokens ``text[start:end]`` has."""
        first = bisect_right(self._positions, start)
        if start >= end or self._positions[first] > end:
            return super().count(start, end)
        last = bisect_right(self._positions, end, first) - 1
        tail = self._tails.get(end)
        if tail is None:
            tail = self._words.count_later(self.text[self._positions[last] : end])
            remember(self._tails, end, tail, _MAX_REMEMBERED)
        return self._head(start, first) + self._tokens[last] - self._tokens[first] + tail

    def count_after(self, before: str, start: int, end: int) -> int:
        """How many tokens ``before + text[start:end]`` has."""
        first = bisect_right(self._positions, start)
        if not before or start >= end or self._positions[first] > end:
            return self._words.count(before + self.text[start:end])
        head = self._words.count(before + self.text[start : self._positions[first]])
        return head + self.count(start, end) - self._head(start, first)

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

    def _head(self, start: int, first: int) -> int:
        """The tokens from a position up to the first boundary after it, by its number."""
        head = self._heads.get(start)
        if head is None:
            head = self._words.count(self.text[start : self._positions[first]])
            remember(self._heads, start, head, _MAX_REMEMBERED)
        return head


def _marks(text: str, words: Words) -> tuple[Sequence[int], Sequence[int]]:
    """Boundaries of a text with its ends, and the tokens before each."""
    keep = positions_in(text, len(text))
    positions, tokens = keep((0,)), keep((0,))
    at = before = 0
    for pieces, counts in words.counts(text):
        for piece, count in zip(pieces, counts, strict=True):
            # So that an edit moves few of them.
            if piece.startswith(("\n", "\r")) and positions[-1] < at:
                positions.append(at)
                tokens.append(before)
            at += len(piece)
            before += count
            if at - positions[-1] >= _MIN_DISTANCE:
                positions.append(at)
                tokens.append(before)
    if positions[-1] != at or len(positions) == 1:
        positions.append(at)
        tokens.append(before)
    return positions, tokens
