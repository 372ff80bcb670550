"""Read the members of a call in JSON, and repair broken JSON.

``json-repair`` (the extra ``toolcalls``) repairs JSON. A repair is used only if it has the same
letters and digits as the original, so that no content is invented.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from chunkast.errors import MissingPackageError
from chunkast.heuristics import Heuristic, Patch, Phase
from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.call_model import Tool
from chunkast.toolcalls.json_schema import Schema, all_problems
from chunkast.toolcalls.repairs import REPAIR_AGAINST_SCHEMA, ToolDraft, ToolHeuristic
from chunkast.toolcalls.values import coerced, load_json, too_deep

__all__ = ("ARGUMENT_KEYS", "NAME", "REPAIRS", "Members", "members_of", "split_tail")

# The members of a call: its name, its arguments, and members without content.
_NAME_KEYS: Final = ("name", "tool_name")
ARGUMENT_KEYS: Final = ("arguments", "parameters")
_OTHER_KEYS: Final = ("id", "type", "index")
NAME: Final = re.compile(
    rf"""["'](?:{"|".join(_NAME_KEYS)})["']\s{{0,99}}:\s{{0,99}}["']([^"'\n]{{1,256}})["']"""
)
# A closing tag or a special token, such as "</tool_call>" and "<|tool_call_end|>".
_CLOSING_TAG: Final = re.compile(r"<[/|｜][\w:▁]{1,48}[|｜]?>")
# A longer body is not repaired by json-repair.
_MOST_REPAIRED: Final = 100_000
_FENCE: Final = re.compile(r"\s*```\w*\s*")
_STRING_OR_COMMENT: Final = re.compile(
    r'("[^"\\]*(?:\\.[^"\\]*)*")|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*', re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


class Members(NamedTuple):
    """The name, the arguments and the id of a call, and the names of its other members."""

    name: Any = None
    arguments: Any = None
    id: str | None = None
    others: tuple[str, ...] = ()


def members_of(value: Any) -> Members:
    """Return the members of a call, or no members if ``value`` is not an object."""
    if not isinstance(value, dict):
        return Members()
    inside = value.get("function")
    outer = [name for name in value if name not in _OTHER_KEYS and name != "function"]
    if not isinstance(inside, dict):
        inside, outer = value, []
    name = next((inside[key] for key in _NAME_KEYS if key in inside), None)
    arguments = next((inside[key] for key in ARGUMENT_KEYS if key in inside), None)
    known = {*_NAME_KEYS, *ARGUMENT_KEYS, *_OTHER_KEYS}
    others = (*outer, *(member for member in inside if member not in known))
    ids = (each.get("id") for each in (value, inside))
    return Members(name, arguments, next((i for i in ids if isinstance(i, str)), None), others)


def split_tail(source: str) -> int:
    """Return the end of the JSON in ``source``, before closing tags and a closing fence."""
    stop = len(source.rstrip(WHITE_SPACE))
    for _ in range(2):
        tag = source.rfind("<", max(0, stop - 54), stop)
        if tag >= 0 and _CLOSING_TAG.fullmatch(source, tag, stop):
            stop = len(source[:tag].rstrip(WHITE_SPACE))
    return stop - 3 if source.endswith("```", 0, stop) else stop


def _without_fence(text: str, _: Tool) -> str:
    fence = _FENCE.match(text)
    return text[fence.end() :] if fence else text


def _escaped_breaks(text: str, _: Tool) -> str:
    return json.dumps(load_json(text, strict=False), ensure_ascii=False)


def _decoded_arguments(text: str, _tool: Tool) -> str:
    call = members_of(load_json(text))
    inside = load_json(call.arguments) if isinstance(call.arguments, str) else None
    if not isinstance(inside, dict):
        return text
    return json.dumps({"id": call.id, "name": call.name, "arguments": inside}, ensure_ascii=False)


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
    call = members_of(value)
    is_call = call.name == tool.name and isinstance(call.arguments, dict)
    arguments = call.arguments if is_call else value
    schema = Schema(tool.json_schema)
    if not isinstance(arguments, dict) or arguments.keys() - (schema.properties or arguments):
        return False
    return not all_problems(coerced(arguments, schema, 0), schema)


def _heuristic(name: str, phase: Phase, repair: Callable[[str, Tool], str]) -> ToolHeuristic:
    def run(draft: ToolDraft) -> Patch[dict[str, Any]] | None:
        if phase != "pre-parse" and not draft.errors:
            return None
        stop = split_tail(draft.source)
        text, tail = draft.source[:stop], draft.source[stop:]
        try:
            repaired = repair(text, draft.context)
        except MissingPackageError as error:
            return Patch(notes=(str(error),), stop=True)
        except (ValueError, RecursionError):
            return None
        if repaired == text:
            return None
        return Patch(source=repaired + tail, retry=phase != "pre-parse", notes=(name,))

    return Heuristic(name, phase, run)


REPAIRS: Final = (
    _heuristic("unwrap-fence", "pre-parse", _without_fence),
    _heuristic("escape-line-breaks", "fallback-reparse", _escaped_breaks),
    _heuristic("json-repair", "fallback-reparse", _repaired_json),
    _heuristic("decode-arguments", "fallback-reparse", _decoded_arguments),
    REPAIR_AGAINST_SCHEMA,
)
