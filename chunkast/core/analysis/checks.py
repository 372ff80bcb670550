"""Checks of the patches that a document's heuristics return.

A position inside a grapheme cluster is valid, but no cut ever falls there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final, TypeVar

from chunkast.core.analysis.context import DocumentDraft, DocumentHeuristic
from chunkast.core.analysis.points import merge_break_points
from chunkast.errors import HeuristicError
from chunkast.heuristics import Patch
from chunkast.markdown import CONSTRUCTS
from chunkast.model import (
    Analysis,
    Annotation,
    Block,
    BreakPoint,
    Heading,
    ProtectedRegion,
    Replacement,
)
from chunkast.text.graphemes import joined_spans
from chunkast.text.spans import SpanSet

__all__ = ("check_patch", "in_order")

_Span = TypeVar("_Span", Heading, ProtectedRegion)

_LINE_END = re.compile(r"[\r\n]")
_KEEP_POSITIONS: Final = "have the text's length, and line ends in the same places"
_LEVELS: Final = range(1, 7)
# Trees are walked recursively.
_DEEPEST: Final = 100
# Keys of metadata that are not lists of annotations.
_RESERVED: Final = frozenset({"front_matter", "cell", "cell_type", "cell_id"})


def check_patch(draft: DocumentDraft, patch: Patch[Analysis], heuristic: DocumentHeuristic) -> None:
    """Raise ``HeuristicError`` for the first invalid value in a patch."""
    text, value = draft.original, patch.value
    if patch.source is not None and not _is_mask(patch.source, text):
        raise HeuristicError(heuristic.id, "source", patch.source, f"must {_KEEP_POSITIONS}")
    if value is None:
        return
    if not isinstance(value, Analysis) or value.text != text:
        raise HeuristicError(heuristic.id, "value", value, "must be an Analysis of the same text")
    for name, check in _CHECKS.items():
        given = getattr(value, name)
        if draft.value is None or given is not getattr(draft.value, name):
            for field, wrong, allowed in check(name, given, text):
                raise HeuristicError(heuristic.id, field, wrong, f"must {allowed}")


# Yields the field, the value and the allowed values for each invalid value.
_Check = Callable[[str, Any, str], Iterator[tuple[str, object, str]]]


def _each(is_right: Callable[[Any, str], bool], allowed: str) -> _Check:
    """Return a check of each item of a tuple; ``is_right`` takes an item and the text."""

    def check(name: str, given: Any, text: str) -> Iterator[tuple[str, object, str]]:
        if not isinstance(given, tuple):
            yield name, given, "be a tuple"
            return
        for number, item in enumerate(given):
            if not is_right(item, text):
                yield f"{name}[{number}]", item, allowed

    return check


def _whole(is_right: Callable[[Any, str], bool], allowed: str) -> _Check:
    """Return a check of a value as a whole; ``is_right`` takes the value and the text."""

    def check(name: str, given: Any, text: str) -> Iterator[tuple[str, object, str]]:
        if not is_right(given, text):
            yield name, given, allowed

    return check


def _is_mask(source: str, original: str) -> bool:
    return len(source) == len(original) and _line_ends(source) == _line_ends(original)


def _line_ends(text: str) -> list[tuple[int, str]]:
    return [(match.start(), match.group()) for match in _LINE_END.finditer(text)]


def _is_place(pos: Any, text: str) -> bool:
    return type(pos) is int and 0 <= pos <= len(text)


def _is_span(span: Any, text: str) -> bool:
    start, end = span.start, span.end
    return _is_place(start, text) and _is_place(end, text) and bool(start < end)


def _is_point(point: Any, text: str) -> bool:
    if not (isinstance(point, BreakPoint) and _is_place(point.pos, text)):
        return False
    try:
        return math.isfinite(point.score) and isinstance(point.kind, str)
    except (OverflowError, TypeError):
        return False


def _is_region(region: Any, text: str) -> bool:
    is_one = isinstance(region, ProtectedRegion) and isinstance(region.kind, str)
    return is_one and _is_span(region, text)


def _is_heading(heading: Any, text: str) -> bool:
    return (
        isinstance(heading, Heading)
        and _is_span(heading, text)
        and type(heading.level) is int
        and heading.level in _LEVELS
        and isinstance(heading.title, str)
        and heading.path != ()
        and _are_strings(heading.path)
    )


def _is_annotation(mark: Any, text: str) -> bool:
    return (
        isinstance(mark, Annotation)
        and _is_span(mark, text)
        and isinstance(mark.key, str)
        and mark.key not in _RESERVED
        and _is_json(mark.value)
    )


def _is_replacement(span: Any, text: str) -> bool:
    is_one = isinstance(span, Replacement) and isinstance(span.text, str)
    return is_one and _is_span(span, text)


def _is_pair(pair: Any, text: str) -> bool:
    is_one = isinstance(pair, tuple) and len(pair) == 2 and _is_place(pair[0], text)
    return is_one and type(pair[1]) is int and pair[1] > 0


def _is_tag(pair: Any, text: str) -> bool:
    return _is_pair(pair, text) and bool(pair[0] < pair[1] <= len(text))


def _are_pages(pages: Any, text: str) -> bool:
    pairs = isinstance(pages, tuple) and all(_is_pair(pair, text) for pair in pages)
    return pairs and list(pages) == sorted(pages)


def _is_masked(masked: Any, text: str) -> bool:
    return isinstance(masked, str) and (masked == "" or _is_mask(masked, text))


def _are_strings(values: Any) -> bool:
    return isinstance(values, (tuple, frozenset)) and all(isinstance(v, str) for v in values)


def _is_json(value: Any) -> bool:
    """Return true if a value survives a round trip through JSON unchanged."""
    try:
        found: Any = json.loads(json.dumps(value, allow_nan=False))
        return bool(found == value)
    except (TypeError, ValueError, RecursionError):
        return False


def _is_tree(tree: Any, text: str) -> bool:
    """Return true if the leaves tile the text and every block is valid."""
    at = 0
    waiting: list[tuple[Any, int]] = [(tree, 0)]
    while waiting:
        block, depth = waiting.pop()
        if depth > _DEEPEST or not _is_block(block):
            return False
        if block.children:
            edges = block.children[0].start, block.children[-1].end
            if edges != (block.start, block.end):
                return False
            waiting.extend((child, depth + 1) for child in reversed(block.children))
        elif block.start != at or block.end <= at < len(text):
            return False
        else:
            at = block.end
    return at == len(text)


def _is_block(block: Any) -> bool:
    return (
        isinstance(block, Block)
        and block.kind in CONSTRUCTS
        and type(block.start) is type(block.end) is type(block.level) is int
        and isinstance(block.children, tuple)
        and all(isinstance(child, Block) for child in block.children)
        and (block.level in _LEVELS if CONSTRUCTS[block.kind].section else block.level >= 0)
        and isinstance(block.content, str)
        and isinstance(block.info, str)
    )


# Field of an analysis -> its check.
_CHECKS: Final[Mapping[str, _Check]] = {
    "blocks": _whole(_is_tree, "be a tree of known blocks whose leaves tile the text"),
    "break_points": _each(_is_point, "be a BreakPoint in the text with a finite score"),
    "regions": _each(_is_region, "be a ProtectedRegion in the text"),
    "headings": _each(_is_heading, "be a Heading in the text, of level 1 to 6, with titles"),
    "annotations": _each(_is_annotation, "be an Annotation in the text with a free key and JSON"),
    "replacements": _each(_is_replacement, "be a Replacement in the text with a str"),
    "tags": _each(_is_tag, "be a span (start, end) in the text"),
    "pages": _whole(_are_pages, "be pairs of a position and a page number, sorted"),
    "masked": _whole(_is_masked, f"be empty, or {_KEEP_POSITIONS}"),
    "front_matter": _whole(
        lambda given, text: isinstance(given, str) and text.startswith(given),
        "be the beginning of the text",
    ),
    "front_matter_data": _whole(
        lambda given, _text: given is None or (isinstance(given, Mapping) and _is_json({**given})),
        "be JSON data",
    ),
    **{
        name: _whole(lambda given, _text: _are_strings(given), "be strings")
        for name in ("references", "footnotes", "notes", "path", "extensions")
    },
}


def in_order(analysis: Analysis) -> Analysis:
    """Return ``analysis`` with its fields sorted, since heuristics may have added to them.

    Points inside a grapheme cluster are left out, and spans are extended to whole clusters.
    """
    clusters = SpanSet(joined_spans(analysis.text, 0, len(analysis.text)))

    def extended(span: _Span) -> _Span:
        start, end = clusters.start(span.start), clusters.end(span.end)
        return replace(span, start=start, end=end)

    points = (point for point in analysis.break_points if clusters.end(point.pos) == point.pos)
    regions = map(extended, analysis.regions)
    # Of several headings at one position the first is kept.
    first = {heading.start: heading for heading in map(extended, reversed(analysis.headings))}
    return replace(
        analysis,
        break_points=tuple(merge_break_points(points)),
        regions=tuple(sorted(regions, key=lambda region: (region.start, -region.end))),
        headings=tuple(first[start] for start in sorted(first)),
        annotations=tuple(sorted(analysis.annotations, key=attrgetter("start", "end"))),
        replacements=tuple(sorted(analysis.replacements, key=attrgetter("start", "end"))),
        extended=True,
    )
