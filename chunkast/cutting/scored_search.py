"""Search for a cut by score: a good earlier position beats a poor position at the limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chunkast.model import BreakPoint, ProtectedRegion

__all__ = ("best_cut", "cut_value", "ranked_cuts")


def cut_value(score: float, distance: float, window: float, decay: float) -> float:
    """Return a break point's value: ``score * (1 - (distance / window) ** 2 * decay)``.

    This is the formula of the search engine qmd. ``distance`` is measured back from the limit, and
    ``window`` is the greatest distance searched, in the same unit. At distance 0, the value is the
    whole score, even if the window is 0.
    """
    share = distance / window if window else 0.0
    return score * (1 - share * share * decay)


def ranked_cuts(
    cuts: Iterable[tuple[int, float, float]], *, window: float, decay: float
) -> list[tuple[float, int]]:
    """Return ``(value, place)`` for each cut in the window, highest value first.

    ``cuts`` are triples ``(place, distance, score)``. Of equal values, the lowest place comes
    first.
    """
    values = (
        (-cut_value(score, distance, window, decay), place)
        for place, distance, score in cuts
        if 0 <= distance <= window
    )
    return [(-value, place) for value, place in sorted(values)]


def best_cut(
    points: Iterable[BreakPoint],
    target: int,
    *,
    window: int,
    decay: float = 0.7,
    regions: Sequence[ProtectedRegion] = (),
) -> int:
    """Return the position of the best break point at or before ``target``.

    Returns ``target`` if there is no such point. Points from ``target - window`` to ``target``,
    both inclusive, are considered. Points strictly inside one of the ``regions``, and points with a
    negative score, are ignored. The point with the highest :func:`cut_value` is the best; on a
    tie, the one with the lowest position. Positions, ``target`` and ``window`` must be in the same
    unit, such as characters. Never raises.

    >>> from chunkast import BreakPoint
    >>> points = [BreakPoint(80, 100.0, "h1"), BreakPoint(95, 20.0, "paragraph")]
    >>> best_cut(points, 100, window=30)
    80
    >>> best_cut(points, 100, window=10)
    95
    """
    cuts = (
        (point.pos, target - point.pos, point.score)
        for point in points
        if point.score >= 0 and not any(region.contains(point.pos) for region in regions)
    )
    ranked = ranked_cuts(cuts, window=window, decay=decay)
    return ranked[0][1] if ranked else target
