"""Overlap: the end of a chunk, repeated in the next chunk if both are in the same section."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain
from typing import Final

from chunkast.cutting.document import Document
from chunkast.cutting.inside import sentences_inside
from chunkast.cutting.measure import Measure
from chunkast.cutting.section_units import Sections
from chunkast.cutting.units import Piece
from chunkast.markdown.kinds import CONSTRUCTS

__all__ = ("Overlap",)

# Points inside a block that was divided, where no sentence or block begins.
_DIVIDED: Final = frozenset({"cell", "line", "blank-line", "statement", "word", "grapheme"})
# Units may end in white space of at most this many tokens, which their tail does not have.
_MORE: Final = 16
# Points where reading should not begin.
_INNER: Final = _DIVIDED | {"lead-in", "orphan-heading"}


class Overlap:
    """The ends ("tails") of pieces that may be repeated at the start of the next piece.

    A tail begins with a block, item, row or sentence other than the first in its piece, and has at
    most ``budget`` tokens. No section begins or ends inside a tail.
    """

    def __init__(self, document: Document, measure: Measure, sections: Sections) -> None:
        self.budget = document.config.overlap_tokens
        self._document = document
        self._units = measure.units
        self._measure = measure
        self._sections = sections
        self._longest: dict[Piece, tuple[int, int] | None] = {}

    @property
    def most(self) -> int:
        """The maximum number of tokens to reserve for a tail."""
        return self.budget + bool(self.budget)

    def reserve(self, previous: Piece) -> int:
        """Return the number of tokens that the piece after ``previous`` must leave free for a tail.

        This is one more than the tail's token count, because joining the two may add a token.
        """
        if not self.budget or self._sections.begins(previous.last):
            return 0
        longest = self._longest_tail(previous)
        return longest[1] + 1 if longest else 0

    def before(self, unit: int) -> int:
        """Return the maximum number of tokens to reserve before a piece that begins at ``unit``."""
        before = self._measure.before
        # Twice the budget, because the tokens before a unit may be estimates.
        far = before[unit] - 2 * self.budget
        return self.reserve(Piece(max(bisect_left(before, far) - 1, 0), unit))

    def start(self, previous: Piece | None, piece: Piece, room: int) -> tuple[int, int]:
        """Return the start of a chunk with the longest tail that fits, and its token count.

        The chunk is ``piece``, preceded by a tail of ``previous`` if both fit into ``room`` tokens.
        """
        start, end = self._measure.span(*piece)
        count = self._document.index.count
        begins = previous is None or self._sections.begins(piece.first)
        if previous and not begins and (longest := self._longest_tail(previous)):
            tokens = count(longest[0], end)
            if tokens <= room:
                return longest[0], tokens
            shorter = [tail for tail in self._tails(previous) if tail > longest[0]]
            at = bisect_left(shorter, True, key=lambda tail: count(tail, end) <= room)
            if at < len(shorter):
                return shorter[at], count(shorter[at], end)
        return start, self._measure.tokens(*piece)

    def _longest_tail(self, previous: Piece) -> tuple[int, int] | None:
        """Return the start and token count of the longest tail of ``previous``, or None."""
        if previous not in self._longest:
            self._longest[previous] = self._find_longest(previous)
        return self._longest[previous]

    def _find_longest(self, previous: Piece) -> tuple[int, int] | None:
        _, end = self._measure.span(*previous)
        index = self._document.index
        for tail in self._tails(previous):
            # Estimates rule out tails before they are counted.
            if index.estimated and not index.is_within(tail, end, self.budget):
                continue
            tokens = index.count(tail, end)
            if tokens <= self.budget:
                return tail, tokens
        return None

    def _tails(self, previous: Piece) -> Iterator[int]:
        """Yield the positions at which a tail of ``previous`` may begin, in order."""
        if not self.budget:
            return
        begun = self._sections.last_begun(previous.last - 1)
        previous = Piece(max(previous.first, begun), previous.last)
        first, end = self._measure.span(*previous)
        for unit in reversed(self._last_units(previous)):
            start = end
            if self._units.kind[unit] not in _INNER:
                start, _ = self._measure.span(unit, previous.last)
            for tail in chain((start,), self._sentences(unit)):
                if first < tail < end:
                    yield tail

    def _last_units(self, previous: Piece) -> list[int]:
        """Return the last units of ``previous`` in reverse, until a unit's tail is too long.

        That unit is included, since a tail may begin with one of its later sentences. Units inside
        divided blocks are skipped.
        """
        before, found = self._measure.before, []
        for unit in range(previous.last - 1, previous.first - 1, -1):
            if self._units.kind[unit] not in _DIVIDED:
                found.append(unit)
                if before[previous.last] - before[unit] > self.budget + _MORE:
                    break
        return found

    def _sentences(self, unit: int) -> list[int]:
        """Return the positions between sentences in a unit of undivided prose."""
        document = self._document
        start, end = self._units.pos[unit], self._units.pos[unit + 1]
        leaf = document.leaves.at(start)
        divided = leaf is None or end < leaf.end or document.protected.covers(start)
        if leaf is None or divided or CONSTRUCTS[leaf.kind].shape != "prose":
            return []
        return sentences_inside(document, leaf)
