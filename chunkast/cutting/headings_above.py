"""Find the headings that stay with the text below them, given the budget."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import attrgetter
from typing import Final, NamedTuple

from chunkast.analysis import Headed, Structure
from chunkast.cutting.costs import Costs

__all__ = ("NOTHING_ABOVE", "Above", "HeadingsAbove")


class Above(NamedTuple):
    """The start of the text that stays with a block's first word, and the end of that word.

    ``reserve`` is the number of tokens to leave free in the part with this word.
    """

    first: int
    word_end: int
    reserve: int = 0

    def start(self, pos: int) -> int:
        """Return the start of the text that must be in one chunk with the part at ``pos``."""
        return min(self.first, pos) if pos < self.word_end else pos


_START = attrgetter("start")
NOTHING_ABOVE: Final = Above(0, -1)


class HeadingsAbove:
    """The headings right above each block.

    No chunk ends with a heading if the heading and the first word below it fit in one chunk. If not
    all headings fit together with that word, the outermost are cut off.
    """

    def __init__(self, costs: Costs, structure: Structure) -> None:
        self._costs = costs
        self._structure = structure

    def above(self, start: int) -> Above:
        """Return the headings that stay with the unit at ``start``, and the unit's first word."""
        headed = self._structure.headed.at(start)
        if headed is None or headed.start != start:
            return NOTHING_ABOVE
        first = self._first_that_fits(headed, start)
        return Above(first, headed.word_end) if first < start else NOTHING_ABOVE

    def fits(self, start: int, end: int) -> bool:
        """Return whether a region fits the budget with the headings right above it.

        A region that ends with a heading must also fit together with the first word below the
        heading. If a second region begins there and fits in one chunk with that heading, the whole
        second region must fit, not only its first word.
        """
        first = start
        if (headed := self._structure.headed.at(start)) and headed.start < end:
            first = self._first_that_fits(headed, start)
        costs, below = self._costs, self._structure.headed.at(end)
        while below and start < below.headings[0] and costs.is_within(first, end):
            heading = self._first_that_fits(below, end)
            if heading == end:
                break
            end = self._end_of_region(heading, below.start) or below.word_end
            below = self._structure.headed.at(end)
        return costs.is_within(first, end)

    def _end_of_region(self, heading: int, start: int) -> int | None:
        """Return the end of the longest region at ``start`` that fits below ``heading``, or None."""
        regions, costs = self._structure.regions, self._costs
        first = bisect_left(regions, start, key=_START)
        there = regions[first : bisect_right(regions, start, first, key=_START)]
        fitting = (each for each in there if costs.is_within(heading, each.end))
        return next((region.end for region in fitting), None)

    def _first_that_fits(self, headed: Headed, pos: int) -> int:
        """Return the first heading before ``pos`` that fits beside the first word, or ``pos``."""
        costs, number = self._costs, bisect_left(headed.headings, pos)
        first = bisect_left(
            headed.headings,
            True,
            hi=number,
            key=lambda start: costs.is_within(start, headed.word_end),
        )
        return headed.headings[first] if first < number else pos
