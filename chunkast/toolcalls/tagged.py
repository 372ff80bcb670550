"""Calls whose parameters are in tags, such as ``<parameter name="K">``.

A value is the text between its tags, without the markup of a CDATA section around it. It is
converted to the type in the schema; strings stay verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

import regex

from chunkast.heuristics import Heuristic, Patch, Pipeline
from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.body import Kind, Opener, Reading, groups, signs
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.protocols import Protocol
from chunkast.toolcalls.repairs import REPAIR_AGAINST_SCHEMA, ToolDraft, ToolPipeline
from chunkast.toolcalls.values import coerced, guessed
from chunkast.toolcalls.xml_body import Body, BodyError

__all__ = ("TAGGED",)

_Span = tuple[int, int]
_Scan = tuple[list[tuple[str, _Span]], list[_Span], str, int]
_States = Mapping[str, Mapping[str, str]]
# The state of a tagged body after a mark. A body has no parameter yet ("named"), is inside a value
# or after one ("between"), may have ended inside a value ("unsure"), or has ended.
_STRICT: Final[_States] = {
    "named": {"parameter": "value", "call_end": "ended"},
    "value": {"value_end": "between", "call_end": "unsure", "cdata": "cdata"},
    "cdata": {"cdata_end": "value"},
    "between": {"parameter": "value", "call_end": "ended"},
    "unsure": {"parameter": "value", "value_end": "between"},
}
# The same if the closing tags inside a body are optional.
_OPTIONAL: Final = {"parameter": "value", "call_end": "ended"}
_LENIENT: Final[_States] = {**_STRICT, "value": {**_STRICT["value"], **_OPTIONAL}}
_CDATA: Final = re.compile(rf"[{WHITE_SPACE}]*<!\[CDATA\[(.*)\]\]>[{WHITE_SPACE}]*", re.DOTALL)
# Text at the end of a fragment that may be part of a mark.
_CUT: Final = (
    r"<[^<>]{0,700}\Z|\]{1,2}\Z|\[[A-Z_]{0,11}\Z"
    r"|<arg_key>[^<>]{0,256}(?:<[^<>]{0,9}(?:>\s{0,40}(?:<[^<>]{0,10})?)?)?\Z"
)


def _steps(row: Protocol) -> _States:
    return _LENIENT if row.is_lenient else _STRICT


@dataclass(slots=True)
class _Tagged(Reading):
    """Tagged parameters. Openers in the same state end together."""

    groups: dict[str, set[int]] = field(default_factory=dict)
    # The end of the calls in each state if nothing else comes.
    after: dict[str, int] = field(default_factory=dict)

    def note(self, mark: re.Match[str], start: int, end: int) -> None:
        kind, transitions = mark.lastgroup or "", _steps(self.protocol)
        if kind == "sign":
            for state, last in self.after.items():
                self.ends.update(dict.fromkeys(self.groups.pop(state, ()), last))
            self.groups.setdefault("named", set()).add(start)
            return
        steps = [(state, transitions[state].get(kind)) for state in self.groups]
        for after, group in [(after, self.groups.pop(state)) for state, after in steps if after]:
            if after == "ended":
                self.ends.update(dict.fromkeys(group, end))
                continue
            small, large = sorted((group, self.groups.get(after, set())), key=len)
            large |= small
            self.groups[after] = large
            if after in ("between", "unsure"):
                self.after[after] = end

    def fallback(self, key: int) -> int | None:
        ends = (end for state, end in self.after.items() if key in self.groups.get(state, ()))
        return next(ends, None)


@cache
def _tags(row: Protocol, **before: str) -> str:
    own = {"parameter": row.parameter, "value_end": row.value_end, "call_end": row.call_end}
    return groups(**before, **own, cdata=r"<!\[CDATA\[", cdata_end=r"\]\]>")


def _marks(row: Protocol, _name: str, rows: Sequence[Protocol]) -> str:
    return _tags(row, cut=_CUT, sign=signs(rows)).replace("(?P<key>", "(?:")


def _read(source: str, schema: Schema, opener: Opener) -> Body:
    row = opener.protocol
    values, dropped, state, _ = _scanned(source, row)
    if state != "ended":
        raise BodyError(f"{row.closers[state in ('named', 'between')]} is missing")
    arguments: dict[str, Any] = {}
    for name, (start, end) in values:
        if name in arguments:
            raise BodyError(f"the parameter {name!r} comes twice")
        arguments[name] = _value(source[start:end], name, schema, row)
    return Body(arguments, dict(values), [("", "text", span) for span in dropped])


def _scanned(source: str, row: Protocol) -> _Scan:
    """Return the span of each value by name, the spans of other text, and the final state.

    The last value is the position of the closing tag that may have ended the call.
    """
    values: list[tuple[str, _Span]] = []
    dropped: list[_Span] = []
    state, name, start, unsure, transitions = "named", "", 0, len(source), _steps(row)
    for mark in regex.finditer(_tags(row), source):
        kind = mark.lastgroup or ""
        after = transitions[state].get(kind)
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


def _value(text: str, name: str, schema: Schema, row: Protocol) -> Any:
    section = _CDATA.fullmatch(text)
    if section:
        text = section[1]
    elif row.is_lenient:
        # These models write each value on lines of its own.
        text = text.removeprefix("\n").removesuffix("\n")
    known = schema.property(name)
    if known is None:
        return guessed(text)
    is_null = text.strip(WHITE_SPACE) == "null" and known.kind != "string" and known.allows_null
    return None if is_null else coerced(text, known, 1)


def _closed_tags(row: Protocol, draft: ToolDraft) -> Patch[dict[str, Any]] | None:
    """Return the source of a call with its missing closing tags."""
    source, (value, call) = draft.source, row.closers
    _, _, state, unsure = _scanned(source, row)
    if state == "ended":
        return None
    at, closer = (unsure, value) if state == "unsure" else (len(source), call)
    return Patch(source=source[:at] + closer + source[at:], notes=("close-call",))


@cache
def _pipeline(row: Protocol) -> ToolPipeline:
    close = Heuristic("close-call", "pre-parse", partial(_closed_tags, row))
    return Pipeline.of((close, REPAIR_AGAINST_SCHEMA))


TAGGED: Final = Kind(
    reading=_Tagged,
    marks=_marks,
    key=lambda opener, text: opener.start + text.rfind("<", 0, opener.body - opener.start),
    read=_read,
    pipeline=_pipeline,
    stop=lambda opener, raw, at: raw.rfind("<", 0, opener.reading.ends.get(opener.begin, at) - at),
)
