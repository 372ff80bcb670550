"""Checks of what the heuristics of a document return."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chunkast.core.analysis.context import DocumentDraft, DocumentHeuristic
from chunkast.core.analysis.points import merge_break_points
from chunkast.heuristics import Patch
from chunkast.model import Analysis, Annotation, Block, BreakPoint, ProtectedRegion, Replacement
from chunkast.text.graphemes import joined_spans
from chunkast.text.spans import SpanSet

__all__ = ("checked", "mask_problem", "patch_problem")

_LINE_END = re.compile(r"[\r\n]")


def patch_problem(
    draft: DocumentDraft, patch: Patch[Analysis], _heuristic: DocumentHeuristic
) -> str | None:
    """Why a patch cannot be applied: its text would move positions, or its value is invalid."""
    if patch.source is not None:
        problem = mask_problem(draft.original, patch.source)
        if problem is not None:
            return problem
    value: Any = patch.value
    if value is None:
        return None
    if not isinstance(value, Analysis):
        return f"gave {type(value).__name__} as a value; it must be an Analysis"
    if value.text != draft.original:
        return "gave the analysis of another text"
    known = None if draft.value is None else draft.value.blocks
    if value.blocks is not known and not _tiles(value.blocks, len(draft.original)):
        return "gave blocks whose leaves do not tile the text"
    return None


def mask_problem(original: str, source: str) -> str | None:
    """Return how a mask moves positions; ``None`` if it does not."""
    if len(source) != len(original):
        return f"changed the text's length from {len(original)} to {len(source)} characters"
    if _line_ends(source) != _line_ends(original):
        return "changed the text's lines; line ends must stay where they are"
    return None


def _line_ends(text: str) -> list[tuple[int, str]]:
    return [(match.start(), match.group()) for match in _LINE_END.finditer(text)]


def _tiles(tree: Block, length: int) -> bool:
    at = 0
    for leaf in tree.leaves():
        if leaf.start != at or leaf.end < at:
            return False
        at = leaf.end
    return at == length


def checked(analysis: Analysis, report: Callable[[str], object]) -> Analysis:
    """The analysis with all points, regions, annotations and replacements sorted.

    Those outside the text or inside a grapheme cluster are left out and reported.
    """
    length = len(analysis.text)
    clusters = SpanSet(joined_spans(analysis.text, 0, length))

    def is_place(pos: Any) -> bool:
        return isinstance(pos, int) and 0 <= pos <= length and clusters.end(pos) == pos

    def is_point(point: Any) -> bool:
        return (
            isinstance(point, BreakPoint)
            and is_place(point.pos)
            and isinstance(point.score, (int, float))
            and math.isfinite(point.score)
        )

    def is_span(span: Any) -> bool:
        return (
            isinstance(span, (ProtectedRegion, Annotation, Replacement))
            and is_place(span.start)
            and is_place(span.end)
            and span.start < span.end
            and isinstance(getattr(span, "text", ""), str)
        )

    points = [point for point in analysis.break_points if is_point(point)]
    regions = [region for region in analysis.regions if is_span(region)]
    annotations = [mark for mark in analysis.annotations if is_span(mark)]
    replacements = [span for span in analysis.replacements if is_span(span)]
    notes = analysis.notes
    for name, kept, given in (
        ("break points", points, analysis.break_points),
        ("regions", regions, analysis.regions),
        ("annotations", annotations, analysis.annotations),
        ("replacements", replacements, analysis.replacements),
    ):
        if len(kept) < len(given):
            note = (
                f"{len(given) - len(kept)} {name} were left out: outside the text, "
                "inside a grapheme cluster, or not what they should be"
            )
            notes = (*notes, note)
            report(note)
    return replace(
        analysis,
        break_points=tuple(merge_break_points(points)),
        regions=tuple(sorted(regions, key=lambda region: (region.start, -region.end))),
        annotations=tuple(sorted(annotations, key=lambda mark: (mark.start, mark.end))),
        replacements=tuple(sorted(replacements, key=lambda span: (span.start, span.end))),
        notes=notes,
        extended=True,
    )
