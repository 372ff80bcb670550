"""Overlap: the end of the chunk before, repeated where a cut falls inside a section."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import chain

from chunkast.core.divide import Divider
from chunkast.core.document import Document
from chunkast.core.layout import Layout
from chunkast.core.piece import Piece
from chunkast.core.sections import Sections
from chunkast.markdown import CONSTRUCTS

__all__ = ("Overlap", "sentences_of")

# Points inside a block that was divided, where no sentence or block begins.
_DIVIDED = frozenset({"cell", "line", "blank-line", "statement", "word", "grapheme"})
# Points that are not a place to begin reading.
_INNER = _DIVIDED | {"lead-in", "orphan-heading"}


class Overlap:
    """Which end of a piece the next one repeats.

    A tail begins at a block, item, row or sentence after the piece's own beginning and
    takes at most the overlap's budget; no section is begun or ended in it. ``sentences(i)``
    are the beginnings of sentences inside unit ``i``, if it is prose that was not divided.
    """

    def __init__(
        self, layout: Layout, sections: Sections, sentences: Callable[[int], list[int]]
    ) -> None:
        self._layout = layout
        self._sections = sections
        self._budget = layout.config.overlap_tokens
        # The most that may be put before a piece: see :meth:`reserve`.
        self._reserved = self._budget + bool(self._budget)
        self._sentences = sentences
        # By the units of a piece: where its longest tail begins, and how many tokens it has.
        self._longest: dict[tuple[int, int], tuple[int, int] | None] = {}

    def reserve(self, previous: Piece) -> int:
        """How many tokens the piece after ``previous`` has to leave free for its overlap.

        A token more than the end of ``previous`` has: words may join after it. Nothing is
        repeated before a section.
        """
        if not self._budget or self._sections.begins(previous.last):
            return 0
        longest = self._longest_tail(previous)
        return longest[1] + 1 if longest else 0

    def leaves_room(self, first: int, last: int) -> bool:
        """Whether ``(first, last)`` fits with its overlap, wherever the piece before it begins."""
        layout, within, surely = self._layout, self._layout.within, self._layout.surely_within
        # Context takes at most half of the budget.
        if surely(first, last, layout.budget - layout.budget // 2 - self._reserved):
            return True
        room = layout.budget - layout.context(first)
        if surely(first, last, room - self._reserved):
            return True
        if not within(first, last, room):
            return False
        if not self._reserved or within(first, last, room - self._reserved):
            return True
        # Only what is near the limit is looked at closely. Twice the budget, as counts before
        # a unit may be estimates.
        far = layout.before[first] - 2 * self._budget
        previous = Piece(max(bisect_left(layout.before, far) - 1, 0), first)
        return within(first, last, room - self.reserve(previous))

    def start(self, previous: Piece, piece: Piece, room: int) -> tuple[int, int]:
        """Where the text of ``piece`` begins once the end of ``previous`` is repeated, and its tokens.

        The longest tail that leaves the chunk within ``room`` tokens; the piece's own
        start if there is none.
        """
        layout, count = self._layout, self._layout.index.count
        start, end = layout.span(piece.first, piece.last)
        longest = self._longest_tail(previous)
        if longest is not None:
            tokens = count(longest[0], end)
            if tokens <= room:
                return longest[0], tokens
            # A shorter one, of hundreds.
            shorter = [tail for tail in self._tails(previous) if tail > longest[0]]
            at = bisect_left(shorter, True, key=lambda tail: count(tail, end) <= room)
            if at < len(shorter):
                return shorter[at], count(shorter[at], end)
        return start, layout.count(piece.first, piece.last)

    def _longest_tail(self, previous: Piece) -> tuple[int, int] | None:
        """Where the longest tail of ``previous`` within the overlap's budget begins, and its tokens."""
        place = previous.first, previous.last
        if place not in self._longest:
            end = self._layout.end(previous.last)
            tails = ((tail, self._layout.index.count(tail, end)) for tail in self._tails(previous))
            found = (tail for tail in tails if tail[1] <= self._budget)
            self._longest[place] = next(found, None)
        return self._longest[place]

    def _tails(self, previous: Piece) -> Iterator[int]:
        """Where a tail of ``previous`` may begin that is about within the overlap's budget, in order."""
        layout = self._layout
        budget = self._budget
        if not budget:
            return
        begun = self._sections.last_begun(previous.last - 1)
        previous = Piece(max(previous.first, begun), previous.last)
        first, end = layout.span(previous.first, previous.last)
        for each in reversed(self._last_units(previous, budget)):
            start = end if layout.kind[each] in _INNER else layout.start(each)
            for tail in chain((start,), self._sentences(each)):
                if first < tail < end and layout.index.may_fit(tail, end, budget):
                    yield tail

    def _last_units(self, previous: Piece, budget: int) -> list[int]:
        """The last units of ``previous``, last to first, up to one whose tail is too long.

        Of that one later sentences may fit. Units inside a divided block are left out: no
        tail begins there.
        """
        layout = self._layout
        units = [
            unit
            for unit in range(previous.last - 1, previous.first - 1, -1)
            if layout.kind[unit] not in _DIVIDED
        ]

        def is_too_long(unit: int) -> bool:
            return not layout.has_at_most(unit, previous.last, budget)

        # There may be hundreds.
        return units[: bisect_left(units, True, key=is_too_long) + 1]


def sentences_of(
    document: Document, layout: Layout, divider: Divider
) -> Callable[[int], list[int]]:
    """The beginnings of sentences inside a unit of prose that was not divided, by its number."""

    def sentences(unit: int) -> list[int]:
        start, end = layout.pos[unit], layout.pos[unit + 1]
        leaf = document.leaves.at(start)
        divided = leaf is None or end < leaf.end or document.protected.covers(start)
        if leaf is None or divided or CONSTRUCTS[leaf.kind].shape != "prose":
            return []
        return [point.pos for point in divider.sentence_points(leaf, start, leaf.end)]

    return sentences
