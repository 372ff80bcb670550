"""Overlap: the end of the chunk before, repeated where a cut falls inside a section."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from chunkast.pack.layout import Layout
from chunkast.pack.piece import Piece

__all__ = ("Overlap",)

# Points inside a block that are no place to begin reading.
_INNER = frozenset(
    {"line", "blank-line", "statement", "word", "grapheme", "lead-in", "orphan-heading"}
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
        self._tails: dict[Piece, list[int]] = {}

    def reserve(self, previous: Piece) -> int:
        """How many tokens the piece behind ``previous`` has to leave free for its overlap."""
        tails = self._starts(previous)
        return self._tail_tokens(tails[-1], previous) if tails else 0

    def start(self, previous: Piece, piece: Piece, room: int) -> int:
        """Where the text of ``piece`` begins once the end of ``previous`` is repeated.

        The longest tail that leaves the chunk within ``room`` tokens; the piece's own
        start if there is none.
        """
        start, end = self._layout.span(piece.first, piece.last)
        count = self._layout.index.count
        fitting = (tail for tail in reversed(self._starts(previous)) if count(tail, end) <= room)
        return next(fitting, start)

    def _tail_tokens(self, start: int, previous: Piece) -> int:
        """What repeating ``previous`` from ``start`` costs; a token more where words may join."""
        layout = self._layout
        end = layout.span(previous.first, previous.last)[1]
        return layout.index.count(start, end) + 1

    def _starts(self, previous: Piece) -> list[int]:
        """Where a tail of ``previous`` may begin, the shortest first."""
        known = self._tails.get(previous)
        if known is None:
            budget = self._layout.config.overlap_tokens
            first, end = self._layout.span(previous.first, previous.last)
            known = []
            for candidate in self._candidates(previous) if budget else ():
                if candidate >= end:
                    continue  # nothing but white space
                if candidate <= first or self._layout.index.count(candidate, end) > budget:
                    break
                known.append(candidate)
            self._tails[previous] = known
        return known

    def _candidates(self, previous: Piece) -> Iterator[int]:
        """Places inside ``previous`` where a reader may begin, last first."""
        layout = self._layout
        for unit in range(previous.last - 1, previous.first - 1, -1):
            yield from reversed(self._sentences(unit))
            if layout.kind[unit] not in _INNER:
                yield layout.pos[unit]
