"""The context of a document's heuristics, and checks of the patches that they return.

A position inside a grapheme cluster is valid, but no cut is made there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Final, TypeVar

from chunkast.analysis.break_points import merge_break_points
from chunkast.config import ChunkConfig
from chunkast.errors import HeuristicError
from chunkast.heuristics import Draft, Heuristic, Patch
from chunkast.model import (
    Analysis,
    Annotation,
    BreakPoint,
    Heading,
    ProtectedRegion,
    Replacement,
)
from chunkast.text.graphemes import joined_spans
from chunkast.text.spans import SpanSet
from chunkast.toolcalls import ToolCall

__all__ = ("DocumentContext", "DocumentDraft", "DocumentHeuristic", "check_patch", "in_order")

_Span = TypeVar("_Span", Heading, ProtectedRegion)

_LINE_END = re.compile(r"[\r\n]")
_LEVELS: Final = range(1, 7)
# Keys of metadata that are not lists of annotations.
_RESERVED: Final = frozenset({"front_matter", "cell", "cell_type", "cell_id"})
# The fields of an analysis that ``Analysis.plus`` adds to, with the type of their items.
_ADDED: Final[Mapping[str, tuple[type, str]]] = {
    "break_points": (BreakPoint, "a BreakPoint in the text with a finite score"),
    "regions": (ProtectedRegion, "a ProtectedRegion in the text"),
    "headings": (Heading, "a Heading in the text, of level 1 to 6, with a path of titles"),
    "annotations": (Annotation, "an Annotation in the text with a free key and JSON"),
    "replacements": (Replacement, "a Replacement in the text with a str"),
}


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """The ``context`` of the draft that a heuristic receives.

    config: the configuration.
    tool_calls: the calls to the configured tools in the original text, in order.
    extensions: the Markdown extensions that are enabled for this document.
    """

    config: ChunkConfig
    tool_calls: tuple[ToolCall, ...] = ()
    extensions: tuple[str, ...] = ()


DocumentDraft = Draft[Analysis, DocumentContext]
DocumentHeuristic = Heuristic[Analysis, DocumentContext]


def check_patch(draft: DocumentDraft, patch: Patch[Analysis], heuristic: DocumentHeuristic) -> None:
    """Raise ``HeuristicError`` for the first invalid value in a patch."""
    text, value = draft.original, patch.value
    if patch.source is not None and not _is_mask(patch.source, text):
        allowed = "must have the text's length, and line ends in the same places"
        raise HeuristicError(heuristic.id, "source", patch.source, allowed)
    if value is None:
        return
    if not isinstance(value, Analysis) or value.text != text:
        raise HeuristicError(heuristic.id, "value", value, "must be an Analysis of the same text")
    # Before the parse there is no value to add to, and the parse replaces this one.
    for name in (field.name for field in fields(Analysis)) if draft.value else ():
        given = getattr(value, name)
        if given is not getattr(draft.value, name):
            for field, wrong, allowed in _wrong(name, given, len(text)):
                raise HeuristicError(heuristic.id, field, wrong, f"must {allowed}")


def _wrong(name: str, given: object, size: int) -> Iterator[tuple[str, object, str]]:
    """Yield the field, the value and the allowed values for each wrong value of a changed field."""
    if name not in _ADDED:
        yield name, given, "stay as it is, since Analysis.plus does not add to it"
    elif not isinstance(given, tuple):
        yield name, given, "be a tuple"
    else:
        kind, allowed = _ADDED[name]
        for number, item in enumerate(given):
            if not (isinstance(item, kind) and _is_valid(item, kind, size)):
                yield f"{name}[{number}]", item, f"be {allowed}"


def _is_mask(source: str, original: str) -> bool:
    return len(source) == len(original) and _line_ends(source) == _line_ends(original)


def _line_ends(text: str) -> list[tuple[int, str]]:
    return [(match.start(), match.group()) for match in _LINE_END.finditer(text)]


def _is_valid(item: object, kind: Any, size: int) -> bool:
    """Return whether all fields of a dataclass are valid in a text of ``size`` characters."""
    given = {field.name: getattr(item, field.name) for field in fields(kind)}
    for name, value in given.items():
        if name in ("pos", "start", "end"):
            valid = type(value) is int and 0 <= value <= size
        else:
            valid = _RULES.get(name, _is_string)(value)
        if not valid:
            return False
    # Only a heading without a title may have no path.
    if kind is Heading and given["title"] and not given["path"]:
        return False
    return "start" not in given or bool(given["start"] < given["end"])


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (OverflowError, TypeError):
        return False


def _is_json(value: object) -> bool:
    """Return whether a value survives a round trip through JSON unchanged."""
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


# Field -> its check; other fields are strings.
_RULES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "score": _is_finite,
    "level": lambda level: type(level) is int and level in _LEVELS,
    "path": lambda path: isinstance(path, tuple) and all(map(_is_string, path)),
    "anchors": lambda anchors: isinstance(anchors, tuple) and all(map(_is_string, anchors)),
    "key": lambda key: _is_string(key) and key not in _RESERVED,
    "value": _is_json,
}


def in_order(analysis: Analysis) -> Analysis:
    """Return ``analysis`` with sorted fields, because heuristics may have added to them.

    Points inside a grapheme cluster are removed. Regions and headings are extended to whole
    clusters.
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
