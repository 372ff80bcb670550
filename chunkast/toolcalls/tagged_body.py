"""Read the bodies of calls whose parameters are in tags, such as ``<parameter name="K">``.

A value is the text between its tags, without the markup of a CDATA section around it. It is
converted to the type in the schema; a string is not changed. The tags and their order are those of
``readings.STRICT``.
"""

from __future__ import annotations

import re
from typing import Any, Final

import regex

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.body import Body, BodyError
from chunkast.toolcalls.finder import Opener
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.protocols import Protocol
from chunkast.toolcalls.readings import LENIENT, STRICT
from chunkast.toolcalls.values import coerced, guessed

__all__ = ("closed_tags", "read_tagged", "tagged_calls")

_CDATA: Final = re.compile(rf"[{WHITE_SPACE}]*<!\[CDATA\[(.*)\]\]>[{WHITE_SPACE}]*", re.DOTALL)


def tagged_calls(opener: Opener, text: str, _: object) -> list[tuple[int, str, str]]:
    """Return the end, the source and the tool's name of the call in ``text``."""
    return [(len(text), text[opener.body - opener.start :], opener.name)]


def read_tagged(source: str, schema: Schema, protocol: Protocol) -> Body:
    """Return the arguments in a body, which ends with its closing tag.

    Raises ``BodyError`` if a tag is missing, or if a parameter comes twice.
    """
    values, dropped, state, _ = _scanned(source, protocol)
    if state != "ended":
        raise BodyError(f"{protocol.closers[state in ('named', 'between')]} is missing")
    arguments: dict[str, Any] = {}
    for name, (start, end) in values:
        if name in arguments:
            raise BodyError(f"the parameter {name!r} comes twice")
        arguments[name] = _value(source[start:end], name, schema, protocol)
    return Body(arguments, dict(values), [("", "text", span) for span in dropped])


def _scanned(
    source: str, protocol: Protocol
) -> tuple[list[tuple[str, tuple[int, int]]], list[tuple[int, int]], str, int]:
    """Return the span of each value by name, the spans of other text, and the final state.

    The last value is the position of the closing tag that may have ended the call.
    """
    values: list[tuple[str, tuple[int, int]]] = []
    dropped: list[tuple[int, int]] = []
    transitions = LENIENT if protocol.is_lenient else STRICT
    state, name, start, unsure = "named", "", 0, len(source)
    for mark in regex.finditer(protocol.marks, source):
        kind = mark.lastgroup or ""
        after = transitions.get((state, kind))
        if after is None:
            continue
        if after == "between" or (state == "value" and after in ("value", "ended")):
            values.append((name, (start, mark.start())))
            start = mark.end()
        elif state in ("named", "between"):
            dropped.append((start, mark.start()))
        elif after == "unsure":
            unsure = mark.start()
        if kind == "parameter" and state != "unsure":
            name, start = mark["key"].strip(WHITE_SPACE + "\"'"), mark.end()
        state = after
        if state == "ended":
            break
    return values, [s for s in dropped if source[slice(*s)].strip(WHITE_SPACE)], state, unsure


def _value(text: str, name: str, schema: Schema, protocol: Protocol) -> Any:
    section = _CDATA.fullmatch(text)
    if section:
        text = section[1]
    elif protocol.is_lenient:
        # These models write each value on lines of its own.
        text = text.removeprefix("\n").removesuffix("\n")
    known = schema.property(name)
    if known is None:
        return guessed(text)
    is_null = text.strip(WHITE_SPACE) == "null" and known.kind != "string" and known.allows_null
    return None if is_null else coerced(text, known, 1)


def closed_tags(source: str, protocol: Protocol) -> str:
    """Return ``source`` with its missing closing tags."""
    _, _, state, unsure = _scanned(source, protocol)
    value, call = protocol.closers
    if state == "unsure":
        return source[:unsure] + value + source[unsure:]
    return source if state == "ended" else source + call
