"""Divide blocks that exceed the budget until every unit fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from chunkast.analysis.syntax import fence_points
from chunkast.code import Outliner
from chunkast.cutting.document import Document
from chunkast.cutting.frames import Frame, frames_of
from chunkast.cutting.inside import inside_of, sentences_inside
from chunkast.cutting.kept_opaque import kept_span, runs_above_budget
from chunkast.cutting.levels import Body, Level, grapheme_levels, levels_of
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block, BreakPoint, Replacement
from chunkast.text.opaque import OpaqueRun
from chunkast.text.source_map import line_starts
from chunkast.text.spans import SpanSet, content_end
from chunkast.text.white_space import is_blank

__all__ = ("Division", "divide")


@dataclass(frozen=True, slots=True)
class Division:
    """The unsorted break points inside blocks over budget, and details of the resulting parts.

    ``frames`` make the parts self-contained. ``replaced`` has the placeholders of opaque runs that
    are kept whole, and ``split`` the opaque runs that were cut.
    """

    points: list[BreakPoint] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    replaced: list[Replacement] = field(default_factory=list)
    split: list[OpaqueRun] = field(default_factory=list)


def divide(document: Document, points: Sequence[BreakPoint]) -> Division:
    """Return the cuts inside units that exceed the budget.

    The sorted ``points`` separate the units. A paragraph that fits alone, but not together with the
    heading before it, is divided into sentences, so that no chunk ends with a heading.
    """
    division = Division()
    outliner = Outliner(least=document.config.budget)
    edges = [document.dropped, *(p.pos for p in points if p.pos > document.dropped)]
    scores = [0.0, *(p.score for p in points if p.pos > document.dropped)]
    first = 0
    for (start, end), score in zip(pairwise([*edges, len(document.text)]), scores, strict=True):
        if score >= 0:
            first = start
        if start >= end:
            continue
        if not document.fits(start, end):
            leaf = document.leaves.around(start) or Block("blank", start, end)
            _divide_unit(document, leaf, start, end, outliner=outliner, division=division)
        elif first < start:
            division.points.extend(_sentences_below_heading(document, first, start, end))
    return division


def _sentences_below_heading(
    document: Document, first: int, start: int, end: int
) -> Iterator[BreakPoint]:
    """Yield the points between the sentences of a top-level paragraph at ``start``.

    Yields nothing if the paragraph fits together with the text before it, from ``first`` on.
    """
    leaf = document.leaves.at(start)
    if (
        leaf is not None
        and document.config.oversize == "split"
        and CONSTRUCTS[leaf.kind].plain
        and document.leaves.kinds(start, start + 1) == ("paragraph",)
        and not document.fits(first, end)
    ):
        score = document.config.score_table["sentence"]
        for pos in sentences_inside(document, leaf):
            yield BreakPoint(pos, score, "sentence")


def _divide_unit(
    document: Document,
    leaf: Block,
    start: int,
    end: int,
    *,
    outliner: Outliner,
    division: Division,
) -> None:
    """Add the cuts inside the unit ``[start, end)``, which begins with ``leaf``, to ``division``.

    White space, and lines with only a container's markers, may follow the leaf or the protected
    region that it opens.
    """
    body_end = max(leaf.end, document.protected.end(start + 1))
    tail = _tail(document, body_end, end)
    config = document.config
    runs = runs_above_budget(document, start, tail)
    if config.oversize == "keep":
        if config.opaque == "keep":
            division.replaced.extend(Replacement(r.start, r.end, r.placeholder) for r in runs)
        return
    inside = inside_of(document, leaf, end)
    syntax = fence_points(document.parsed, leaf, outliner, config.score_table)
    body = Body(document, leaf, inside.blocked, inside.sentences, inside.tables, syntax)
    if CONSTRUCTS[leaf.kind].fenced:
        opened = line_starts(document.text, leaf.start, leaf.end)[1]
        syntax = [item for item in syntax if item.point.pos != opened]
        body = replace(body, syntax=syntax, opened=opened)
    if config.opaque == "keep":
        body, kept = _keep(body, runs, start, tail)
        division.replaced.extend(Replacement(r.start, r.end, r.placeholder) for r in kept)
    else:
        division.split.extend(runs)
    points: list[BreakPoint] = []
    if tail < end:
        points.append(body.point(tail, "line"))
        points += _parts(body, tail, end, grapheme_levels(body))
    points += _parts(body, start, tail, levels_of(body))
    division.points.extend(points)
    if points:
        cuts = sorted(point.pos for point in points)
        division.frames.extend(frames_of(document.text, leaf, body.tables, cuts))


def _tail(document: Document, body_end: int, end: int) -> int:
    """Return the start of the text after a block's body, or ``end`` if there is none."""
    text = document.text
    if body_end >= end or (document.config.trim and is_blank(text[body_end:end])):
        return end
    at_start = text[body_end - 1] in "\r\n"
    return body_end if at_start else line_starts(text, body_end, end)[1]


def _keep(
    body: Body, runs: Iterable[OpaqueRun], start: int, end: int
) -> tuple[Body, list[OpaqueRun]]:
    """Return the body with no cuts inside ``runs`` that can be kept whole, and those runs."""
    kept: list[OpaqueRun] = []
    spans: list[tuple[int, int]] = []
    sentences = pairwise((body.leaf.start, *body.sentences, body.leaf.end))
    whole = SpanSet([*body.blocked, *(each for each in sentences if body.document.fits(*each))])
    for run in runs:
        span = kept_span(body.document, run, start, end, whole=whole)
        # Two runs never share the text around them.
        if span is not None and (not spans or span[0] >= spans[-1][1]):
            kept.append(run)
            spans.append(span)
    blocked = SpanSet([*body.blocked, *spans])
    return replace(body, blocked=blocked, kept=tuple(dict.fromkeys(chain(*spans)))), kept


def _parts(body: Body, start: int, end: int, levels: Sequence[Level]) -> Iterator[BreakPoint]:
    """Yield the points of the first level that has any, then the points inside its parts.

    Only parts over budget are divided further.
    """
    document = body.document
    if document.fits(start, end):
        return
    content = content_end(document.text, start, end)
    if not document.config.trim and start < content < end:
        yield from _without_space(body, start, content, end, levels)
        return
    if body.kept and start < content <= body.blocked.end(start + 1):
        return  # an opaque run that is kept whole
    for number, level in enumerate(levels, 1):
        points = [p for p in level(start, end) if start < p.pos < end and body.is_free(p.pos)]
        if points:
            yield from points
            for part in pairwise([start, *(point.pos for point in points), end]):
                yield from _parts(body, *part, levels[number:])
            return


def _without_space(
    body: Body, start: int, content: int, end: int, levels: Sequence[Level]
) -> Iterator[BreakPoint]:
    """Yield a cut at ``content``, before trailing white space, and the cuts on both sides of it.

    The first cut is at the next line start instead if the text before that line fits.
    """
    document = body.document
    following = line_starts(document.text, content, end)[1:-1]
    at = following[0] if following and document.fits(start, following[0]) else content
    yield body.point(at, "line")
    yield from _parts(body, start, at, levels)
    yield from _parts(body, at, end, grapheme_levels(body))
