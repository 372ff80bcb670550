"""What every index of a document's token counts answers."""

# ruff: noqa: ARG002, B027 - what only some of them do

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

# In place of a count where none is known without counting.
NOT_EXACT: Final = -1


def is_far_above(estimated: int, room: int) -> bool:
    """Whether an estimated count is surely above ``room``, so that it need not be counted.

    Estimates are exact at the starts of blocks, near elsewhere, and not far off for a user's
    own counter.
    """
    return estimated > 4 * room + 64


def remember(known: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Keep a value; all that is known is freed where it is ``most`` already."""
    if len(known) >= most:
        known.clear()
    known[key] = value


@dataclass(frozen=True, slots=True)
class Exact:
    """How many ``tokens`` lie before each of some sorted ``positions``; elsewhere ``NOT_EXACT``.

    A dictionary would take ten times the memory.
    """

    positions: Sequence[int]
    tokens: Sequence[int]

    def get(self, position: int) -> int:
        """The tokens before ``position``."""
        slot = bisect_left(self.positions, position)
        found = slot < len(self.positions) and self.positions[slot] == position
        return self.tokens[slot] if found else NOT_EXACT

    def each(self, positions: Sequence[int]) -> Iterable[int]:
        """The tokens before each of some sorted ``positions``, none beyond the last known one."""
        at, tokens = self.positions, self.tokens
        if positions == at:
            return tokens
        slots = map(bisect_left, repeat(at), positions)
        return (
            tokens[slot] if at[slot] == position else NOT_EXACT
            for slot, position in zip(slots, positions, strict=True)
        )


class SpanCounts(ABC):
    """Token counts of spans of ``text``, and estimates of how many tokens lie before positions.

    ``additive``: whether estimates are sums of exact counts, off by a few tokens at the most.
    ``estimated``: whether estimates are exact nowhere but at the text's ends.
    ``exact``: where estimates are exact without counting, and their values.
    ``most_per_character``: no span has more tokens than that for each of its characters.
    """

    __slots__ = ("additive", "estimated", "exact", "most_per_character", "text")

    additive: bool
    estimated: bool
    exact: Exact
    most_per_character: float
    text: str

    @abstractmethod
    def count(self, start: int, end: int) -> int:
        """Exactly how many tokens ``text[start:end]`` has."""

    def base(self, start: int, end: int) -> int:
        """What is taken from :meth:`upto` for the count of a span that begins at ``start``.

        The span ends at ``end``, less white space there, or further on. ``NOT_EXACT`` where no
        such number is known.
        """
        return NOT_EXACT

    def upto(self, end: int) -> int:
        """The tokens before ``end``, for spans whose start has a :meth:`base`.

        ``NOT_EXACT`` where the span has to be counted.
        """
        return NOT_EXACT

    @abstractmethod
    def estimate(self, position: int) -> int:
        """About how many tokens lie before ``position``; never less than before an earlier one."""

    def at_most(self, start: int, end: int) -> float:
        """An upper bound of ``count(start, end)`` without counting; infinite where there is none."""
        return (end - start) * self.most_per_character

    def is_within(self, start: int, end: int, room: int) -> bool:
        """Whether ``text[start:end]`` has at most ``room`` tokens, as far as estimates tell."""
        return self.count(start, end) <= room

    def may_fit(self, start: int, end: int, room: int) -> bool:
        """Whether estimates leave it open that ``text[start:end]`` has at most ``room`` tokens."""
        return True

    @abstractmethod
    def count_after(self, before: str, start: int, end: int) -> int:
        """How many tokens ``before + text[start:end]`` has."""

    def is_near(self, start: int, end: int) -> bool:
        """Whether the estimate of a span is as near its count as :meth:`is_within` takes it for."""
        return True

    def adds_up_after_line_end(self, position: int) -> bool:
        """Whether nothing joins the text from ``position`` on to a line end put before it."""
        return False

    def release(self, position: int) -> None:
        """Free what is kept of the text before ``position``; counts there may take longer."""
