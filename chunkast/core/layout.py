"""A document as a row of units: the spans between neighbouring places where it may be cut.

Units are numbered from 0; unit ``i`` is ``[pos[i], pos[i + 1])`` and holds one leaf, a
protected region, or a piece of a block that is too large. The packer speaks of spans
``(i, j)``: the units from ``i`` up to, not including, ``j``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from itertools import accumulate, pairwise, repeat
from typing import Final

from chunkast.config import ChunkConfig
from chunkast.core.replaced import Replaced
from chunkast.model import BreakPoint
from chunkast.text.source_map import positions_in
from chunkast.text.spans import content_end, trim_start
from chunkast.text.white_space import WHITE_SPACE
from chunkast.tokens import NOT_EXACT, SpanCounts, is_far_above

__all__ = ("TRIMMED", "Layout")

# By fewer tokens than these, trimming changes what a span counts.
TRIMMED: Final = 8
# A character of white space has at most these tokens.
_MOST_TOKENS: Final = 4
# Nothing was asked of a unit yet; no count and no position is this.
_UNKNOWN: Final = -2


class Layout:
    """The units of a document, and what spans of them count."""

    def __init__(
        self,
        text: str,
        index: SpanCounts,
        points: Sequence[BreakPoint],
        config: ChunkConfig,
        *,
        context_tokens: Callable[[int], int],
        frame_tokens: Callable[[int], int] | None = None,
        suffix_tokens: Callable[[int], int] | None = None,
        most_suffix_tokens: int = 0,
        replaced: Replaced | None = None,
        dropped: int = 0,
    ) -> None:
        """``points`` are the places that may be cut, sorted.

        ``context_tokens(pos)`` is what the context of a chunk that begins at ``pos``
        costs; where there are frames, ``frame_tokens(pos)`` what its frame alone costs, and
        ``suffix_tokens(pos)``, never above ``most_suffix_tokens``, what has to be put after one
        that ends there. No chunk has any of the first ``dropped`` characters.
        """
        self.text = text
        self.index = index
        self.config = config
        self.budget = config.budget
        size = len(text)
        places = [point.pos for point in points]
        inner = points[bisect_right(places, 0) : bisect_left(places, size)]
        keep = positions_in(text, len(inner))
        self.pos = keep((0, *[point.pos for point in inner], size))
        self.score = [0.0, *[point.score for point in inner], 0.0]
        self.kind = ["", *[point.kind for point in inner], ""]
        self.units = len(self.pos) - 1
        self._context_tokens = context_tokens
        self._suffix_tokens = suffix_tokens
        self._most_suffix_tokens = most_suffix_tokens
        self._frame_tokens = frame_tokens
        self._replaced = replaced or None
        # ``before`` where it is exact, NOT_EXACT inside divided blocks; empty where sums do not
        # tell what a span takes.
        self._sums: Sequence[int] = ()
        self.before: Sequence[int] = self._tokens_before(keep)
        self._dropped = dropped
        # What is known of units, by number, once it was asked for.
        unknown = keep(repeat(_UNKNOWN, self.units + 1))
        self._context = unknown
        self._start = unknown[:]
        self._end = unknown[:]
        self._end[0] = 0
        self._base = unknown[:]
        self._upto = unknown[:]

    def _tokens_before(
        self, keep: Callable[[Iterable[int]], MutableSequence[int]]
    ) -> Sequence[int]:
        """How many tokens lie before each position; never less than before the one earlier.

        Where the index has more than estimates these are sums: of a block what it has, inside a
        divided block of each piece what it has alone. So no size depends on text elsewhere.
        """
        if self.index.estimated:
            return keep(map(self.index.estimate, self.pos))
        starts = keep(self.index.exact.each(self.pos))
        if self.index.additive and self._replaced is None:
            self._sums = starts
        if NOT_EXACT not in starts:
            return starts
        sizes = (
            self.index.count(start, end) if NOT_EXACT in (first, last) else last - first
            for (start, end), (first, last) in zip(
                pairwise(self.pos), pairwise(starts), strict=True
            )
        )
        return keep(accumulate(sizes, initial=0))

    def start(self, i: int) -> int:
        """Where a chunk that begins with unit ``i`` begins: after its blank lines."""
        known = self._start[i]
        if known == _UNKNOWN:
            pos = known = max(self.pos[i], self._dropped)
            if self.config.trim and self.text[pos : pos + 1] in WHITE_SPACE:
                known = trim_start(self.text, pos, len(self.text))
            # What else begins in these blank lines begins after them too.
            first = self.unit_at(content_end(self.text, 1, pos)) if pos and known > pos else i
            for unit in range(first, max(self.unit_at(known), i + 1)):
                self._start[unit] = known
        return known

    def end(self, j: int) -> int:
        """Where a chunk that ends before unit ``j`` ends: before the white space there."""
        known = self._end[j]
        if known == _UNKNOWN:
            known = self.pos[j]
            unit = j
            while self.config.trim and known == self.pos[unit]:
                if self._end[unit] != _UNKNOWN:
                    known = self._end[unit]
                    break
                unit -= 1
                known = content_end(self.text, self.pos[unit], self.pos[unit + 1])
            # What else ends in these blank units ends before them too.
            for blank in range(min(unit + 1, j), j + 1):
                self._end[blank] = known
        return known

    def unit_at(self, position: int) -> int:
        """The unit that begins at ``position`` (or the first that begins after it)."""
        return bisect_left(self.pos, position)

    def span(self, i: int, j: int) -> tuple[int, int]:
        """The characters that a chunk of the units ``(i, j)`` covers; may be empty."""
        start = self.start(i)
        return start, max(start, self.end(j))

    def count(self, i: int, j: int, *, known: bool = False) -> int:
        """Exactly how many tokens a chunk of the units ``(i, j)`` has.

        ``NOT_EXACT`` where only what is ``known`` is asked for and its text has to be counted.
        """
        base = self._base[i]
        if base == _UNKNOWN:
            base = self._base[i] = self.index.base(self.start(i), self.pos[i + 1])
        if base != NOT_EXACT:
            upto = self._upto[j]
            if upto == _UNKNOWN:
                upto = self._upto[j] = self.index.upto(self.end(j))
            if upto != NOT_EXACT:
                return max(upto - base, 0)
        return NOT_EXACT if known else self.index.count(*self.span(i, j))

    def has_at_most(self, i: int, j: int, room: int) -> bool:
        """Whether a chunk of the units ``(i, j)`` has at most ``room`` tokens."""
        if self._is_short(i, j, room):
            return True
        if self.index.estimated:
            tokens = self.count(i, j, known=True)
            if tokens == NOT_EXACT:
                return self.index.is_within(*self.span(i, j), room)
            return tokens <= room
        return self.count(i, j) <= room

    def context(self, i: int) -> int:
        """How many tokens the context of a chunk that begins with unit ``i`` takes."""
        known = self._context[i]
        if known == _UNKNOWN:
            known = self._context[i] = self._context_tokens(self.pos[i])
        return known

    def surely_within(self, i: int, j: int, room: int) -> bool:
        """Whether ``(i, j)`` is within ``room`` tokens by sums or its length alone."""
        room -= self._most_suffix_tokens
        if self._sums:
            first, last = self._sums[i], self._sums[j]
            if first != NOT_EXACT != last:
                return last - first + TRIMMED <= room
        return self._replaced is None and self._is_short(i, j, room)

    def _is_short(self, i: int, j: int, room: int) -> bool:
        """Whether the text of ``(i, j)`` has so few characters that it has at most ``room`` tokens."""
        return (self.pos[j] - self.pos[i]) * self.index.most_per_character <= room

    def fits(self, i: int, j: int, reserve: int = 0) -> bool:
        """Whether ``(i, j)`` fits the budget with its context and ``reserve`` tokens more."""
        return self.within(i, j, self.budget - self.context(i) - reserve)

    def frame(self, i: int) -> int:
        """How many tokens of the context of a chunk that begins with unit ``i`` are its frame."""
        return self._frame_tokens(self.pos[i]) if self._frame_tokens is not None else 0

    def fits_without_path(self, i: int, j: int) -> bool:
        """Whether ``(i, j)`` fits the budget if its context is the frame alone."""
        return self.within(i, j, self.budget - self.frame(i))

    def furthest(self, i: int, j: int, room: int, *, about: bool = False) -> int:
        """The last ``h`` with ``i <= h <= j`` so that ``(i, h)`` takes (``about``) at most ``room`` tokens."""
        h = max(bisect_right(self.before, self.before[i] + room, i, j + 1) - 1, i)
        if about:
            return h
        # From the estimate outwards in growing steps, then by bisection: one or two counts
        # where the estimate is exact, still few where a counter is far from it.
        step = 1
        if self.within(i, h, room):
            low, high = h, h + 1
            while high <= j and self.within(i, high, room):
                step *= 2
                low, high = high, high + step
            high = min(high, j + 1)
        else:
            low, high = h - 1, h
            while low > i and not self.within(i, low, room):
                step *= 2
                low, high = low - step, low
            low = max(low, i)
        while high - low > 1:
            middle = (low + high) // 2
            if self.within(i, middle, room):
                low = middle
            else:
                high = middle
        return low

    def within(self, i: int, j: int, room: int) -> bool:
        """Whether ``(i, j)``, with what has to be put after it, takes at most ``room`` tokens.

        What is far too large is not counted. (White space that is trimmed may make the
        estimate much too high; a chunk that ends earlier is none the worse.)
        """
        first, last = (self._sums[i], self._sums[j]) if self._sums else (NOT_EXACT, NOT_EXACT)
        if first != NOT_EXACT != last:
            size = last - first
            if size + TRIMMED + self._most_suffix_tokens <= room:
                return True
            # Whatever white space is trimmed.
            start, end = self._start[i], self._end[j]
            trimmed = (start if start != _UNKNOWN else self.start(i)) - self.pos[i]
            trimmed += self.pos[j] - (end if end != _UNKNOWN else self.end(j))
            if size - TRIMMED - _MOST_TOKENS * trimmed > room:
                return False
        if self._suffix_tokens is not None:
            room -= self._suffix_tokens(self.pos[j])
        if self._replaced is not None and i < j:
            fits = self._embeds_within(self._replaced, i, j, room)
            if fits is not None:
                return fits
        if is_far_above(self.before[j] - self.before[i], room):
            return False
        return i == j or self.has_at_most(i, j, room)

    def _embeds_within(self, replaced: Replaced, i: int, j: int, room: int) -> bool | None:
        """Whether what is embedded of ``(i, j)`` takes at most ``room`` tokens; None if it is the text.

        The text itself has to be within the budget, unless its last unit is an opaque run that is
        kept, and all before it leads in to that.
        """
        budget = self.budget
        far = is_far_above(self.before[j] - self.before[i], budget)
        fits = not far and self.has_at_most(i, j, budget)
        if not fits and any(self.score[h] >= 0 for h in range(i + 1, j)):
            return False
        tokens = replaced.tokens(*self.span(i, j))
        if tokens is None:
            return None
        return tokens <= room and (fits or not self.has_at_most(j - 1, j, budget))
