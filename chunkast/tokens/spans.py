"""The interface of an index of a document's token counts."""

# ruff: noqa: ARG002, B027 - some indexes need no argument, or do nothing

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final, TypeVar

__all__ = ("NOT_EXACT", "Exact", "SpanCounts", "is_far_above", "remember")

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

# Returned for a position whose tokens are not known exactly.
NOT_EXACT: Final = -1


def is_far_above(estimated: int, room: int) -> bool:
    """Return whether an estimated count is so far above ``room`` that it need not be counted.

    Estimates are exact at the starts of blocks, near elsewhere, and not far off for a user's
    own counter.
    """
    return estimated > 4 * room + 64


def remember(known: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Store a value in a cache; a cache that already has ``most`` values is emptied first."""
    if len(known) >= most:
        known.clear()
    known[key] = value


@dataclass(frozen=True, slots=True)
class Exact:
    """The ``tokens`` before each of some sorted ``positions``; ``NOT_EXACT`` elsewhere.

    A dictionary would take ten times the memory.
    """

    positions: Sequence[int]
    tokens: Sequence[int]

    def get(self, position: int) -> int:
        """Return the tokens before ``position``."""
        slot = bisect_left(self.positions, position)
        found = slot < len(self.positions) and self.positions[slot] == position
        return self.tokens[slot] if found else NOT_EXACT

    def each(self, positions: Sequence[int]) -> Iterable[int]:
        """Return the tokens before each of some sorted ``positions`` up to the last known one."""
        at, tokens = self.positions, self.tokens
        if positions == at:
            return tokens
        slots = map(bisect_left, repeat(at), positions)
        return (
            tokens[slot] if at[slot] == position else NOT_EXACT
            for slot, position in zip(slots, positions, strict=True)
        )


class SpanCounts(ABC):
    """Token counts of spans of ``text``, and estimates of the tokens before positions.

    ``additive``: estimates are sums of exact counts, off by a few tokens at most.
    ``estimated``: estimates are only exact at the text's ends.
    ``exact``: the positions at which estimates are exact, and the tokens before them.
    """

    __slots__ = ("additive", "estimated", "exact", "text")

    additive: bool
    estimated: bool
    exact: Exact
    text: str

    @abstractmethod
    def count(self, start: int, end: int) -> int:
        """Return the exact number of tokens of ``text[start:end]``."""

    @abstractmethod
    def count_after(self, before: str, start: int, end: int) -> int:
        """Return the exact number of tokens of ``before + text[start:end]``."""

    @abstractmethod
    def estimate(self, position: int) -> int:
        """Return about how many tokens are before ``position``; it never decreases."""

    @abstractmethod
    def at_most(self, start: int, end: int) -> float:
        """Return an upper bound of ``count(start, end)``, cheaply; infinite if there is none."""

    def is_within(self, start: int, end: int, room: int) -> bool:
        """Return whether ``text[start:end]`` has at most ``room`` tokens.

        An estimate far from ``room`` decides; any other span is counted.
        """
        return self.count(start, end) <= room

    def is_near(self, start: int, end: int) -> bool:
        """Return whether a span's estimate is as near its count as :meth:`is_within` assumes."""
        return True

    def adds_up_after_line_end(self, position: int) -> bool:
        """Return whether a line end before ``position`` never joins the text after it."""
        return False

    def release(self, position: int) -> None:
        """Free memory kept for the text before ``position``; counts there may take longer."""
