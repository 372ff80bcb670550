"""Read the bodies of calls that are JSON, for every protocol with such bodies.

A body is an object with a name and arguments, or a list of them; or only the arguments, if the
opener of the call contains the name.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.body import Body, BodyError
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.protocols import CLOSERS, Protocol
from chunkast.toolcalls.values import coerced, load_json

__all__ = ("call_name", "json_calls", "members_of", "read_json", "split_tail")

_NAMES: Final = ("name", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters")
# Members beside them that have no content.
_OTHERS: Final = frozenset(("id", "type", "index"))
_STRING_OR_BRACE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]', re.DOTALL)
_NAME: Final = re.compile(
    r"""["'](?:name|tool_name)["']\s{0,99}:\s{0,99}["']([^"'\n]{1,256})["']"""
)
_CLOSING_TAG: Final = re.compile(r"</[\w:]{1,48}>")


def json_calls(body: str, *, is_named: bool) -> list[tuple[int, str]]:
    """Return the end and the source of each call in ``body``: its object and what follows them."""
    spans, depth, start = [], 0, 0
    for match in _STRING_OR_BRACE.finditer(body):
        if match[0] == "{":
            start = start if depth else match.start()
            depth += 1
        elif match[0] == "}" and depth:
            depth -= 1
            if not depth:
                spans.append((start, match.end()))
    if depth:
        spans.append((start, split_tail(body)))
    before = body[: spans[0][0]] if spans else ""
    if not spans or ((is_named or "[" not in before) and len(spans) == 1):
        return [(len(body), body)]
    tail = body[spans[-1][1] :].lstrip(WHITE_SPACE).removeprefix("]")
    return [(end, body[start:end] + tail) for start, end in spans]


def split_tail(source: str) -> int:
    """Return where the closing tag and fence after the JSON in ``source`` begin."""
    stop = len(source.rstrip(WHITE_SPACE))
    tag = source.rfind("</", max(0, stop - 50), stop)
    stop = tag if tag >= 0 and _CLOSING_TAG.fullmatch(source, tag, stop) else stop
    stop = len(source[:stop].rstrip(WHITE_SPACE))
    return stop - 3 if source.endswith("```", 0, stop) else stop


def call_name(source: str, protocol: Protocol, names: Collection[str]) -> str:
    """Return the tool's name in the source of a call, or "" if the source is no call.

    In the protocol ``json``, a call has to have a known name, and arguments.
    """
    text = source[: split_tail(source)]
    try:
        value = load_json(text)
    except ValueError:
        match = _NAME.search(text)
        name = match[1] if match else ""
        is_call = name in names and any(key in text for key in _ARGUMENTS)
    else:
        call, arguments, others = members_of(value)
        name = str(call or "")
        is_call = arguments is not None and not others and not _is_schema(arguments)
    return name if protocol.name != "json" or (is_call and name in names) else ""


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("properties"), dict)


def members_of(value: Any) -> tuple[Any, Any, list[str]]:
    """Return the name and the arguments of a call, and the names of its other members."""
    if not isinstance(value, dict):
        return None, None, []
    inside = value.get("function")
    outer = [name for name in value if name not in _OTHERS and name != "function"]
    if not isinstance(inside, dict):
        inside, outer = value, []
    name = next((inside[key] for key in _NAMES if key in inside), None)
    arguments = next((inside[key] for key in _ARGUMENTS if key in inside), None)
    known = {*_NAMES, *_ARGUMENTS, *_OTHERS}
    return name, arguments, outer + [member for member in inside if member not in known]


def read_json(source: str, schema: Schema, protocol: Protocol, *, is_named: bool) -> Body:
    """Return the arguments in a call's source, which ends with its closing tag if it has one.

    Raises ``BodyError`` if the source is not JSON, or its arguments are not an object.
    """
    stop = split_tail(source)
    closer = protocol.closers[1]
    if closer and not source.rstrip(WHITE_SPACE).endswith(CLOSERS):
        raise BodyError(f"{closer} is missing")
    try:
        value = load_json(source[:stop])
    except ValueError as error:
        raise BodyError(f"it is not JSON: {error}") from None
    others: list[str] = []
    if not is_named:
        _, value, others = members_of(value)
        value = {} if value is None else value
    if not isinstance(value, dict):
        raise BodyError(f"the arguments are {type(value).__name__}; they must be an object")
    return Body(coerced(value, schema, 0), {}, [(name, "a member", (0, 0)) for name in others])
