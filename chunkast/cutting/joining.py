"""Join neighbouring pieces bottom-up, so that an edit only moves nearby cuts.

If each cut were searched for from the previous cut, every earlier edit could move it. Instead, the
boundaries between neighbours are removed one by one, worst first, if the union fits.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias
from zlib import crc32

from chunkast.cutting.measure import Measure
from chunkast.cutting.units import Units
from chunkast.text.source_map import encode, make_array

__all__ = ("Joins", "joined")

# Returns, given units ``i < h < j``, whether the pieces ``(i, h)`` and ``(h, j)`` may be joined.
Joins: TypeAlias = Callable[[int, int, int], bool]

_Key: TypeAlias = tuple[int, int, int, int]

# Characters after a boundary that distinguish it from others; few, since an edit in them moves it.
_SAMPLE: Final = 20


def joined(measure: Measure, text: str, bounds: Sequence[int], joins: Joins) -> list[int]:
    """Join neighbouring pieces where ``joins`` allows it, and return the remaining ``bounds``.

    ``bounds`` are units in ascending order: the first unit of each piece, then the end of the last
    piece. Each boundary is tried once. Boundaries between units that belong together come first,
    then boundaries deeper inside containers. Ties are broken by the lower score, the smaller
    neighbour, a hash of the text, the smaller union and the position.
    """
    last = len(bounds) - 1
    if last < 2:
        return list(bounds)
    make = partial(make_array, size=len(text), count=last)
    before = measure.collect(measure.before[unit] for unit in bounds)
    ranks = make(_ranks(measure.units, bounds))
    samples = _samples(measure.units, text, bounds)
    lower, upper = make(range(-1, last)), make(range(1, last + 2))
    tried = bytearray(last + 1)
    tried[0] = tried[last] = True

    def key(number: int) -> _Key:
        at, union = before[number], before[upper[number]] - before[lower[number]]
        smaller = min(at - before[lower[number]], before[upper[number]] - at)
        # Unions are compared by powers of two, so that similar pieces pair up and no piece absorbs
        # the others one by one.
        return ranks[number], smaller, samples[number], union.bit_length()

    number = 1
    while number < last:
        # A boundary with a smaller key than both its neighbours may be tried at once: a piece that
        # grows never gives its boundaries a smaller key. So the search continues from the last one.
        below, above, own = lower[number], upper[number], key(number)
        if not tried[above] and key(above) < own:
            number = above
            continue
        if not tried[below] and key(below) <= own:
            number = below
            continue
        tried[number] = True
        if joins(bounds[below], bounds[number], bounds[above]):
            upper[below], lower[above] = above, below
        number = below
        while number < last and tried[number]:
            number = upper[number]
    kept, number = [], 0
    while number <= last:
        kept.append(bounds[number])
        number = upper[number]
    return kept


def _ranks(units: Units, bounds: Sequence[int]) -> Iterator[int]:
    """Return each boundary's rank, based on the depth and score of a cut there."""
    depths, scores = bytes(units.depth[unit] for unit in bounds), [units.score[u] for u in bounds]
    kinds = set(zip(depths, scores, strict=True))
    in_order = sorted(kinds, key=lambda kind: (kind[1] >= 0, -kind[0], kind[1]))
    rank = {kind: number for number, kind in enumerate(in_order)}
    return map(rank.__getitem__, zip(depths, scores, strict=True))


def _samples(units: Units, text: str, bounds: Sequence[int]) -> Sequence[int]:
    """Return a 32-bit hash of the first characters after each boundary."""
    starts = (units.pos[unit] for unit in bounds)
    return array("I", (crc32(encode(text[start : start + _SAMPLE])) for start in starts))
