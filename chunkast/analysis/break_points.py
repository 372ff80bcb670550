"""Merge lists of break points."""

from __future__ import annotations

from collections.abc import Iterable

from chunkast.model import BreakPoint

__all__ = ("merge_break_points",)


def merge_break_points(*lists: Iterable[BreakPoint]) -> list[BreakPoint]:
    """Return the best break point of all ``lists`` at each position, sorted by position.

    The best point has the highest score; of equal scores, the first counts. Never raises.

    >>> from chunkast import BreakPoint
    >>> merge_break_points([BreakPoint(8, 20.0, "paragraph")], [BreakPoint(8, 90.0, "h2")])
    [BreakPoint(pos=8, score=90.0, kind='h2')]
    """
    best: dict[int, BreakPoint] = {}
    for points in lists:
        for point in points:
            known = best.get(point.pos)
            if known is None or point.score > known.score:
                best[point.pos] = point
    return [best[pos] for pos in sorted(best)]
