"""Neighbours joined bottom-up, so that an edit only moves nearby cuts.

A cut that is searched from the last one moves with every edit before it. Here the boundaries
between neighbours are removed one by one, the worst first, as long as the union fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias
from zlib import crc32

from chunkast.core.measure import Measure
from chunkast.text.source_map import encode

__all__ = ("Joins", "joined")

# Whether the units from the first number to the second may be in one piece with those from
# there to the third.
Joins: TypeAlias = Callable[[int, int, int], bool]

_Key: TypeAlias = tuple[tuple[bool, int, float], int, int, int, int]

# Characters after a boundary that tell it from others: few, as an edit in them moves it.
_SAMPLE: Final = 20


def joined(measure: Measure, text: str, bounds: Sequence[int], joins: Joins) -> list[int]:
    """Return those of the ``bounds`` of pieces that remain when neighbours are joined.

    ``bounds`` are ascending units: the first of each piece, then the end of the last. Boundaries
    are tried in this order: those that separate what belongs together, the deeper in containers
    first, the lower score, the one beside the smaller piece, by a hash of the text, the smaller
    union, the first.
    """
    units, before = measure.units, measure.before
    last = len(bounds) - 1
    if last < 2:
        return list(bounds)
    lower, upper = list(range(-1, last)), list(range(1, last + 2))

    ranks = [(units.score[unit] >= 0, -units.depth[unit], units.score[unit]) for unit in bounds]
    places = [units.pos[unit] for unit in bounds]
    samples = [crc32(encode(text[pos : pos + _SAMPLE])) for pos in places]
    tokens = [before[unit] for unit in bounds]

    def key(number: int) -> _Key:
        below, at, above = tokens[lower[number]], tokens[number], tokens[upper[number]]
        # Unions by powers of two: pieces alike pair up, and none grows by one each time.
        union = (above - below).bit_length()
        return ranks[number], min(at - below, above - at), samples[number], union, number

    keys = {number: key(number) for number in range(1, last)}
    heap = list(keys.values())
    heapify(heap)
    while heap:
        entry = heappop(heap)
        number = entry[-1]
        if keys.get(number) != entry:
            continue  # a neighbour has grown since
        del keys[number]
        below, above = lower[number], upper[number]
        if joins(bounds[below], bounds[number], bounds[above]):
            upper[below], lower[above] = above, below
            for beside in (below, above):
                if beside in keys:
                    keys[beside] = key(beside)
                    heappush(heap, keys[beside])
    kept, number = [], 0
    while number <= last:
        kept.append(bounds[number])
        number = upper[number]
    return kept
