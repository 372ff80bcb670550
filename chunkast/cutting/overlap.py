"""Find overlaps. An overlap is the end of a chunk, repeated by the next chunk in its section."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from chunkast.analysis import Structure
from chunkast.config import ChunkConfig
from chunkast.cutting.blocked import sentence_cuts
from chunkast.cutting.costs import Costs
from chunkast.cutting.units import Piece, UnitFinder, Units
from chunkast.tokens import Remembered

__all__ = ("Overlap",)

# Points inside a block that was divided, where no sentence or block begins.
_DIVIDED: Final = frozenset({"cell", "line", "blank-line", "statement", "word", "grapheme"})
# The number of cuts whose tails are remembered.
_REMEMBERED: Final = 256
# Points where reading should not begin.
_INNER: Final = _DIVIDED | {"lead-in", "orphan-heading"}


class Overlap:
    """The ends ("tails") of pieces that may be repeated at the start of the next piece.

    A tail begins with a block, item, row or sentence other than the first in its piece, and has at
    most ``budget`` tokens. No section begins or ends inside a tail.
    """

    def __init__(
        self, structure: Structure, config: ChunkConfig, costs: Costs, finder: UnitFinder
    ) -> None:
        self.budget = config.overlap_tokens
        # The maximum number of tokens to reserve for a tail.
        self.most = self.budget + bool(self.budget)
        self._structure = structure
        self._costs = costs
        self._finder = finder
        self._sections = finder.sections
        self._longest = Remembered(self._find_longest, _REMEMBERED)

    def reserve(self, previous: Piece) -> int:
        """Return the number of tokens that the piece after ``previous`` must leave free for a tail.

        This is one more than the tail's token count, because joining tail and piece may add one.
        """
        if not self.budget or self._sections.begins(previous.end):
            return 0
        longest = self._longest_tail(previous)
        return longest[1] + 1 if longest else 0

    def reserve_at(self, cut: int) -> int:
        """Return the maximum number of tokens to reserve before a piece that begins at ``cut``."""
        return self.reserve(Piece(self._sections.last_begun(cut), cut))

    def start(self, previous: Piece | None, piece: Piece) -> tuple[int, int]:
        """Return the start of a chunk, and its token count.

        The chunk is ``piece``. The longest tail of ``previous`` precedes it if both fit together
        with the context at the tail's start.
        """
        costs = self._costs
        start, end = costs.span(*piece)
        if (
            self.budget
            and previous is not None
            and self._sections.last_begun(piece.start) < previous.end
            and (longest := self._longest_tail(previous))
        ):
            tokens = costs.tokens(longest[0], end)
            if tokens <= costs.room(longest[0], start):
                return longest[0], tokens
        return start, costs.tokens(start, end)

    def _longest_tail(self, previous: Piece) -> tuple[int, int] | None:
        """Return the start and token count of the longest tail of ``previous``, or None.

        No tail begins before the last section in ``previous``.
        """
        begun = self._sections.last_begun(previous.end - 1)
        # Most pieces that end there have the same tail, the longest after the section's start.
        longest = self._longest[Piece(begun, previous.end)]
        if longest is None or longest[0] > self._costs.span(*previous)[0]:
            return longest
        return self._longest[Piece(max(previous.start, begun), previous.end)]

    def _find_longest(self, previous: Piece) -> tuple[int, int] | None:
        costs, end = self._costs, self._costs.span(*previous)[1]
        for tails in self._tails(previous):
            # Of tails that end together, a later one never has more tokens.
            at = bisect_left(tails, True, key=lambda tail: self._is_within(tail, end))
            if at < len(tails):
                return tails[at], costs.tokens(tails[at], end)
        return None

    def _is_within(self, tail: int, end: int) -> bool:
        least, _ = self._costs.bounds(tail, end)
        return least <= self.budget and self._costs.tokens(tail, end) <= self.budget

    def _tails(self, previous: Piece) -> Iterator[list[int]]:
        """Yield the positions at which a tail of ``previous`` may begin, sorted, for each unit."""
        units, costs = self._finder.at(previous.end), self._costs
        first, end = costs.span(*previous)
        for unit in reversed(self._last_units(units, previous)):
            if units.points[unit].kind not in _INNER:
                yield [tail for tail in costs.span(units.pos[unit], end)[:1] if first < tail < end]
            yield [tail for tail in self._sentences(units, unit) if first < tail < end]

    def _last_units(self, units: Units, previous: Piece) -> list[int]:
        """Return the last units of ``previous`` in reverse, until a unit's tail is too long.

        That unit is included, since a tail may begin with one of its later sentences. Units inside
        divided blocks are skipped.
        """
        pos, end = units.pos, self._costs.span(*previous)[1]
        begin, last = units.at(previous.start), units.at(previous.end)
        # A later unit's tail never has more tokens. Text far before the end is not counted.
        low, step = last - 1, 1
        while low > begin and self._is_within(pos[low], end):
            low, step = max(low - step, begin), 2 * step
        first = bisect_left(
            range(last), True, max(low, begin), key=lambda unit: self._is_within(pos[unit], end)
        )
        return [
            unit
            for unit in range(last - 1, max(begin, first - 1) - 1, -1)
            if units.points[unit].kind not in _DIVIDED
        ]

    def _sentences(self, units: Units, unit: int) -> list[int]:
        """Return the positions between sentences in a unit of undivided prose."""
        structure, leaf = self._structure, units.points[unit].leaf
        end = units.pos[unit + 1]
        if leaf is None or end < leaf.end or units.protected.covers(leaf.start):
            return []
        if structure.row(leaf).shape != "prose":
            return []
        return sentence_cuts(structure, self._costs, units.protected, leaf)
