"""The units that chunks are packed from, and the positions between them.

Unit ``i`` is ``text[pos[i]:pos[i + 1]]``: a leaf, a protected region, or a part of a block over
budget. ``(i, j)`` means the units from ``i`` up to, but not including, ``j``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from chunkast.analysis import INSIDE, Run, Sections, Stretch, Structure
from chunkast.config import ChunkConfig
from chunkast.cutting.blocked import blocked_in
from chunkast.cutting.costs import Costs
from chunkast.cutting.divide import Divider
from chunkast.cutting.kept_opaque import may_have_runs_above_budget
from chunkast.model import Block, BreakPoint, ProtectedRegion
from chunkast.text.spans import SpanSet
from chunkast.text.white_space import is_blank

__all__ = ("Bodies", "Piece", "Units")

_LINE: Final = "line"


class Piece(NamedTuple):
    """The span of the text that becomes one chunk, untrimmed."""

    start: int
    end: int


class _Point(NamedTuple):
    """A position where a cut may fall; ``leaf`` begins there, or is None."""

    pos: int
    score: float
    kind: str
    depth: int
    leaf: Block | None


@dataclass(frozen=True, slots=True)
class Units:
    """Positions where a cut may fall, each with the score and kind of its break point.

    The first and last positions are the start and end of the text to cut. ``depth`` has the number
    of containers that a cut at each position would divide. ``leaf`` has the leaf that begins at each
    position, or None. ``texts`` has the number of units before each position that contain more than
    headings and front matter. ``protected`` has the regions that fit the budget.
    """

    pos: Sequence[int]
    score: Sequence[float]
    kind: Sequence[str]
    depth: Sequence[int]
    leaf: Sequence[Block | None]
    texts: Sequence[int]
    protected: SpanSet

    def __len__(self) -> int:
        return len(self.pos) - 1

    def at(self, pos: int) -> int:
        """Return the first unit that begins at or after ``pos``."""
        return bisect_left(self.pos, pos)

    def has_text(self, start: int, end: int) -> bool:
        """Return whether ``[start, end)`` contains more than headings and front matter."""
        return self.texts[self.at(end)] > self.texts[self.at(start)]

    def edges(self, cuts: Sequence[int]) -> Iterator[tuple[float, int]]:
        """Yield the score and depth of each of the ``cuts``, some or all of the inner positions."""
        if len(cuts) == len(self.pos) - 2:
            return zip(self.score[1:-1], self.depth[1:-1], strict=True)
        slots = (self.at(cut) for cut in cuts)
        return ((self.score[slot], self.depth[slot]) for slot in slots)

    def part(self, start: int, end: int) -> Units:
        """Return the units in ``[start, end)``."""
        i, j = self.at(start), self.at(end)
        to = slice(i, j + 1)
        rows = self.score[to], self.kind[to], self.depth[to], self.leaf[to], self.texts[to]
        return Units(self.pos[to], *rows, self.protected)


class Bodies:
    """The units of the text that was cut, found on demand.

    ``whole`` has the units of the whole text if they are needed: where a user's points may be
    anywhere, for ``packing="fill"``, and where opaque data may be replaced, which must be known
    before sections are compared. ``sections`` begin at the first allowed cut at or after their
    headings; a wrapper that fits is not cut at the sections inside it.
    """

    def __init__(
        self, structure: Structure, config: ChunkConfig, costs: Costs, divider: Divider
    ) -> None:
        self._units_of = partial(units_of, structure, costs, divider)
        self._bodies: list[Units] = []
        self._starts: list[int] = []
        self.whole: Units | None = None
        headings, size = structure.headings, len(structure.text)
        if (
            config.packing == "fill"
            or structure.complete
            or (config.opaque == "keep" and may_have_runs_above_budget(costs))
        ):
            self.whole = self._units_of(costs.dropped, size)
            starts = [max(run.start, costs.dropped) for run in headings.runs]
            starts = [self.whole.pos[self.whole.at(start)] for start in (*starts, size)]
        else:
            starts = [*_run_starts(structure, costs, headings.runs), size]
        self.sections = Sections(headings, starts)

    def between(self, start: int, end: int) -> Units:
        """Return the units of ``text[start:end]``, which begins and ends with a section."""
        if self.whole is not None:
            return self.whole.part(start, end)
        units = self._units_of(start, end)
        self._bodies.append(units)
        self._starts.append(start)
        return units

    def at(self, cut: int) -> Units:
        """Return the units of the text that was cut at ``cut``."""
        if self.whole is not None:
            return self.whole
        return self._bodies[bisect_right(self._starts, cut) - 1]


def _run_starts(structure: Structure, costs: Costs, runs: Sequence[Run]) -> Iterator[int]:
    """Yield the first allowed cut at or after the start of each run."""
    fitting = SpanSet(
        [
            (start, end)
            for start, end in structure.analysis.wrappers
            if costs.is_within(start, end, costs.budget)
        ]
    )
    for number, run in enumerate(runs):
        start = fitting.end(run.start)
        # A wrapper ends before the blank lines after it.
        moved = start > run.start or run.first != number
        yield max(structure.next_leaf(start) if moved else start, costs.dropped)


def units_of(structure: Structure, costs: Costs, divider: Divider, start: int, end: int) -> Units:
    """Return the units of ``text[start:end]``, which begins and ends with a section."""
    stretch = structure.stretch(start, end)
    protected = _protected(structure, costs, stretch.regions)
    points = _points(structure, stretch, protected, start, end)
    if structure.extended:
        points = list(_outside_inline(structure, costs, protected, points))
    rows = list(_divided(structure, costs, divider, protected, [*points, _end(end)]))
    pos = [row.pos for row in rows]
    has_text = (_has_text(structure, row, at) for row, at in zip(rows, pos[1:], strict=False))
    return Units(
        pos,
        [row.score for row in rows],
        [row.kind for row in rows],
        [row.depth for row in rows],
        [row.leaf for row in rows],
        list(accumulate(has_text, initial=0)),
        protected,
    )


def _end(pos: int) -> _Point:
    return _Point(pos, 0.0, "", 0, None)


def _points(
    structure: Structure, stretch: Stretch, protected: SpanSet, start: int, end: int
) -> list[_Point]:
    """Return the points in ``[start, end)`` that are not inside a protected region that fits."""
    rows = zip(
        stretch.positions,
        stretch.scores,
        stretch.kinds,
        stretch.depths,
        stretch.leaves,
        strict=True,
    )
    points = [_Point(*row) for row in rows]
    places = stretch.positions
    if protected:
        kept: list[_Point] = []
        at = 0
        for first, last in protected:
            before = bisect_right(places, first, at)
            kept += points[at:before]
            at = bisect_left(places, last, before)
        points = kept + points[at:]
    if structure.extended:
        points = _with_region_edges(structure, protected, points)
    slot = bisect_right(points, start, key=_position)
    opening = points[slot - 1] if slot and points[slot - 1].pos == start else None
    begin = _Point(start, 0.0, "", *(opening[3:] if opening else (INSIDE, None)))
    return [begin, *points[slot : bisect_left(points, end, key=_position)]]


def _position(point: _Point) -> int:
    return point.pos


def _divided(
    structure: Structure,
    costs: Costs,
    divider: Divider,
    protected: SpanSet,
    points: Sequence[_Point],
) -> Iterator[_Point]:
    """Yield the ``points`` and the cuts inside the units between them that exceed the budget."""
    budget, first = costs.budget, points[0].pos
    for point, following in pairwise(points):
        yield point
        start, end = point.pos, following.pos
        if point.score >= 0:
            first = start
        if not costs.is_within(start, end, budget):
            leaf = structure.leaf_around(start) or Block("blank", start, end)
            cuts = divider.cuts(leaf, protected, start, end)
            if costs.replaced:
                _keep_whole(costs, first, point, [*cuts, BreakPoint(end, 0.0, "")])
        elif first < start:
            cuts = divider.sentences(point.leaf, protected, first, start, end)
        else:
            continue
        for cut in cuts:
            yield _Point(cut.pos, cut.score, cut.kind, INSIDE, None)
    yield points[-1]


def _keep_whole(costs: Costs, first: int, point: _Point, cuts: Sequence[BreakPoint]) -> None:
    """Tell ``costs`` which units between ``cuts`` still exceed the budget.

    The text from ``first`` on introduces the unit at ``point``.
    """
    start = point.pos
    for cut in cuts:
        if not costs.is_within(start, cut.pos, costs.budget):
            costs.keep((start, cut.pos), first)
        start = cut.pos
        if cut.score >= 0:
            first = start


def _has_text(structure: Structure, row: _Point, end: int) -> bool:
    leaf = row.leaf
    if leaf is None or structure.row(leaf).heads or leaf.kind == "front-matter":
        return not is_blank(structure.text[leaf.end if leaf else row.pos : end])
    return True


def _protected(structure: Structure, costs: Costs, regions: Sequence[ProtectedRegion]) -> SpanSet:
    """Return the protected regions that fit the budget; no cut falls inside them.

    A block that crosses a user's region or a tool call is dropped; blocks never cross each other.
    If two other regions cross and do not fit together, the later one is dropped.
    """

    def fits(start: int, end: int) -> bool:
        return costs.is_within(start, end, costs.budget)

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
    structure: Structure, protected: SpanSet, points: Sequence[_Point]
) -> list[_Point]:
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
            point = known.get(pos)
            if point is None:
                known[pos] = _Point(pos, score, _LINE, INSIDE, None)
            elif score > point.score:
                known[pos] = point._replace(score=score, kind=_LINE)
    return [known[pos] for pos in sorted(known)]


def _outside_inline(
    structure: Structure, costs: Costs, protected: SpanSet, points: Iterable[_Point]
) -> Iterator[_Point]:
    """Yield the sorted ``points`` that are not inside a link, inline code or grapheme cluster."""
    known: Block | None = None
    spans = SpanSet(())
    for point in points:
        leaf = structure.leaf_around(point.pos)
        if leaf is not None and leaf is not known:
            known = leaf
            spans = blocked_in(structure, costs, protected, leaf, leaf.end).spans
        if leaf is None or spans.end(point.pos) == point.pos:
            yield point
