"""Trim spans of a text, and look up positions in sets of spans."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from chunkast.text.white_space import LINE_SPACE, WHITE_SPACE

__all__ = ("InlineSpan", "SpanSet", "content_end", "spliced", "trim_span", "trim_start")

# The number of characters first read from the end of a span; most white space is shorter.
_FIRST_TAIL_SIZE = 64


# Matches all blank lines at once; matching them one by one would take memory for each.
_SPACE = re.compile(rf"[{LINE_SPACE}\r\n]*")


@dataclass(frozen=True, slots=True)
class InlineSpan:
    """An indivisible inline construct in the span ``[start, end)`` of the scanned text.

    ``inside`` contains the constructs directly inside this one, in order.
    """

    start: int
    end: int
    kind: str
    inside: tuple[InlineSpan, ...] = field(default=(), compare=False, repr=False)


def spliced(text: str, parts: Iterable[tuple[int, int, str]]) -> str:
    """Return ``text`` with the sorted ``parts``, each ``(start, end, replacement)``, replaced."""
    pieces: list[str] = []
    at = 0
    for start, end, other in parts:
        pieces += (text[at:start], other)
        at = end
    return "".join((*pieces, text[at:])) if pieces else text


def content_end(text: str, start: int, end: int) -> int:
    """Return ``end`` moved back over white space, but not before ``start``."""
    size = _FIRST_TAIL_SIZE
    while end > start:
        first = max(start, end - size)
        content = text[first:end].rstrip(WHITE_SPACE)
        end = first + len(content)
        if content:
            break
        size *= 2
    return end


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span trimmed of leading blank lines, a byte order mark and trailing white space.

    The first line keeps its indentation. A span that contains only white space becomes empty.
    """
    end = content_end(text, start, end)
    return trim_start(text, start, end), end


def trim_start(text: str, start: int, end: int) -> int:
    """Return ``start`` moved past blank lines and a byte order mark, but not past ``end``."""
    if start == 0 and text.startswith("\ufeff", 0, end):
        start = 1
    if text[start : start + 1] not in WHITE_SPACE:
        return start  # almost always
    space = _SPACE.match(text, start, end)
    last = space.end() if space else start
    return max(text.rfind("\n", start, last), text.rfind("\r", start, last), start - 1) + 1


class SpanSet:
    """A sorted set of disjoint spans ``[start, end)``; overlapping spans are merged."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._starts, self._ends, strict=True)

    def end(self, pos: int) -> int:
        """Return the end of the span that strictly contains ``pos``, or ``pos`` if none does."""
        slot = bisect_left(self._starts, pos) - 1
        if slot >= 0 and pos < self._ends[slot]:
            return self._ends[slot]
        return pos

    def start(self, pos: int) -> int:
        """Return the start of the span that strictly contains ``pos``, or ``pos`` if none does."""
        slot = bisect_left(self._starts, pos) - 1
        if slot >= 0 and pos < self._ends[slot]:
            return self._starts[slot]
        return pos

    def within(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the spans that overlap ``[start, end)``, in order."""
        slot = bisect_right(self._ends, start)
        while slot < len(self._starts) and self._starts[slot] < end:
            yield self._starts[slot], self._ends[slot]
            slot += 1

    def crosses(self, start: int, end: int) -> bool:
        """Return whether a span overlaps ``[start, end)`` and neither contains the other."""
        if self.end(start) != start:
            return self.end(start) < end
        return start < self.start(end) < end

    def covers(self, pos: int) -> bool:
        """Return whether a span of the set contains the character at ``pos``."""
        slot = bisect_right(self._starts, pos) - 1
        return slot >= 0 and pos < self._ends[slot]
