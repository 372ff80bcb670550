"""Find the units of a text, which are joined into chunks, and the positions between them.

Unit ``i`` is ``text[pos[i]:pos[i + 1]]``: a leaf, a protected region, or a part of a block over
budget.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple

from chunkast.analysis import Point, Sections, Structure
from chunkast.cutting.blocked import blocked_in
from chunkast.cutting.costs import Costs
from chunkast.cutting.divide import Divider
from chunkast.cutting.headings_above import NOTHING_ABOVE, HeadingsAbove
from chunkast.model import Block, ProtectedRegion
from chunkast.text.spans import SpanSet
from chunkast.text.white_space import is_blank

__all__ = ("Piece", "UnitFinder", "Units")

_START = attrgetter("start")
_POSITION = itemgetter(0)


class Piece(NamedTuple):
    """The span of text that becomes one chunk, before white space is trimmed."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Units:
    """The points where a cut may be made; the first and last are the start and end of the text.

    pos: the positions of the points.
    protected: the regions that fit the budget.
    """

    points: Sequence[Point]
    pos: Sequence[int]
    protected: SpanSet

    def at(self, pos: int) -> int:
        """Return the first unit that begins at or after ``pos``."""
        return bisect_left(self.pos, pos)

    def edges(self, cuts: Sequence[int]) -> Sequence[Point]:
        """Return the points at the ``cuts``, which exclude the start and end of the text."""
        if len(cuts) == len(self.pos) - 2:
            return self.points[1:-1]
        return [self.points[self.at(cut)] for cut in cuts]


class UnitFinder:
    """Finds the units of a text when they are needed.

    Each section begins at the first allowed cut at or after the headings right above it. A wrapper
    or a user's region that fits is not cut at the sections inside it.
    """

    def __init__(self, structure: Structure, costs: Costs, divider: Divider) -> None:
        self._structure = structure
        self._costs = costs
        self._divider = divider
        self._headings = HeadingsAbove(costs, structure)
        self._found: list[Units] = []
        self._starts: list[int] = []
        self.sections = self._find_sections()

    def _find_sections(self) -> Sections:
        structure, costs = self._structure, self._costs
        starts, size = _run_starts(structure, costs), len(structure.text)
        # A page whose front matter is left out begins after that.
        apart = {structure.headings.run_at(start): start for start, _ in costs.apart}
        # No section begins inside the region of a block that is no wrapper.
        wrappers = SpanSet(structure.analysis.wrappers)
        inside = any(wrappers.start(pos) < pos or structure.is_nested(pos) for pos in starts[1:])
        if structure.complete or (inside and structure.regions):
            protected = self._protected
            places = [*map(_POSITION, _points(self._points, protected, costs.dropped, size)), size]
            starts = [
                start if run in apart else _first_outside(structure, protected, places, start)
                for run, start in enumerate(starts)
            ]
        return Sections(structure.headings, [*starts, size], apart)

    @cached_property
    def _protected(self) -> SpanSet:
        """The regions that fit the budget."""
        return _protected(self._structure, self._headings, self._structure.regions)

    @cached_property
    def _regions(self) -> Sequence[ProtectedRegion]:
        """The protected regions, and the opaque data that is kept whole, sorted by start."""
        kept = [ProtectedRegion(*run, "opaque") for run in self._costs.kept]
        regions = self._structure.regions
        return sorted([*regions, *kept], key=_START) if kept else regions

    @cached_property
    def _points(self) -> Sequence[Point]:
        """The points where a cut may fall, unless a region that fits contains it."""
        structure, points = self._structure, self._structure.points
        if structure.analysis.extended:
            points = _with_region_edges(structure, self._protected, points)
            points = [*_outside_inline(structure, self._costs, self._protected, points)]
        return points

    def between(self, start: int, end: int) -> Units:
        """Return the units of ``text[start:end]``, a section or a span of its own text."""
        units = self._units(start, end)
        self._found.append(units)
        self._starts.append(start)
        return units

    def at(self, cut: int) -> Units:
        """Return the units, found earlier by :meth:`between`, of the text around ``cut``."""
        return self._found[bisect_right(self._starts, cut) - 1]

    def edges(self, cuts: Sequence[int]) -> Iterator[Point]:
        """Yield the point at each of the ``cuts``. If a section begins there, the depth is 0."""
        points = self._points
        for cut in cuts:
            if self.sections.begins(cut):
                point = points[bisect_left(points, cut, key=_POSITION)]
                yield point._replace(depth=0) if point.depth else point
            else:
                yield from self.at(cut).edges([cut])

    def _units(self, start: int, end: int) -> Units:
        structure, costs, headings = self._structure, self._costs, self._headings
        regions = self._regions
        to = (bisect_left(regions, pos, key=_START) for pos in (start, end))
        protected = _protected(structure, headings, regions[slice(*to)])
        points = _points(self._points, protected, start, end)
        # Of several points between headings and the text below, the last is the deepest.
        points = [
            point._replace(score=-math.inf, depth=number)
            if (number := structure.headed.number(point.pos))
            else point
            for point in points
        ]
        points.append(Point(end, 0.0, "", 0))
        points = sorted(_divided(costs, self._divider, headings, protected, points), key=_POSITION)
        return Units(points, [*map(_POSITION, points)], protected)


def _run_starts(structure: Structure, costs: Costs) -> list[int]:
    """Return the start of each run.

    The headings right before a run, which have no text of their own, are moved to the run.
    """
    page_at, runs, starts = structure.headings.page_at, structure.headings.runs, [costs.dropped]
    for number, run in enumerate(runs[1:], 1):
        start, before = run.start, runs[number - 1].start
        # A wrapper ends before the blank lines after it.
        if run.first != number:
            start = structure.next_leaf(start)
        text = structure.has_text(before, start)
        start = structure.headings_above(start, before) if text else starts[-1]
        starts.append(max(start, costs.resumed[page_at(run.start).number]))
    # A later run never begins before an earlier one.
    return [*accumulate(reversed(starts), min)][::-1]


def _points(points: Sequence[Point], protected: SpanSet, start: int, end: int) -> list[Point]:
    """Return the points in ``[start, end)`` that are not inside a protected region that fits."""
    slot = bisect_left(points, start, key=_POSITION)
    points = points[slot : bisect_left(points, end, slot, key=_POSITION)]
    if not points or points[0].pos > start:
        points = [Point(start, 0.0, ""), *points]
    return _outside(protected, [points[0]._replace(score=0.0, kind=""), *points[1:]])


def _outside(spans: SpanSet, points: Sequence[Point]) -> list[Point]:
    """Return the sorted ``points`` that are not inside any of the ``spans``."""
    kept: list[Point] = []
    at = 0
    for first, last in spans:
        before = bisect_right(points, first, at, key=_POSITION)
        kept += points[at:before]
        at = bisect_left(points, last, before, key=_POSITION)
    return [*kept, *points[at:]]


def _first_outside(
    structure: Structure, protected: SpanSet, places: Sequence[int], start: int
) -> int:
    """Return the first of the ``places`` at or after ``start``, where a section may begin.

    If it is right below a heading in a protected region, the section begins with the region.
    """
    place = places[bisect_left(places, start)]
    below = structure.headed.at(place)
    if below is None or below.headings[-1] < start or protected.start(start) == start:
        return place
    return structure.headings_above(protected.start(start))


def _divided(
    costs: Costs,
    divider: Divider,
    headings: HeadingsAbove,
    protected: SpanSet,
    points: Sequence[Point],
) -> Iterator[Point]:
    """Yield the ``points``, and the cuts inside the units between them that do not fit.

    A unit has to fit together with the headings right above it, and its first sentence together
    with the last sentence of a lead-in. The positions are not sorted.
    """
    # The start of the text that must not be separated from the unit.
    group = points[0].pos
    for point, following in pairwise(points):
        start, end = point.pos, following.pos
        if point.score >= 0:
            group = start
        above = headings.above(start)
        # A region that is not cut may end with a heading, and have others right above it.
        region = protected.start(above.first)
        above = above._replace(first=headings.above(region).start(region))
        cuts: Sequence[Point] = ()
        if not costs.is_within(above.start(start), end):
            if group < start > above.word_end:
                above = divider.above_code(group, point)
            cuts = divider.cuts(protected, above, start, end)
        if group < start and not costs.is_within(group, end):
            cuts = divider.cuts_below(group, protected, point, end, cuts)
        yield point
        yield from cuts
        group = max((cut.pos for cut in cuts if cut.score >= 0), default=group)
    yield points[-1]


def _protected(
    structure: Structure, headings: HeadingsAbove, regions: Sequence[ProtectedRegion]
) -> SpanSet:
    """Return the protected regions that fit the budget; no cut falls inside them.

    A region has to fit together with the headings right above it. A block that crosses a user's
    region or a tool call is dropped; blocks never cross each other. If two other regions cross and
    do not fit together, the later one is dropped.
    """
    fits = headings.fits
    foreign = [region for region in regions if not structure.is_block(region.kind)]
    if not foreign:
        return SpanSet(_uncrossed(regions, fits))
    first = SpanSet(_uncrossed(foreign, fits))
    blocks = _uncrossed([region for region in regions if structure.is_block(region.kind)], fits)
    return SpanSet([*first, *(span for span in blocks if not first.crosses(*span))])


def _uncrossed(
    regions: Sequence[ProtectedRegion], fits: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sorted ``regions`` that fit.

    If two regions cross and their union does not fit, the later one is skipped.
    """
    first = last = 0
    for region in regions:
        start, end = region.start, region.end
        if end <= last or not fits(start, end):
            continue
        if start >= last:
            first = start
        elif not fits(first, end):
            continue
        last = end
        yield start, end


def _with_region_edges(
    structure: Structure, protected: SpanSet, points: Sequence[Point]
) -> list[Point]:
    """Return the ``points``, and points at the edges of regions that span several leaves.

    Only heuristics and tool calls create such regions. Every unit must belong to one leaf or to one
    region.
    """
    score = structure.line_score
    known = {point.pos: point for point in points}
    for start, end in protected:
        leaf, last = structure.leaf_around(start), structure.leaf_around(end)
        if leaf is not None and end <= leaf.end:
            continue
        edges: list[int] = []
        if leaf is None or leaf.start < start:
            edges.append(start)
        if last is not None and not is_blank(structure.text[end : last.end]):
            edges.append(end)
        for pos in edges:
            point = known.get(pos) or Point(pos, -math.inf, "line")
            if score > point.score:
                known[pos] = point._replace(score=score, kind="line")
    return [known[pos] for pos in sorted(known)]


def _outside_inline(
    structure: Structure, costs: Costs, protected: SpanSet, points: Iterable[Point]
) -> Iterator[Point]:
    """Yield the sorted ``points`` that are not inside a link, inline code or grapheme cluster."""
    known: Block | None = None
    spans = SpanSet(())
    for point in points:
        leaf = structure.leaf_around(point.pos)
        if leaf is not None and leaf is not known:
            known = leaf
            spans = blocked_in(
                structure, costs, protected, leaf, leaf.end, above=NOTHING_ABOVE
            ).spans
        if leaf is None or spans.end(point.pos) == point.pos:
            yield point
