"""Neighbours joined bottom-up: which become one piece depends on the text around them alone.

A cut that is sought from where the last one fell moves with every edit before it. Here the
boundaries between neighbours are taken away one by one instead, the worst first, as long as
the union fits, so that an edit moves what is near it and no more.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from operator import sub
from typing import Final, TypeAlias
from zlib import crc32

from chunkast.core.layout import Layout
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
_BELOW_SIZE: Final = _HASH_BITS + _UNION_BITS
_LAST_RANK: Final = (1 << _RANK_BITS) - 1
_LARGEST: Final = (1 << _SIZE_BITS) - 1


def joined(
    layout: Layout, bounds: Sequence[int], depth: Callable[[int], int], joins: Joins
) -> list[int]:
    """Those of the ``bounds`` of pieces that are left when neighbours were made one.

    ``bounds`` are units, ascending: where each piece begins, and where the last one ends.
    Boundaries are tried in this order: those that part what belongs together, the deeper in
    containers first (``depth(unit)``, below 256), the lower score, the one beside the smaller
    piece, then by a hash, then the smaller union, and the first of equals.
    """
    last = len(bounds) - 1
    if last < 2:
        return list(bounds)
    if last == 2:
        first, middle, end = bounds
        return [first, end] if joins(first, middle, end) else [first, middle, end]
    keep = positions_in(layout.text, last)
    sums = keep(map(layout.before.__getitem__, bounds))
    sizes = keep(map(sub, sums[1:], sums))
    lower, upper = keep(range(-1, last)), keep(range(1, last + 2))
    fixed = _fixed_parts(layout, bounds, depth)
    done = bytearray(last + 1)
    done[0] = done[last] = True
    keys = array("Q", chain((0,), map(_key, islice(fixed, 1, None), sizes, islice(sizes, 1, None))))
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
            size = sums[above] - sums[below]
            if not done[below]:
                keys[below] = _key(fixed[below], sums[below] - sums[lower[below]], size)
            if not done[above]:
                keys[above] = _key(fixed[above], size, sums[upper[above]] - sums[above])
        number = below
        while number < last and done[number]:
            number = upper[number]
    return [*_kept(bounds, upper)]


def _key(fixed: int, before: int, after: int) -> int:
    """The key of a boundary between pieces of ``before`` and ``after`` tokens."""
    # Comparisons in place of a call, for every boundary.
    smaller = before if before < after else after  # noqa: FURB136
    smaller = smaller if smaller < _LARGEST else _LARGEST  # noqa: FURB136
    return fixed + (smaller << _BELOW_SIZE) + (before + after).bit_length()


def _kept(bounds: Sequence[int], upper: Sequence[int]) -> Iterator[int]:
    number = 0
    while number < len(bounds):
        yield bounds[number]
        number = upper[number]


def _fixed_parts(
    layout: Layout, bounds: Sequence[int], depth: Callable[[int], int]
) -> Sequence[int]:
    """Of the key of each bound the parts that stay: the rank and the hash.

    The rank is the place in the order of what bounds part, equal ones with one number.
    """
    depths = bytes(map(depth, bounds))
    scores = [*map(layout.score.__getitem__, bounds)]
    order = sorted(
        set(zip(depths, scores, strict=True)),
        key=lambda kind: (kind[1] >= 0, -kind[0], kind[1]),
    )
    rank = {kind: min(number, _LAST_RANK) for number, kind in enumerate(order)}
    ranks = map(rank.__getitem__, zip(depths, scores, strict=True))
    text = layout.text
    samples = (text[at : at + _SAMPLE] for at in map(layout.pos.__getitem__, bounds))
    hashes = map(crc32, map(str.encode if text.isascii() else encode, samples))
    return array(
        "Q",
        (
            (rank << _SIZE_BITS + _HASH_BITS | hash_ >> 32 - _HASH_BITS) << _UNION_BITS
            for rank, hash_ in zip(ranks, hashes, strict=True)
        ),
    )
