"""The heuristics that repair the bodies of protocols other than ``xml``.

``json-repair`` (the extra ``toolcalls``) repairs JSON. Its result only counts if it has the same
letters and digits as the body, so that nothing is invented.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, Final

from chunkast.errors import MissingPackageError
from chunkast.heuristics import Heuristic, Patch, Pipeline
from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.json_body import members_of, split_tail
from chunkast.toolcalls.protocols import CLOSERS, Protocol
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

# A longer body is not repaired.
_MOST_REPAIRED: Final = 100_000
_FENCE: Final = re.compile(r"\s*```\w*\s*")
_STRING_OR_COMMENT: Final = re.compile(
    r'("[^"\\]*(?:\\.[^"\\]*)*")|//[^\n]*|/\*.*?\*/|#[^\n]*', re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_BREAKS: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})
# The faults that are repaired, each with a sign of it in the text without strings.
_FAULTS: Final[Mapping[str, Callable[[str], object]]] = {
    "trailing-commas": re.compile(r",\s*[}\]]").search,
    "single-quotes": re.compile(r"[{\[,:]\s*'").search,
    "json-comments": re.compile(r"//|/\*|#").search,
    "close-brackets": lambda text: any(text.count(a) != text.count(b) for a, b in ("{}", "[]")),
}


def _core(source: str) -> tuple[str, str]:
    """Return the JSON in a body, and the closing tag after it."""
    stop = split_tail(source)
    return source[:stop], source[stop:]


def _letters(text: str) -> str:
    text = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else "", text)
    return "".join(filter(str.isalnum, text)).casefold()


def _has_fault(fault: str, draft: ToolDraft) -> bool:
    text, _ = _core(draft.source)
    if not draft.errors or len(text) > _MOST_REPAIRED or too_deep(text):
        return False
    without_strings = _STRING_OR_COMMENT.sub(lambda m: "" if m[1] else m[0], text)
    return bool(_FAULTS[fault](without_strings))


def _repair_json(fault: str, draft: ToolDraft) -> Patch[dict[str, Any]]:
    try:
        from json_repair import repair_json
    except ImportError:
        return Patch(notes=(str(MissingPackageError("json-repair", "toolcalls")),), stop=True)
    text, tail = _core(draft.source)
    try:
        repaired = str(repair_json(text, ensure_ascii=False))
    except (ValueError, RecursionError):
        return Patch()
    if fault == "json-comments":
        text = _STRING_OR_COMMENT.sub(lambda m: m[1] or "", text)
    if _letters(text) != _letters(repaired):
        return Patch()
    return Patch(source=repaired + tail, retry=True, notes=(fault,))


def _escape_breaks(draft: ToolDraft) -> Patch[dict[str, Any]]:
    source = _STRING_OR_COMMENT.sub(
        lambda m: m[0].translate(_BREAKS) if m[1] else m[0], draft.source
    )
    if source == draft.source:
        return Patch()
    return Patch(source=source, retry=True, notes=("escape-line-breaks",))


def _decode_arguments(draft: ToolDraft) -> Patch[dict[str, Any]]:
    text, tail = _core(draft.source)
    try:
        name, arguments, _ = members_of(load_json(text))
        inside = load_json(arguments) if isinstance(arguments, str) else None
    except ValueError:
        return Patch()
    if not isinstance(inside, dict):
        return Patch()
    source = json.dumps({"name": name, "arguments": inside}, ensure_ascii=False)
    return Patch(source=source + tail, retry=True, notes=("decode-arguments",))


def _unwrap_fence(draft: ToolDraft) -> Patch[dict[str, Any]]:
    text, tail = _core(draft.source)
    return Patch(
        source=_FENCE.sub("", text, count=1) + tail.replace("```", ""), notes=("unwrap-fence",)
    )


_JSON_REPAIRS: Final[tuple[ToolHeuristic, ...]] = (
    Heuristic(
        "unwrap-fence", "pre-parse", _unwrap_fence, lambda draft: bool(_FENCE.match(draft.source))
    ),
    Heuristic(
        "escape-line-breaks", "fallback-reparse", _escape_breaks, lambda draft: bool(draft.errors)
    ),
    *(
        Heuristic(
            fault, "fallback-reparse", partial(_repair_json, fault), partial(_has_fault, fault)
        )
        for fault in _FAULTS
    ),
    Heuristic(
        "decode-arguments", "fallback-reparse", _decode_arguments, lambda draft: bool(draft.errors)
    ),
    REPAIR_AGAINST_SCHEMA,
)


def _close_call(protocol: Protocol, draft: ToolDraft) -> Patch[dict[str, Any]] | None:
    if protocol.kind == "tagged":
        source = closed_tags(draft.source, protocol)
    else:
        text, tail = _core(draft.source)
        fence = "```" * ("```" in tail)
        source = text + fence + protocol.closers[1]
        if draft.source.rstrip(WHITE_SPACE).endswith(CLOSERS):
            return None
    return None if source == draft.source else Patch(source=source, notes=("close-call",))


@lru_cache(maxsize=32)
def pipeline_of(protocol: Protocol) -> ToolPipeline:
    """Return the default pipeline of a protocol."""
    if protocol.kind == "elements":
        return default_pipeline
    repairs = _JSON_REPAIRS if protocol.kind == "json" else (REPAIR_AGAINST_SCHEMA,)
    if not protocol.closers[1]:
        return Pipeline.of(repairs)
    return Pipeline.of(
        (Heuristic("close-call", "pre-parse", partial(_close_call, protocol)), *repairs)
    )
