"""The interface of the indexes that count tokens in spans of a document."""

# ruff: noqa: ARG002, B027 - some indexes need no argument, or do nothing

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final, TypeVar

from chunkast.text.source_map import make_array

__all__ = ("NOT_EXACT", "Exact", "Remembered", "SpanCounts", "remember")

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

# Returned for a position whose tokens are not known exactly.
NOT_EXACT: Final = -1


def remember(known: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Store a value in the cache ``known``, after emptying the cache if it has ``most`` values."""
    if len(known) >= most:
        known.clear()
    known[key] = value


class Remembered(dict[_Key, _Value]):
    """A cache of at most ``most`` results of a function, which is called for each new key.

    It is cheaper to create than an ``lru_cache``; every document needs its own caches.
    """

    __slots__ = ("_function", "_most")

    def __init__(self, function: Callable[[_Key], _Value], most: int) -> None:
        self._function = function
        self._most = most

    def __missing__(self, key: _Key) -> _Value:
        value = self._function(key)
        remember(self, key, value, self._most)
        return value


@dataclass(frozen=True, slots=True)
class Exact:
    """The exact number of tokens before each of the sorted ``positions``.

    Arrays take a tenth of the memory of a dictionary.
    """

    positions: Sequence[int]
    tokens: Sequence[int]

    def get(self, position: int) -> int:
        """Return the number of tokens before ``position``, or ``NOT_EXACT`` if it is unknown."""
        slot = bisect_left(self.positions, position)
        found = slot < len(self.positions) and self.positions[slot] == position
        return self.tokens[slot] if found else NOT_EXACT

    def each(self, positions: Sequence[int]) -> Iterable[int]:
        """Return the number of tokens before each of the sorted ``positions``, or ``NOT_EXACT``.

        No position may be after the last known position.
        """
        at, tokens = self.positions, self.tokens
        if positions == at:
            return tokens
        slots = map(bisect_left, repeat(at), positions)
        return (
            tokens[slot] if at[slot] == position else NOT_EXACT
            for slot, position in zip(slots, positions, strict=True)
        )


class SpanCounts(ABC):
    """Token counts of spans of ``text``, and estimates of the number of tokens before a position.

    additive: true if the counts of adjacent spans add up, so that estimates are nearly exact.
    estimated: true if estimates are exact only at the ends of the text.
    exact: the positions at which estimates are exact, and the number of tokens before each.
    """

    __slots__ = ("additive", "estimated", "exact", "text")

    additive: bool
    estimated: bool
    exact: Exact
    text: str

    def collect(self, counts: Iterable[int]) -> Sequence[int]:
        """Return token counts, or sums of them, as a list, or as an array to save memory."""
        # A user's own counter may return any number.
        bounded = self.additive or self.estimated
        return make_array(counts, len(self.text)) if bounded else [*counts]

    @abstractmethod
    def count(self, start: int, end: int) -> int:
        """Return the exact number of tokens in ``text[start:end]``."""

    @abstractmethod
    def count_after(self, before: str, start: int, end: int) -> int:
        """Return the exact number of tokens in ``before + text[start:end]``."""

    @abstractmethod
    def estimate(self, position: int) -> int:
        """Return the estimated number of tokens before ``position``.

        A later position never has a lower estimate.
        """

    @abstractmethod
    def bounds(self, start: int, end: int) -> tuple[float, float]:
        """Return a lower and an upper bound of ``count(start, end)``, without counting.

        The bounds also apply to the span without blank lines at its start and white space at its
        end, but long white space there may make the lower bound too high.
        """

    def may_be_within(self, positions: Sequence[int], step: int, room: int) -> list[bool]:
        """Return, without counting, whether each span may have at most ``room`` tokens.

        Span ``i`` is from ``positions[i]`` to ``positions[i + step]``. The positions are sorted.
        """
        spans = zip(positions, positions[step:], strict=False)
        return [self.bounds(*span)[0] <= room for span in spans]

    def is_within(self, start: int, end: int, room: int) -> bool:
        """Return whether ``text[start:end]`` has at most ``room`` tokens.

        A subclass need not count if its estimate is far from ``room``.
        """
        return self.count(start, end) <= room

    def is_near(self, start: int, end: int) -> bool:
        """Return whether the estimate for a span is as accurate as :meth:`is_within` assumes."""
        return True

    def adds_up_after_line_end(self, position: int) -> bool:
        """Return whether no token can span ``position`` and a line ending directly before it."""
        return False

    def release(self, position: int) -> None:
        """Free memory used for the text before ``position``; counting there may take longer."""
