"""Read the bodies of calls that are written as in Python: ``[weather(city="Oslo"), now()]``.

Each argument has a name, and a literal as its value, with the names of values of Python or JSON.
A tuple becomes a list. A tool whose name is not a name in Python cannot be called like this.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Final

from chunkast.toolcalls.body import Body, BodyError
from chunkast.toolcalls.finder import Opener
from chunkast.toolcalls.json_body import outermost
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.values import coerced, load_json

__all__ = ("CALL", "python_calls", "read_python")

# What is before the arguments of a call.
CALL: Final = re.compile(r"[\[,]?\s*([\w.]{1,256}?)(?:\.call)?\s{0,40}\(")
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


def python_calls(opener: Opener, text: str, _: object) -> list[tuple[int, str, str]]:
    """Return the end, source and tool's name of each call in ``text``.

    A list that has other code too is returned as one call, which cannot be read.
    """
    first = end = opener.body - opener.start
    calls, is_whole = [], True
    for _, stop in outermost(opener, text):
        call = CALL.match(text, end)
        is_whole = is_whole and stop is not None and call is not None
        end = stop or len(text)
        calls.append((end, text[call.start(1) : end] if call else "", call[1] if call else ""))
    rest = "".join(text[end:].split()).removesuffix("<|python_end|>").lstrip(",")
    is_list = text.startswith("[", first) and opener.key is None
    if calls and is_whole and rest == "]" * is_list:
        return [*calls[:-1], (len(text), *calls[-1][1:])]
    return [(len(text), text[first:], calls[0][2] if calls else "")]


def read_python(source: str, schema: Schema) -> Body:
    """Return the arguments in the source of a call; raise ``BodyError`` if it is none.

    The source becomes JSON, token by token: older versions of Python crash when they parse long
    chains of operators.
    """
    call = CALL.match(source)
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


def _json_of(token: re.Match[str]) -> str:
    if token["string"]:
        text = _BACKSLASH.sub(lambda m: m[0] if m[1] else r"\\", token["string"])
        try:
            return json.dumps(ast.literal_eval(text))
        except (SyntaxError, ValueError):
            return "?"  # which is no JSON
    return (
        json.dumps(token["key"]) + ":"
        if token["key"]
        else _NAMES.get(other := token["other"], other)
    )
