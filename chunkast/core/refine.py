"""From the break points of an analysis to those between which every unit fits.

Points inside protected regions that fit are left out; blocks larger than the budget are
divided.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from chunkast.core.analysis.points import merge_break_points
from chunkast.core.divide import Divider, Frame
from chunkast.core.document import Document
from chunkast.core.layout import TRIMMED
from chunkast.markdown import CONSTRUCTS
from chunkast.model import Block, BreakPoint, Replacement
from chunkast.text.source_map import positions_in
from chunkast.text.spans import SpanSet
from chunkast.text.white_space import is_blank
from chunkast.tokens import NOT_EXACT

__all__ = ("Refined", "refine")


@dataclass(frozen=True, slots=True)
class Refined:
    """The places where a document may be cut, sorted, and the frames of its divided blocks.

    ``replaced`` are the opaque runs that are kept.
    """

    points: list[BreakPoint]
    frames: list[Frame]
    replaced: list[Replacement] = field(default_factory=list)


def refine(
    document: Document, points: Sequence[BreakPoint], divider: Divider, *, extended: bool
) -> Refined:
    """The places where ``document`` may be cut, out of the sorted ``points`` of its analysis.

    ``extended``: there may be points and regions that no block of its tree has.
    """
    found = _outside(points, document.protected)
    starts = document.leaves.starts
    if starts and starts[0]:
        # Blank lines before the first block are a unit of their own.
        found.insert(0, BreakPoint(starts[0], 0.0, "paragraph"))
    if extended:
        found = merge_break_points(found, _region_edges(document))
        found = [point for point in found if _cuts_no_inline(document, divider, point.pos)]
    return _divided(document, found, divider)


def _outside(points: Sequence[BreakPoint], protected: SpanSet) -> list[BreakPoint]:
    """The sorted ``points`` that lie strictly inside none of the spans."""
    positions = [point.pos for point in points]
    kept: list[BreakPoint] = []
    at = 0
    for start, end in protected:
        first = bisect_right(positions, start, at)
        last = bisect_left(positions, end, first)
        if first < last:
            kept.extend(points[at:first])
            at = last
    kept.extend(points[at:])
    return kept


def _region_edges(document: Document) -> Iterator[BreakPoint]:
    """Points at the edges of protected regions that begin in one leaf and end in another.

    Only a user's heuristic or a tool call makes such regions; what lies between two
    points has to belong to one leaf or to one region.
    """
    leaves = document.leaves
    score = document.config.score_table["line"]
    for start, end in document.protected:
        leaf, last = leaves.around(start), leaves.around(end)
        if leaf is not None and end <= leaf.end:
            continue
        if leaf is None or leaf.start < start:
            yield BreakPoint(start, score, "line")
        if last is not None and not is_blank(document.text[end : last.end]):
            yield BreakPoint(end, score, "line")


def _cuts_no_inline(document: Document, divider: Divider, pos: int) -> bool:
    """Whether ``pos``, where a user's heuristic may have put a point, cuts nothing that stays whole."""
    leaf = document.leaves.around(pos)
    return leaf is None or divider.whole_spans(leaf).end(pos) == pos


def _divided(document: Document, points: list[BreakPoint], divider: Divider) -> Refined:
    """``points`` and those inside blocks that are larger than the budget.

    A paragraph that would fit alone, but not with the heading before it, divides at
    its sentences, so that the heading keeps company.
    """
    leaves, measure, protected = document.leaves, document.measure, document.protected
    keep = positions_in(document.text, len(points))
    edges = keep((0, *[point.pos for point in points], len(document.text)))
    scores = (0.0, *[point.score for point in points])
    extra: list[BreakPoint] = []
    frames: list[Frame] = []
    replaced: list[Replacement] = []
    for first, unit in _oversize_candidates(document, edges, scores):
        start, end = max(edges[unit], document.dropped), edges[unit + 1]
        if start >= end:
            continue
        leaf = leaves.at(start)
        if not measure.fits(start, end):
            leaf = leaf or leaves.around(start) or Block("blank", start, end)
            body_end = max(leaf.end, protected.end(start + 1))
            division = divider.divide(leaf, start, body_end, end)
            extra += division.points
            replaced += (Replacement(r.start, r.end, r.placeholder) for r in division.replaced)
            frames += division.frames
        elif (
            first < unit
            and leaf is not None
            and document.config.oversize == "split"
            and CONSTRUCTS[leaf.kind].plain
            and leaves.kinds(start, start + 1) == ("paragraph",)
            and measure.is_above(edges[first], end)
        ):
            extra += divider.sentence_points(leaf, start, end)
    if extra:
        points = sorted([*points, *extra], key=lambda point: point.pos)
    return Refined(points, frames, replaced)


def _oversize_candidates(
    document: Document, edges: Sequence[int], scores: Iterable[float]
) -> Iterator[tuple[int, int]]:
    """The numbers of those spans between ``edges`` that may be too large, in order.

    Before each the number of the first span that it may be too large with: only points
    of negative score are between them.
    """
    index = document.index
    before = positions_in(document.text, len(edges))(index.exact.each(edges))
    known = NOT_EXACT not in before and index.additive
    limit = document.config.budget - TRIMMED
    first = 0
    for unit, score in enumerate(scores):
        if score >= 0:
            first = unit
        if not known or before[unit + 1] - before[first] > limit:
            yield first, unit
