"""Join neighbouring pieces bottom-up, so that an edit only moves nearby cuts.

If each cut were searched for from the previous cut, every earlier edit could move it. Instead, the
boundaries between neighbours are removed one by one, worst first, if the union fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """Join neighbouring pieces where ``joins`` allows it, and return the remaining ``bounds``.

    ``bounds`` are positions in ascending order: the start of each piece, then the end of the last
    piece. ``edges`` returns the points at some of them. Each boundary is tried
    once. Boundaries below headings come first, then others between text that belongs together, then
    boundaries deeper inside containers. Ties are broken by the lower score, the smaller neighbour,
    a hash of the text, the smaller union and the position.
    """
    last = len(bounds) - 1
    before = costs.before(bounds)
    # Neighbours that are too large together stay so as they grow.
    tried = [True, *(not costs.may_fit(bounds[i - 1], bounds[i + 1]) for i in range(1, last)), True]
    open_ = [number for number in range(1, last) if not tried[number]]
    if len(open_) == 1:
        (number,) = open_
        return _without(bounds, [number] if joins(*bounds[number - 1 : number + 2]) else [])
    if not open_:
        return list(bounds)
    ranks = _ranks([(each.score, each.depth) for each in edges([bounds[i] for i in open_])])
    order = _Order(costs.text, bounds, before, dict(zip(open_, ranks, strict=True)))
    lower, upper, keys = order.lower, order.upper, order.keys
    removed: list[int] = []
    number = open_[0]
    while number < last:
        # A boundary that comes before both its neighbours may be tried at once: a piece that
        # grows never makes its boundaries come earlier. So the search continues from the last one.
        below, above, own = lower[number], upper[number], keys[number]
        if not tried[above] and (
            keys[above] < own or (keys[above] == own and order.tie(above) < order.tie(number))
        ):
            number = above
            continue
        if not tried[below] and (
            keys[below] < own or (keys[below] == own and order.tie(below) <= order.tie(number))
        ):
            number = below
            continue
        tried[number] = True
        if joins(bounds[below], bounds[number], bounds[above]):
            order.remove(number)
            removed.append(number)
        number = below
        while number < last and tried[number]:
            number = upper[number]
    return _without(bounds, removed)


class _Order:
    """The order in which boundaries are tried.

    lower, upper: the numbers of each boundary's neighbours.
    keys: for each boundary that may be tried, its rank and the tokens of its smaller neighbour; the
        smallest comes first.
    """

    def __init__(
        self, text: str, bounds: Sequence[int], before: Sequence[int], ranks: Mapping[int, int]
    ) -> None:
        self.lower = list(range(-1, len(bounds) - 1))
        self.upper = list(range(1, len(bounds) + 1))
        self._text = text
        self._bounds = bounds
        self._before = before
        self._ranks = ranks
        self.keys = {number: self._key(number) for number in ranks}

    def tie(self, number: int) -> tuple[int, int]:
        """Return the key that decides between boundaries whose other keys are equal."""
        start = self._bounds[number]
        sample = crc32(encode(self._text[start : start + _SAMPLE]))
        # Unions are compared by powers of two, so that similar pieces pair up and no piece absorbs
        # the others one by one.
        union = self._before[self.upper[number]] - self._before[self.lower[number]]
        return sample, union.bit_length()

    def remove(self, number: int) -> None:
        """Remove a boundary, so that its neighbours become neighbours."""
        below, above = self.lower[number], self.upper[number]
        self.upper[below], self.lower[above] = above, below
        for neighbour in (below, above):
            if neighbour in self.keys:
                self.keys[neighbour] = self._key(neighbour)

    def _key(self, number: int) -> tuple[int, int]:
        before, at = self._before, self._before[number]
        below, above = at - before[self.lower[number]], before[self.upper[number]] - at
        return self._ranks[number], min(below, above)


def _without(bounds: Sequence[int], removed: Iterable[int]) -> list[int]:
    gone = set(removed)
    return [bound for number, bound in enumerate(bounds) if number not in gone]


def _ranks(edges: Sequence[tuple[float, int]]) -> list[int]:
    """Return each boundary's rank, based on the score and depth of a cut there."""
    in_order = sorted(
        set(edges), key=lambda edge: (edge[0] >= 0, edge[0] > -math.inf, -edge[1], edge[0])
    )
    rank = {edge: number for number, edge in enumerate(in_order)}
    return [rank[edge] for edge in edges]
