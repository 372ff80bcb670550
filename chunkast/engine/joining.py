"""Neighbours joined bottom-up: which become one piece depends on the text around them alone.

A cut that is sought from where the last one fell moves with every edit before it. Here the
boundaries between neighbours are taken away one by one instead, the worst first, as long as
the union fits, so that an edit moves what is near it and no more.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias
from zlib import crc32

from chunkast.engine.layout import Layout
from chunkast.text.source_map import encode, positions_in

__all__ = ("Joins", "joined")

# Whether the units from the first number to the second may be one piece with those from there
# to the third.
Joins: TypeAlias = Callable[[int, int, int], bool]

# Characters after a boundary that tell it from others: few, as an edit in them moves it.
_SAMPLE: Final = 20
# A key is one number of 64 bits, of these parts from the highest: the rank, how large the
# smaller of the two pieces is in tokens, the hash of the text that follows, how large the union
# is by powers of two (so that pieces alike pair up, and none grows by one each time). What is
# beyond the bits of a part is equal to its highest value.
_RANK_BITS, _SIZE_BITS, _HASH_BITS, _UNION_BITS = 18, 20, 20, 6
_LAST_RANK: Final = (1 << _RANK_BITS) - 1
_LARGEST: Final = (1 << _SIZE_BITS) - 1


def joined(layout: Layout, bounds: Sequence[int], depths: Sequence[int], joins: Joins) -> list[int]:
    """Those of the ``bounds`` of pieces that are left when neighbours were made one.

    ``bounds`` are units, ascending: where each piece begins, and where the last one ends.
    Boundaries are tried in this order: those that part what belongs together, the deeper in
    containers first (``depths``, by unit), the lower score, the one beside the smaller piece,
    then by a hash, then the smaller union, and the first of equals.
    """
    last = len(bounds) - 1
    if last < 2:
        return list(bounds)
    keep = positions_in(layout.text, last)
    sums = keep(map(layout.before.__getitem__, bounds))
    lower, upper = keep(range(-1, last)), keep(range(1, last + 2))
    ranks, hashes = _ranks(layout, bounds, depths), _hashes(layout, bounds)
    done = bytearray(last + 1)
    done[0] = done[last] = True

    def key(number: int) -> int:
        first, middle, end = sums[lower[number]], sums[number], sums[upper[number]]
        size = min(middle - first, end - middle, _LARGEST)
        found = (ranks[number] << _SIZE_BITS | size) << _HASH_BITS | hashes[number]
        return found << _UNION_BITS | (end - first).bit_length()

    keys = array("Q", (0 if done[number] else key(number) for number in range(last + 1)))
    number = 1
    while number < last:
        # A boundary that goes before both beside it goes before them in any order: a piece
        # that grows never makes a key smaller. So each is found from the one before it.
        below, above = lower[number], upper[number]
        if not done[above] and keys[above] < keys[number]:
            number = above
            continue
        if not done[below] and keys[below] <= keys[number]:
            number = below
            continue
        done[number] = True
        if joins(bounds[below], bounds[number], bounds[above]):
            upper[below], lower[above] = above, below
            for other in (below, above):
                if not done[other]:
                    keys[other] = key(other)
        number = below
        while number < last and done[number]:
            number = upper[number]
    return [*_kept(bounds, upper)]


def _kept(bounds: Sequence[int], upper: Sequence[int]) -> Iterator[int]:
    number = 0
    while number < len(bounds):
        yield bounds[number]
        number = upper[number]


def _ranks(layout: Layout, bounds: Sequence[int], depths: Sequence[int]) -> Sequence[int]:
    """The places of the bounds in the order of what they part, equal ones with one number."""
    kinds = {(depths[unit], layout.score[unit]) for unit in bounds}
    order = sorted(kinds, key=lambda kind: (kind[1] >= 0, -kind[0], kind[1]))
    rank = {kind: min(number, _LAST_RANK) for number, kind in enumerate(order)}
    return array("I", (rank[depths[unit], layout.score[unit]] for unit in bounds))


def _hashes(layout: Layout, bounds: Sequence[int]) -> Sequence[int]:
    text, pos = layout.text, layout.pos
    samples = (text[pos[unit] : pos[unit] + _SAMPLE] for unit in bounds)
    return array("I", (crc32(encode(sample)) >> 32 - _HASH_BITS for sample in samples))
