"""The heuristics that repair the bodies of protocols other than ``xml``.

``json-repair`` (the extra ``toolcalls``) repairs JSON. Its result only counts if it has the same
letters and digits as the body, so that nothing is invented.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final

from chunkast.errors import MissingPackageError
from chunkast.heuristics import Heuristic, Patch, Phase, Pipeline
from chunkast.toolcalls.call_model import Tool
from chunkast.toolcalls.json_body import is_closed, members_of, split_tail
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.problems import all_problems
from chunkast.toolcalls.protocols import Protocol
from chunkast.toolcalls.repairs import (
    REPAIR_AGAINST_SCHEMA,
    ToolDraft,
    ToolHeuristic,
    ToolPipeline,
    default_pipeline,
)
from chunkast.toolcalls.tagged_body import closed_tags
from chunkast.toolcalls.values import coerced, load_json, too_deep

__all__ = ("pipeline_of",)

# A longer body is not repaired by json-repair.
_MOST_REPAIRED: Final = 100_000
_FENCE: Final = re.compile(r"\s*```\w*\s*")
_STRING_OR_COMMENT: Final = re.compile(
    r'("[^"\\]*(?:\\.[^"\\]*)*")|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*', re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


def _without_fence(text: str, _: Tool) -> str:
    fence = _FENCE.match(text)
    return text[fence.end() :] if fence else text


def _escaped_breaks(text: str, _: Tool) -> str:
    return json.dumps(load_json(text, strict=False), ensure_ascii=False)


def _decoded_arguments(text: str, _tool: Tool) -> str:
    name, arguments, call_id, *_ = members_of(load_json(text))
    inside = load_json(arguments) if isinstance(arguments, str) else None
    if not isinstance(inside, dict):
        return text
    return json.dumps({"id": call_id, "name": name, "arguments": inside}, ensure_ascii=False)


def _repaired_json(text: str, tool: Tool) -> str:
    with suppress(ValueError):
        load_json(text)
        return text
    try:
        from json_repair import repair_json
    except ImportError:
        raise MissingPackageError("json-repair", "toolcalls") from None
    if len(text) > _MOST_REPAIRED or too_deep(text):
        return text
    repaired = str(repair_json(text, ensure_ascii=False))
    bare = _STRING_OR_COMMENT.sub("", text)
    kept = (text, _STRING_OR_COMMENT.sub(lambda m: m[1] or "", text))
    is_same = _letters(repaired) in map(_letters, kept)
    return repaired if is_same and ('"' not in bare or _fits(repaired, bare, tool)) else text


def _letters(text: str) -> str:
    text = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else "", text)
    return "".join(filter(str.isalnum, text)).casefold()


def _fits(repaired: str, bare: str, tool: Tool) -> bool:
    """Return whether a string whose quote is missing can only end before the last brackets.

    ``bare`` is the call without its complete strings. All brackets in it have to be closed, and the
    ``repaired`` arguments have to fit the schema.
    """
    if any(bare.count(a) > bare.count(b) for a, b in ("{}", "[]")):
        return False
    value = load_json(repaired)
    name, arguments, *_ = members_of(value)
    arguments = arguments if name == tool.name and isinstance(arguments, dict) else value
    schema = Schema(tool.json_schema)
    if not isinstance(arguments, dict) or arguments.keys() - (schema.properties or arguments):
        return False
    return not all_problems(coerced(arguments, schema, 0), schema)


# The id and phase of each repair of JSON, and the repair.
_Row = tuple[str, Phase, Callable[[str, Tool], str]]
_ROWS: Final[tuple[_Row, ...]] = (
    ("unwrap-fence", "pre-parse", _without_fence),
    ("escape-line-breaks", "fallback-reparse", _escaped_breaks),
    ("json-repair", "fallback-reparse", _repaired_json),
    ("decode-arguments", "fallback-reparse", _decoded_arguments),
)


def _repair(row: _Row, draft: ToolDraft) -> Patch[dict[str, Any]] | None:
    name, phase, repair = row
    stop = split_tail(draft.source)
    text, tail = draft.source[:stop], draft.source[stop:]
    if phase != "pre-parse" and not draft.errors:
        return None
    try:
        repaired = repair(text, draft.context)
    except MissingPackageError as error:
        return Patch(notes=(str(error),), stop=True)
    except (ValueError, RecursionError):
        return None
    if repaired == text:
        return None
    return Patch(source=repaired + tail, retry=phase != "pre-parse", notes=(name,))


def _close_call(protocol: Protocol, draft: ToolDraft) -> Patch[dict[str, Any]] | None:
    source, stop = draft.source, split_tail(draft.source)
    if protocol.kind == "tagged":
        closed = closed_tags(source, protocol)
    else:
        is_whole = is_closed(source[stop:], protocol)
        closed = source if is_whole else source[:stop] + protocol.closers[0]
    return None if source == closed else Patch(source=closed, notes=("close-call",))


@lru_cache(maxsize=32)
def pipeline_of(protocol: Protocol) -> ToolPipeline:
    """Return the default pipeline of a protocol."""
    if protocol.kind == "elements":
        return default_pipeline
    repairs: list[ToolHeuristic] = [REPAIR_AGAINST_SCHEMA]
    if protocol.closers and not (protocol.kind == "json" and protocol.is_lenient):
        repairs.append(Heuristic("close-call", "pre-parse", partial(_close_call, protocol)))
    if protocol.kind == "json":
        repairs += (Heuristic(row[0], row[1], partial(_repair, row)) for row in _ROWS)
    return Pipeline.of(repairs)
