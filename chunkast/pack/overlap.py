"""Overlap: the end of the chunk before, repeated where a cut falls inside a section."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from chunkast.pack.layout import Layout
from chunkast.pack.piece import Piece

__all__ = ("Overlap",)

# Points inside a block that are no place to begin reading.
_INNER = frozenset(
    {"cell", "line", "blank-line", "statement", "word", "grapheme", "lead-in", "orphan-heading"}
)


class Overlap:
    """Which end of a piece the next one repeats.

    A tail begins at a block, item, row or sentence behind the piece's own beginning and
    takes at most the overlap's budget. ``sentences(i)`` are the beginnings of sentences
    inside unit ``i``, if it is prose that was not divided.
    """

    def __init__(self, layout: Layout, sentences: Callable[[int], list[int]]) -> None:
        self._layout = layout
        self._sentences = sentences
        # By the units of a piece: where its longest tail begins, and how many tokens it has.
        self._longest: dict[tuple[int, int], tuple[int, int] | None] = {}

    def reserve(self, previous: Piece) -> int:
        """How many tokens the piece behind ``previous`` has to leave free for its overlap.

        A token more than the end of ``previous`` has: words may join behind it.
        """
        longest = self._longest_tail(previous)
        return longest[1] + 1 if longest else 0

    def start(self, previous: Piece, piece: Piece, room: int) -> tuple[int, int]:
        """Where the text of ``piece`` begins once the end of ``previous`` is repeated, and its tokens.

        The longest tail that leaves the chunk within ``room`` tokens; the piece's own
        start if there is none.
        """
        layout = self._layout
        start, end = layout.span(piece.first, piece.last)
        longest = self._longest_tail(previous)
        if longest is not None:
            for tail, _ in chain((longest,), self._tails(previous)):
                tokens = layout.index.count(tail, end)
                if tokens <= room:
                    return tail, tokens
        return start, layout.count(piece.first, piece.last)

    def _longest_tail(self, previous: Piece) -> tuple[int, int] | None:
        place = previous.first, previous.last
        if place not in self._longest:
            self._longest[place] = next(self._tails(previous), None)
        return self._longest[place]

    def _tails(self, previous: Piece) -> Iterator[tuple[int, int]]:
        """Where a tail of ``previous`` within the overlap's budget may begin, and its tokens.

        The longest tail comes first.
        """
        layout = self._layout
        budget = layout.config.overlap_tokens
        if not budget:
            return
        first, end = layout.span(previous.first, previous.last)
        last = unit = previous.last
        too_long = False
        while unit > previous.first and not too_long:
            unit -= 1
            start = layout.pos[unit]
            if start <= first:
                break
            too_long = start < end and layout.count(unit, last) > budget
        # In the unit that is too long, later sentences may fit; behind it all units do.
        for each in range(unit, last):
            start = layout.start(each)
            if first < start < end and layout.kind[each] not in _INNER:
                tokens = layout.count(each, last)
                if tokens <= budget:
                    yield start, tokens
            for start in self._sentences(each):
                if first < start < end:
                    tokens = layout.index.count(start, end)
                    if tokens <= budget:
                        yield start, tokens
