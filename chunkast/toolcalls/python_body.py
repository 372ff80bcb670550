"""Read the bodies of calls that are written as in Python: ``[weather(city="Oslo"), now()]``.

The code is parsed and never run. Each argument has a name, and a literal as its value, or one of
JSON's names of values. A tool whose name is not a name in Python cannot be called like this.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import Any, Final

from chunkast.toolcalls.body import Body, BodyError
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.values import MAX_DEPTH, coerced, too_deep

__all__ = ("python_calls", "read_python")

_CALL: Final = re.compile(r"([\w.]{1,256}?)(?:\.call)?\s{0,40}\(")
_STRING_OR_BRACKET: Final = re.compile(
    r"""("[^"\\]*(?:\\.[^"\\]*)*"?|'[^'\\]*(?:\\.[^'\\]*)*'?)|[()]""", re.DOTALL
)
_BEFORE_A_CALL: Final = re.compile(r"[\[,]?\s*")
# A backslash, and what it escapes; Python would warn of a backslash that does not escape anything.
_BACKSLASH: Final = re.compile(r"""\\([\\'"abfnrtvxuUN0\n])?""")
_VALUES: Final = {"true": True, "false": False, "null": None}


def python_calls(body: str, *_: object) -> list[tuple[int, str, str]]:
    """Return the end, source and tool's name of each call in ``body``.

    A list with other code is one call.
    """
    ends, depth = [0], 0
    for match in _STRING_OR_BRACKET.finditer(body):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if not depth:
                ends.append(match.end())
    calls = []
    for start, end in pairwise(ends):
        source = _BEFORE_A_CALL.sub("", body[start:end], count=1)
        name = _CALL.match(source)
        calls.append((end, source, name[1] if name else ""))
    rest = "".join(body[ends[-1] :].split()).removesuffix("<|python_end|>").lstrip(",")
    if depth or rest != "]" * body.startswith("[") or not all(name for _, _, name in calls):
        return [(len(body), body, calls[0][2] if calls else "")]
    return calls


def read_python(source: str, schema: Schema) -> Body:
    """Return the arguments in the source of a call; raise ``BodyError`` if it is none."""
    if too_deep(source):
        raise BodyError(f"it is nested deeper than {MAX_DEPTH} levels")
    source = _BACKSLASH.sub(lambda match: match[0] if match[1] else r"\\", source)
    try:
        call = _JsonNames().visit(ast.parse(source, mode="eval")).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise BodyError("it is not a call in Python") from None
    if not isinstance(call, ast.Call) or call.args:
        raise BodyError("it is not one call whose arguments have names")
    arguments: dict[str, Any] = {}
    for keyword in call.keywords:
        name = keyword.arg or "**"
        if name == "**" or name in arguments:
            raise BodyError(f"the argument {name!r} comes twice or has no name")
        value, known = _value(keyword.value), schema.property(name)
        arguments[name] = coerced(value, known, 1) if known else value
    return Body(arguments, {}, [])


class _JsonNames(ast.NodeTransformer):
    """Replaces JSON's names of values with the values."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_VALUES[node.id]) if node.id in _VALUES else node


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise BodyError(f"the value at {node.col_offset} is not a literal") from None
