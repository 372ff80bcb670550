"""Join adjacent pieces bottom-up, so that an edit only moves nearby cuts.

If each cut depended on the previous cut, every earlier edit could move it. Instead, the boundaries
between adjacent pieces are removed one by one, worst first, if the joined piece fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import compress
from typing import Final, TypeAlias
from zlib import crc32

from chunkast.analysis import Point
from chunkast.cutting.costs import Costs
from chunkast.text.source_map import encode

__all__ = ("Edges", "Joins", "joined")

# Returns, given positions ``i < h < j``, whether the pieces ``(i, h)`` and ``(h, j)`` may be joined.
Joins: TypeAlias = Callable[[int, int, int], bool]
# Returns the points at some of the positions.
Edges: TypeAlias = Callable[[Sequence[int]], Iterable[Point]]


# Characters after a boundary that distinguish it from others; few, since an edit in them moves it.
_SAMPLE: Final = 20


def joined(
    costs: Costs,
    bounds: Sequence[int],
    edges: Edges,
    joins: Joins,
) -> list[int]:
    """Join adjacent pieces where ``joins`` allows it, and return the remaining ``bounds``.

    ``bounds`` are positions in ascending order: the start of each piece, then the end of the last
    piece. ``edges`` returns the points at some of these positions. Each boundary is tried once:
    first boundaries below headings, then other boundaries between text that belongs together, then
    all others. Within each group, boundaries deeper inside containers come first. Ties are broken
    by the lower score, the smaller adjacent piece, a hash of the text, the smaller joined piece and
    the position.
    """
    last = len(bounds) - 1
    # Neighbours that are too large together stay so as they grow.
    open_ = [*compress(range(1, last), costs.may_fit(bounds, 2, costs.budget))]
    if not open_:
        return list(bounds)
    before, text = costs.tokens_before(bounds), costs.text
    lower, upper = list(range(-1, last)), list(range(1, last + 2))
    ranks = dict(zip(open_, _ranks(edges([bounds[n] for n in open_])), strict=True))
    samples = {n: crc32(encode(text[bounds[n] : bounds[n] + _SAMPLE])) for n in open_}

    def key(n: int) -> tuple[int, ...]:
        low, at, high = before[lower[n]], before[n], before[upper[n]]
        # Unions are compared by powers of two, so that similar pieces pair up and no piece absorbs
        # the others one by one.
        return ranks[n], min(at - low, high - at), samples[n], (high - low).bit_length(), n

    heap = [*map(key, open_)]
    heapify(heap)
    removed: set[int] = set()
    grown: set[int] = set()
    while heap:
        number = heap[0][-1]
        if number in grown:
            # A piece that grows never makes its boundaries come earlier.
            grown.remove(number)
            heapreplace(heap, key(number))
            continue
        heappop(heap)
        left, right = lower[number], upper[number]
        if joins(bounds[left], bounds[number], bounds[right]):
            upper[left], lower[right] = right, left
            grown |= {left, right}
            removed.add(number)
    return [bound for number, bound in enumerate(bounds) if number not in removed]


def _ranks(points: Iterable[Point]) -> list[int]:
    """Return the rank of each boundary, based on the score and depth of a cut there."""
    edges = [(point.score, point.depth) for point in points]
    in_order = sorted(
        set(edges), key=lambda edge: (edge[0] >= 0, edge[0] > -math.inf, -edge[1], edge[0])
    )
    rank = {edge: number for number, edge in enumerate(in_order)}
    return [rank[edge] for edge in edges]
