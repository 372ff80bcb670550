"""Checks of the patches that a document's heuristics return.

A patch with an invalid value is dropped, and the reason is reported. If a position is invalid only
because it falls inside a grapheme cluster, just that point or span is dropped.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from chunkast.core.analysis.context import DocumentDraft, DocumentHeuristic
from chunkast.core.analysis.points import merge_break_points
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

__all__ = ("checked", "mask_problem", "patch_problem")

_LINE_END = re.compile(r"[\r\n]")
_LEVELS: Final = range(1, 7)
# Trees are walked recursively.
_DEEPEST: Final = 100
# Keys of metadata that are not lists of annotations.
_RESERVED: Final = frozenset({"front_matter", "cell", "cell_type", "cell_id"})


def patch_problem(
    draft: DocumentDraft, patch: Patch[Analysis], _heuristic: DocumentHeuristic
) -> str | None:
    """Return the reason why a patch cannot be applied, or None if it can be applied."""
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
    for name, check in _CHECKS.items():
        given = getattr(value, name)
        if draft.value is None or given is not getattr(draft.value, name):
            problem = check(name, given, value.text)
            if problem is not None:
                return problem
    return None


def mask_problem(original: str, source: str) -> str | None:
    """Return a description of how a mask moves positions, or None if it moves none."""
    if len(source) != len(original):
        return f"changed the text's length from {len(original)} to {len(source)} characters"
    if _line_ends(source) != _line_ends(original):
        return "changed the text's lines; line ends must stay where they are"
    return None


def _line_ends(text: str) -> list[tuple[int, str]]:
    return [(match.start(), match.group()) for match in _LINE_END.finditer(text)]


_Check = Callable[[str, Any, str], "str | None"]


def _each(is_right: Callable[[Any, int], bool], wanted: str) -> _Check:
    """Return a function that checks each item of a tuple.

    ``is_right`` takes an item and the text's length.
    """

    def check(name: str, given: Any, text: str) -> str | None:
        if not isinstance(given, tuple):
            return f"gave {name} of type {type(given).__name__}; they must be a tuple"
        for number, item in enumerate(given):
            if not is_right(item, len(text)):
                return f"gave {name}[{number}], which is not {wanted}"
        return None

    return check


def _whole(is_right: Callable[[Any, str], bool], wanted: str) -> _Check:
    """Return a function that checks a value as a whole.

    ``is_right`` takes the value and the text.
    """

    def check(name: str, given: Any, text: str) -> str | None:
        return None if is_right(given, text) else f"gave {name} that are not {wanted}"

    return check


def _is_place(pos: Any, length: int) -> bool:
    return type(pos) is int and 0 <= pos <= length


def _is_span(span: Any, length: int) -> bool:
    start, end = span.start, span.end
    return _is_place(start, length) and _is_place(end, length) and bool(start < end)


def _is_point(point: Any, length: int) -> bool:
    if not (isinstance(point, BreakPoint) and _is_place(point.pos, length)):
        return False
    try:
        return math.isfinite(point.score) and isinstance(point.kind, str)
    except (OverflowError, TypeError):
        return False


def _is_region(region: Any, length: int) -> bool:
    is_one = isinstance(region, ProtectedRegion) and isinstance(region.kind, str)
    return is_one and _is_span(region, length)


def _is_heading(heading: Any, length: int) -> bool:
    return (
        isinstance(heading, Heading)
        and _is_span(heading, length)
        and type(heading.level) is int
        and heading.level in _LEVELS
        and isinstance(heading.title, str)
        and heading.path != ()
        and _are_strings(heading.path)
    )


def _is_annotation(mark: Any, length: int) -> bool:
    return (
        isinstance(mark, Annotation)
        and _is_span(mark, length)
        and isinstance(mark.key, str)
        and mark.key not in _RESERVED
        and _is_json(mark.value)
    )


def _is_replacement(span: Any, length: int) -> bool:
    is_one = isinstance(span, Replacement) and isinstance(span.text, str)
    return is_one and _is_span(span, length)


def _is_pair(pair: Any, length: int) -> bool:
    is_one = isinstance(pair, tuple) and len(pair) == 2 and _is_place(pair[0], length)
    return is_one and type(pair[1]) is int and pair[1] > 0


def _is_tag(pair: Any, length: int) -> bool:
    return _is_pair(pair, length) and bool(pair[0] < pair[1] <= length)


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
    "blocks": _whole(_is_tree, "a tree of known blocks whose leaves tile the text"),
    "break_points": _each(_is_point, "a BreakPoint in the text with a finite score"),
    "regions": _each(_is_region, "a ProtectedRegion in the text"),
    "headings": _each(_is_heading, "a Heading in the text of level 1 to 6 with a path of titles"),
    "annotations": _each(_is_annotation, "an Annotation in the text with a free key and JSON data"),
    "replacements": _each(_is_replacement, "a Replacement in the text with a str"),
    "tags": _each(_is_tag, "a span (start, end) in the text"),
    "pages": _whole(
        lambda given, text: (
            isinstance(given, tuple)
            and all(_is_pair(pair, len(text)) for pair in given)
            and list(given) == sorted(given)
        ),
        "pairs of a position and a page number, sorted",
    ),
    "masked": _whole(
        lambda given, text: (
            isinstance(given, str) and (given == "" or mask_problem(text, given) is None)
        ),
        "a text with the same positions",
    ),
    "front_matter": _whole(
        lambda given, text: isinstance(given, str) and text.startswith(given),
        "the beginning of the text",
    ),
    "front_matter_data": _whole(
        lambda given, _text: given is None or (isinstance(given, Mapping) and _is_json({**given})),
        "JSON data",
    ),
    **{
        name: _whole(lambda given, _text: _are_strings(given), "strings")
        for name in ("references", "footnotes", "notes", "path", "extensions")
    },
}


def checked(analysis: Analysis, report: Callable[[str], object]) -> Analysis:
    """Return ``analysis`` with its fields sorted, since heuristics may have added to them.

    Points and spans with a position inside a grapheme cluster are removed and reported.
    """
    clusters = SpanSet(joined_spans(analysis.text, 0, len(analysis.text)))
    notes = analysis.notes

    def kept(name: str, *ends: str) -> list[Any]:
        nonlocal notes
        given = getattr(analysis, name)
        found = [
            item
            for item in given
            if all(clusters.end(getattr(item, end)) == getattr(item, end) for end in ends)
        ]
        if len(found) < len(given):
            count = len(given) - len(found)
            note = f"{count} {name.replace('_', ' ')} inside a grapheme cluster were left out"
            notes = (*notes, note)
            report(note)
        return found

    points = merge_break_points(kept("break_points", "pos"))
    regions, headings = kept("regions", "start", "end"), kept("headings", "start", "end")
    annotations = kept("annotations", "start", "end")
    replacements = kept("replacements", "start", "end")
    # Of several headings at one position the first is kept.
    first = {heading.start: heading for heading in reversed(headings)}
    return replace(
        analysis,
        break_points=tuple(points),
        regions=tuple(sorted(regions, key=lambda region: (region.start, -region.end))),
        headings=tuple(first[start] for start in sorted(first)),
        annotations=tuple(sorted(annotations, key=lambda mark: (mark.start, mark.end))),
        replacements=tuple(sorted(replacements, key=lambda span: (span.start, span.end))),
        notes=notes,
        extended=True,
    )
