"""Calls in JSON or Python syntax, such as ``[weather(city="Oslo"), now()]``.

A JSON body is an object with a name and arguments, or a list of such objects. If the opener of the
call contains the name, the body is only the arguments. In a Python body, all arguments are keyword
arguments with literal values; ``true``, ``false`` and ``null`` are literals too. Tuples become
lists. The name of the tool must be a Python name.
"""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

from chunkast.heuristics import Heuristic, Patch, Pipeline
from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.body import Kind, Opener, Reading, Source, groups, signs
from chunkast.toolcalls.json_call import ARGUMENT_KEYS, NAME, REPAIRS, members_of, split_tail
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.protocols import Protocol
from chunkast.toolcalls.repairs import REPAIR_AGAINST_SCHEMA, ToolDraft, ToolPipeline
from chunkast.toolcalls.values import coerced, load_json
from chunkast.toolcalls.xml_body import Body, BodyError

__all__ = ("JSON", "PYTHON")

# Text at the end of a fragment that may be part of a mark. It contains no quotes and no closing
# brackets, which must be read as soon as they arrive.
_CUT: Final = (
    r"<[\w/|｜▁.:=-]{0,60}\Z|\\\Z|\[[A-Z_]{0,11}\Z"
    r"|\n {0,3}(?:`{0,2}|```\w{0,20}[ \t]{0,9}(?:\n\s{0,40})?)\Z"
)
_OPEN_FENCE: Final = r"\n {0,3}```\w{0,20}[ \t]{0,9}\n\s{0,40}(?=[{\[])"
# The key of an object that has the arguments of a call in JSON, or is them, and the maximum number
# of brackets before the arguments.
_KEY: Final = re.compile(rf"[\"'](function|{'|'.join(ARGUMENT_KEYS)})[\"']\s{{0,40}}:\s{{0,40}}\Z")
_BEFORE_ARGUMENTS: Final = 40
# What is before the arguments of a call in Python.
_CALL: Final = re.compile(r"[\[,]?\s*([\w.]{1,256}?)(?:\.call)?\s{0,40}\(")
# A backslash, and what it escapes; Python would warn of a backslash that does not escape anything.
_BACKSLASH: Final = re.compile(r"""\\([\\'"abfnrtvxuUN0\n])?""")
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<string>\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<key>\w+)\s*=|(?P<other>[\w.+-]+|[()\[\]{},:]))""",
    re.DOTALL | re.VERBOSE,
)
_NAMES: Final = {"True": "true", "False": "false", "None": "null"}
# Each opening bracket in JSON, and the closing one in Python and JSON.
_BRACKETS: Final = {"[": ("[", "]", "]"), "(": ("[", ")", "]"), "{": ("{", "}", "}")}


@dataclass(slots=True)
class _Brackets(Reading):
    """Text with brackets, if the reading begins outside strings."""

    quotes: str = '"'
    # The brackets that are open, and all that were opened, in order.
    open: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    # The positions of the closing tags outside strings.
    closing: dict[str, list[int]] = field(default_factory=dict)
    # The quote of the string that is open, the closing tag in it, and the signs open in it.
    quote: str = ""
    quote_at: int = 0
    inside: tuple[str, int] | None = None
    nested: int = 0
    # The end of the last sign in the string that is open.
    inner_sign: int = 0
    # The closing tag in the last string, and the end of that string. If the text after it is not
    # JSON, the quote of the string was missing.
    doubt: tuple[str, int, int] | None = None
    # The end of the last closing bracket, if no quote, bracket or comma (in Python) has followed.
    last: int = 0
    # The position of the last sign of another call outside strings; it ends what is open there.
    sign: int = -1

    def note(self, mark: re.Match[str], start: int, end: int) -> None:
        text, kind = mark[0], mark.lastgroup
        if self.doubt:
            if self.text.between(self.doubt[2], end).lstrip()[0] not in ",:}]":
                self.close(*self.doubt[:2])
            self.doubt = None
        if self.quote:
            self.note_in_string(text, kind, end)
        elif kind == "closer":
            self.close(text, end)
        elif kind == "sign":
            if self.last and self.open:
                self.ends.setdefault(self.open[-1], self.last)
            self.sign = start
        elif text in "}])" and self.open:
            self.ends.setdefault(self.open.pop(), end)
            self.last = end
        else:
            self.last = 0
            self.quote, self.quote_at = (text, start) if text in self.quotes else ("", 0)
            if text in "{[(":
                self.open.append(start)
                self.opened.append(start)

    def note_in_string(self, text: str, kind: str | None, end: int) -> None:
        if text == self.quote:
            self.doubt = (*self.inside, end) if self.inside else None
            self.quote, self.inside, self.nested, self.inner_sign = "", None, 0, 0
        elif kind == "sign" and self.inside:
            self.close(*self.inside)
        elif kind == "sign":
            self.nested += 1
            self.inner_sign = end
        elif kind == "closer" and self.nested:
            self.nested -= 1
        elif kind == "closer" and not self.inside:
            self.inside = text, end

    def close(self, closer: str, end: int) -> None:
        self.closing.setdefault(closer, []).append(end)

    def known(self, key: int) -> int | None:
        end = self.ends.get(key)
        for closer in self.closers if self.closing else ():
            found = self.closing.get(closer, [])
            at = bisect_right(found, key)
            if at < len(found) and (end is None or found[at] < end):
                end = found[at]
        return -1 if end is None and key <= self.sign else end

    def fallback(self, key: int) -> int | None:
        if self.doubt and self.doubt[0] in self.closers and key < self.doubt[1]:
            return self.doubt[1]
        if self.inside and self.inside[0] in self.closers and self.inner_sign <= key:
            return self.inside[1]
        return self.last if self.last and self.open[-1:] == [key] else None

    def complete(self, key: int) -> int:
        if self.text.between(key, key + 1) != "[":
            return 0
        end, at = 0, key + 1
        for number in range(bisect_right(self.opened, key), len(self.opened)):
            start = self.opened[number]
            if start < at:
                continue
            if start not in self.ends or self.text.between(start, start + 1) not in "{(":
                break
            end = at = self.ends[start]
        return end

    def contains(self, key: int) -> bool:
        at = bisect_left(self.opened, key)
        return at < len(self.opened) and self.opened[at] == key

    def last_end(self, key: int) -> int | None:
        # A value that reaches to the end lacks its quote if all brackets are closed in it.
        start = max(key, self.text.end - 99)
        rest = self.text.between(start, self.text.end).rstrip()
        before = self.text.between(max(key, self.quote_at - 9), self.quote_at).rstrip()
        is_value = self.quote == self.quotes and before.endswith((":", ",", "["))
        is_whole = is_value and self.inner_sign <= key and rest.endswith(("}", "]"))
        return start + len(rest) if is_whole and not self.closers else None


def _outermost(opener: Opener, text: str) -> list[tuple[int, int | None]]:
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


def _name_of(source: str, row: Protocol, names: Collection[str]) -> str:
    text = source[: split_tail(source)]
    try:
        call = members_of(load_json(text))
    except ValueError:
        match = NAME.search(text)
        name = match[1] if match else ""
        is_call = any(key in text for key in ARGUMENT_KEYS)
    else:
        name, value = str(call.name or ""), call.arguments
        is_schema = isinstance(value, dict) and isinstance(value.get("properties"), dict)
        is_call = value is not None and not call.others and not is_schema
    return name if row.name != "json" or (is_call and name in names) else ""


def _is_closed(tail: str, row: Protocol) -> bool:
    return not row.closers or any(closer in tail for closer in row.closers)


@cache
def _pipeline(row: Protocol) -> ToolPipeline:
    def close(draft: ToolDraft) -> Patch[dict[str, Any]] | None:
        stop = split_tail(draft.source)
        if row.is_lenient or _is_closed(draft.source[stop:], row):
            return None
        return Patch(source=draft.source[:stop] + row.closers[0], notes=("close-call",))

    return Pipeline.of((Heuristic("close-call", "pre-parse", close), *REPAIRS))


def _json_of(token: re.Match[str]) -> str:
    if token["string"]:
        text = _BACKSLASH.sub(lambda m: m[0] if m[1] else r"\\", token["string"])
        try:
            return json.dumps(ast.literal_eval(text))
        except (SyntaxError, ValueError):
            return "?"  # which is no JSON
    if token["key"]:
        return json.dumps(token["key"]) + ":"
    return _NAMES.get(token["other"], token["other"])


def _marks(mark: str, row: Protocol, _name: str, rows: Sequence[Protocol]) -> str:
    fence = _OPEN_FENCE if any(each.name == "json" for each in rows) else ""
    sign = "|".join(filter(None, (signs(rows), fence)))
    own = (each for each in rows if each.kind == row.kind)
    closers = dict.fromkeys(re.escape(closer) for each in own for closer in each.closers)
    return groups(cut=_CUT, closer="|".join(closers), sign=sign, mark=mark)


def _json_calls(opener: Opener, text: str, names: Collection[str]) -> list[Source]:
    """Return the calls in ``text``.

    The source is the call's object and what follows the last one. The name of what is no call
    is "". In the protocol ``json``, a call has to have a known name, and arguments.
    """
    body, row = text[opener.body - opener.start :], opener.protocol
    if opener.name:
        return [(len(text), body, opener.name)]
    objects = _outermost(opener, text)
    before = text[len(text) - len(body) : objects[0][0]] if objects else ""
    if not objects or ("[" not in before and len(objects) == 1):
        return [(len(text), body, _name_of(body, row, names))]
    last = objects[-1][1] or split_tail(text)
    tail = text[last:].lstrip(WHITE_SPACE).removeprefix("]")
    sources = [text[start : end or last] + tail for start, end in objects]
    ends = [*(end or last for _, end in objects[:-1]), len(text)]
    return [(end, s, _name_of(s, row, names)) for end, s in zip(ends, sources, strict=True)]


def _read_json(source: str, schema: Schema, opener: Opener) -> Body:
    stop, row = split_tail(source), opener.protocol
    if not row.is_lenient and not _is_closed(source[stop:], row):
        raise BodyError(f"{row.closers[0]} is missing")
    try:
        # A call that has its name elsewhere may have no arguments.
        value = load_json(source[:stop] or "{}" * bool(opener.name))
    except ValueError as error:
        raise BodyError(f"it is not JSON: {error}") from None
    others: tuple[str, ...] = ()
    call_id = opener.id
    if not opener.name:
        _, value, call_id, others = members_of(value)
        value = {} if value is None else value
    if not isinstance(value, dict):
        raise BodyError(f"the arguments are {type(value).__name__}; they must be an object")
    dropped = [(name, "a member", (0, 0)) for name in others]
    return Body(coerced(value, schema, 0), {}, dropped, call_id)


def _json_beginning(opener: Opener, text: str, at: int) -> tuple[str, int]:
    if opener.name:
        return opener.name, max(opener.body, at)
    opened, next_member, end = opener.reading.opened, at, at + len(text)
    first = bisect_left(opened, at)
    for start in opened[first : first + _BEFORE_ARGUMENTS]:
        if not next_member <= start < end:
            continue
        before = text[: start - at]
        key = _KEY.search(before[-99:])
        if key is None and "{" in before:
            # The value of another member, or another call.
            next_member = opener.reading.ends.get(start, end)
        elif key and key[1] != "function":
            name = NAME.search(before)
            return name[1] if name else "", start
    return "", end


def _python_calls(opener: Opener, text: str, _names: Collection[str]) -> list[Source]:
    """Return the calls in ``text``; a list that has other code too is one call."""
    first = end = opener.body - opener.start
    calls, is_whole = list[Source](), True
    for _, stop in _outermost(opener, text):
        call = _CALL.match(text, end)
        is_whole = is_whole and stop is not None and call is not None
        end = stop or len(text)
        calls.append((end, text[call.start(1) : end] if call else "", call[1] if call else ""))
    rest = "".join(text[end:].split()).removesuffix("<|python_end|>").lstrip(",")
    is_list = text.startswith("[", first) and opener.key is None
    if calls and is_whole and rest == "]" * is_list:
        return [*calls[:-1], (len(text), *calls[-1][1:])]
    return [(len(text), text[first:], calls[0][2] if calls else "")]


def _read_python(source: str, schema: Schema, _opener: Opener) -> Body:
    """Return the arguments in a source.

    The source becomes JSON, token by token: older versions of Python crash when they parse long
    chains of operators.
    """
    call = _CALL.match(source)
    # What begins with a bracket is a list with other code.
    at = call.end() if call and not call.start(1) else 0
    parts, closers = ["{"], [(")", "}")]
    while closers and (token := _TOKEN.match(source, at)):
        at, text = token.end(), _json_of(token)
        if text in _BRACKETS:
            text, *closer = _BRACKETS[text]
            closers.append((closer[0], closer[1]))
        elif text == closers[-1][0]:
            parts[-1] = parts[-1].removesuffix(",")
            text = closers.pop()[1]
        parts.append(text)
    rest = "," * len(closers) + source[at:]
    try:
        arguments = load_json("".join(parts) + rest)
    except ValueError:
        raise BodyError("it is not one call with named literals as its arguments") from None
    return Body(coerced(arguments, schema, 0), {}, [])


def _python_beginning(opener: Opener, text: str, at: int) -> tuple[str, int]:
    match = _CALL.match(text, max(0, opener.body - at))
    return (match[1], at + match.end()) if match else ("", at + len(text))


def _parenthesis_closed(opener: Opener, start: int) -> int | None:
    # The parentheses around the arguments do not belong to them.
    end = opener.reading.ends.get(start - 1)
    return None if end is None else end - 1


JSON: Final = Kind(
    reading=_Brackets,
    marks=partial(_marks, r"\\.|[\"{}\[\]]"),
    key=lambda opener, text: None if text.endswith(opener.protocol.closers) else opener.end - 1,
    read=_read_json,
    calls=_json_calls,
    pipeline=_pipeline,
    beginning=_json_beginning,
    closed=lambda opener, start: opener.reading.ends.get(start) if opener.reading else None,
    stop=lambda _opener, raw, _at: split_tail(raw),
)
PYTHON: Final = Kind(
    reading=partial(_Brackets, quotes="\"'"),
    marks=partial(_marks, r"\\.|[\"'{}\[\](),]"),
    key=lambda opener, _: opener.end - 1,
    read=_read_python,
    pipeline=lambda _: Pipeline.of((REPAIR_AGAINST_SCHEMA,)),
    calls=_python_calls,
    beginning=_python_beginning,
    closed=_parenthesis_closed,
)
