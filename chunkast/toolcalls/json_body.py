"""Read the bodies of calls that are JSON, for every protocol with such bodies.

A body is an object with a name and arguments, or a list of them; or only the arguments, if the
opener of the call contains the name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection
from typing import Any, Final

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.body import Body, BodyError
from chunkast.toolcalls.finder import Opener
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.protocols import Protocol
from chunkast.toolcalls.values import coerced, load_json

__all__ = (
    "ARGUMENT_KEYS",
    "NAME",
    "is_closed",
    "json_calls",
    "members_of",
    "outermost",
    "read_json",
    "split_tail",
)

# The members of a call: its name, its arguments, and members without content.
_NAME_KEYS: Final = ("name", "tool_name")
ARGUMENT_KEYS: Final = ("arguments", "parameters")
_OTHER_KEYS: Final = ("id", "type", "index")
NAME: Final = re.compile(
    rf"""["'](?:{"|".join(_NAME_KEYS)})["']\s{{0,99}}:\s{{0,99}}["']([^"'\n]{{1,256}})["']"""
)
# A closing tag or a special token, such as "</tool_call>" and "<|tool_call_end|>".
_CLOSING_TAG: Final = re.compile(r"<[/|｜][\w:▁]{1,48}[|｜]?>")


def json_calls(opener: Opener, text: str, names: Collection[str]) -> list[tuple[int, str, str]]:
    """Return the end, source and tool's name of each call in ``text``.

    The source is the call's object and what follows the last one. Returns "" as the name of what
    is no call. In the protocol ``json``, a call has to have a known name, and arguments.
    """
    body = text[opener.body - opener.start :]
    if opener.name:
        return [(len(text), body, opener.name)]
    objects = outermost(opener, text)
    before = text[len(text) - len(body) : objects[0][0]] if objects else ""
    if not objects or ("[" not in before and len(objects) == 1):
        return [(len(text), body, _name_of(body, opener.protocol, names))]
    last = objects[-1][1] or split_tail(text)
    tail = text[last:].lstrip(WHITE_SPACE).removeprefix("]")
    sources = [text[start : end or last] + tail for start, end in objects]
    ends = [*(end or last for _, end in objects[:-1]), len(text)]
    return [
        (end, source, _name_of(source, opener.protocol, names))
        for end, source in zip(ends, sources, strict=True)
    ]


def outermost(opener: Opener, text: str) -> list[tuple[int, int | None]]:
    """Return the spans of the outermost pairs of braces or parentheses in the text of a call.

    The end of a pair that is not closed is ``None``.
    """
    spans: list[tuple[int, int | None]] = []
    opened, base, at = opener.reading.opened, opener.start, opener.begin
    end = base + len(text)
    for start in opened[bisect_left(opened, at) : bisect_left(opened, end)]:
        if start >= at and text[start - base] in "{(":
            at = opener.reading.ends.get(start, end + 1)
            spans.append((start - base, at - base if at <= end else None))
    return spans


def split_tail(source: str) -> int:
    """Return where the closing tags and the fence after the JSON in ``source`` begin."""
    stop = len(source.rstrip(WHITE_SPACE))
    for _ in range(2):
        tag = source.rfind("<", max(0, stop - 54), stop)
        if tag >= 0 and _CLOSING_TAG.fullmatch(source, tag, stop):
            stop = len(source[:tag].rstrip(WHITE_SPACE))
    return stop - 3 if source.endswith("```", 0, stop) else stop


def is_closed(tail: str, protocol: Protocol) -> bool:
    """Return whether what follows the JSON has a closing tag of the protocol, if it needs one."""
    return not protocol.closers or any(closer in tail for closer in protocol.closers)


def _name_of(source: str, protocol: Protocol, names: Collection[str]) -> str:
    text = source[: split_tail(source)]
    try:
        value = load_json(text)
    except ValueError:
        match = NAME.search(text)
        name = match[1] if match else ""
        is_call = name in names and any(key in text for key in ARGUMENT_KEYS)
    else:
        call, arguments, _, others = members_of(value)
        name = str(call or "")
        is_call = arguments is not None and not others and not _is_schema(arguments)
    return name if protocol.name != "json" or (is_call and name in names) else ""


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("properties"), dict)


def members_of(value: Any) -> tuple[Any, Any, str | None, list[str]]:
    """Return the name, the arguments and the id of a call, and the names of its other members."""
    if not isinstance(value, dict):
        return None, None, None, []
    inside = value.get("function")
    outer = [name for name in value if name not in _OTHER_KEYS and name != "function"]
    if not isinstance(inside, dict):
        inside, outer = value, []
    name = next((inside[key] for key in _NAME_KEYS if key in inside), None)
    arguments = next((inside[key] for key in ARGUMENT_KEYS if key in inside), None)
    known = {*_NAME_KEYS, *ARGUMENT_KEYS, *_OTHER_KEYS}
    others = outer + [member for member in inside if member not in known]
    ids = (each.get("id") for each in (value, inside))
    return name, arguments, next((each for each in ids if isinstance(each, str)), None), others


def read_json(source: str, schema: Schema, opener: Opener) -> Body:
    """Return the arguments in a call's source, which ends with its closing tag if it has one.

    Raises ``BodyError`` if the source is not JSON, or its arguments are not an object.
    """
    stop, protocol = split_tail(source), opener.protocol
    if not protocol.is_lenient and not is_closed(source[stop:], protocol):
        raise BodyError(f"{protocol.closers[0]} is missing")
    try:
        # A call that has its name elsewhere may have no arguments.
        value = load_json(source[:stop] or "{}" * bool(opener.name))
    except ValueError as error:
        raise BodyError(f"it is not JSON: {error}") from None
    others: list[str] = []
    call_id = opener.id
    if not opener.name:
        _, value, call_id, others = members_of(value)
        value = {} if value is None else value
    if not isinstance(value, dict):
        raise BodyError(f"the arguments are {type(value).__name__}; they must be an object")
    dropped = [(name, "a member", (0, 0)) for name in others]
    return Body(coerced(value, schema, 0), {}, dropped, call_id)
