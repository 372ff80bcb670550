"""The heuristics that repair the bodies of protocols other than ``xml``.

``json-repair`` (the extra ``toolcalls``) repairs JSON. Its result only counts if it has the same
letters and digits as the body, so that nothing is invented.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final

from chunkast.errors import MissingPackageError
from chunkast.heuristics import Heuristic, Patch, Phase, Pipeline
from chunkast.toolcalls.json_body import is_closed, members_of, split_tail
from chunkast.toolcalls.protocols import Protocol
from chunkast.toolcalls.repairs import (
    REPAIR_AGAINST_SCHEMA,
    ToolDraft,
    ToolHeuristic,
    ToolPipeline,
    default_pipeline,
)
from chunkast.toolcalls.tagged_body import closed_tags
from chunkast.toolcalls.values import load_json, too_deep

__all__ = ("pipeline_of",)

# A longer body is not repaired by json-repair.
_MOST_REPAIRED: Final = 100_000
_FENCE: Final = re.compile(r"\s*```\w*\s*")
_STRING_OR_COMMENT: Final = re.compile(
    r'("[^"\\]*(?:\\.[^"\\]*)*")|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*', re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


def _without_fence(text: str) -> str:
    return _FENCE.sub("", text, count=1)


def _escaped_breaks(text: str) -> str:
    return json.dumps(load_json(text, strict=False), ensure_ascii=False)


def _decoded_arguments(text: str) -> str:
    name, arguments, call_id, _ = members_of(load_json(text))
    inside = load_json(arguments) if isinstance(arguments, str) else None
    if not isinstance(inside, dict):
        return text
    return json.dumps({"id": call_id, "name": name, "arguments": inside}, ensure_ascii=False)


def _repaired_json(text: str) -> str:
    from json_repair import repair_json

    if len(text) > _MOST_REPAIRED or too_deep(text):
        return text
    repaired = str(repair_json(text, ensure_ascii=False))
    kept = (text, _STRING_OR_COMMENT.sub(lambda m: m[1] or "", text))
    return repaired if _letters(repaired) in map(_letters, kept) else text


def _letters(text: str) -> str:
    text = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else "", text)
    return "".join(filter(str.isalnum, text)).casefold()


def _is_open(text: str) -> bool:
    return any(text.count(a) != text.count(b) for a, b in ("{}", "[]"))


# The id and phase of each repair, a sign of its fault in the JSON without strings, and the repair.
_Row = tuple[str, Phase, Callable[[str], object], Callable[[str], str]]
_ROWS: Final[tuple[_Row, ...]] = (
    ("unwrap-fence", "pre-parse", _FENCE.match, _without_fence),
    ("escape-line-breaks", "fallback-reparse", bool, _escaped_breaks),
    ("trailing-commas", "fallback-reparse", re.compile(r",\s*[}\]]").search, _repaired_json),
    ("single-quotes", "fallback-reparse", re.compile(r"[{\[,:]\s*'").search, _repaired_json),
    ("json-comments", "fallback-reparse", re.compile(r"//|/\*|#").search, _repaired_json),
    ("close-brackets", "fallback-reparse", _is_open, _repaired_json),
    ("decode-arguments", "fallback-reparse", bool, _decoded_arguments),
)


def _applies(row: _Row, draft: ToolDraft) -> bool:
    if row[1] != "pre-parse" and not draft.errors:
        return False
    text = draft.source[: split_tail(draft.source)]
    return bool(row[2](_STRING_OR_COMMENT.sub(lambda m: "" if m[1] else m[0], text)))


def _repair(row: _Row, draft: ToolDraft) -> Patch[dict[str, Any]] | None:
    name, phase, _, repair = row
    stop = split_tail(draft.source)
    text, tail = draft.source[:stop], draft.source[stop:]
    try:
        repaired = repair(text)
    except ImportError:
        return Patch(notes=(str(MissingPackageError("json-repair", "toolcalls")),), stop=True)
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
        repairs += (
            Heuristic(row[0], row[1], partial(_repair, row), partial(_applies, row))
            for row in _ROWS
        )
    return Pipeline.of(repairs)
