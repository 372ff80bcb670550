"""Find arguments of a call that do not fit the tool's JSON Schema.

The keywords ``type``, ``enum``, ``const``, ``required`` and ``additionalProperties: false`` are
checked, down to ``MAX_DEPTH`` levels of nesting. ``jsonschema`` (the extra ``schema``) checks the
other keywords, if it is installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from chunkast.errors import describe
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.values import MAX_DEPTH

__all__ = ("all_problems", "schema_problems", "shortened")

# The keywords that are checked here.
_OWN: Final = frozenset(
    ("type", "enum", "const", "required", "additionalProperties", "anyOf", "oneOf", "$ref")
)

# The maximum number of characters of a value in a message.
_MOST_SHOWN: Final = 60
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "boolean": (bool,),
    "number": (int, float),
    "integer": (int,),
    "string": (str,),
    "null": (type(None),),
}


def all_problems(value: Any, schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield the path and the reason for each value that does not fit a tool's ``schema``."""
    yield from schema_problems(value, schema)
    validator = _validator(schema)
    if validator is None:
        return
    try:
        errors = [error for error in validator.iter_errors(value) if error.validator not in _OWN]
    except Exception as failure:  # noqa: BLE001 - whatever an invalid schema causes
        yield "", f"its schema cannot be used: {shortened(describe(failure))}"
        return
    for error in errors:
        yield error.json_path.removeprefix("$").removeprefix("."), shortened(error.message)


@lru_cache(maxsize=64)
def _validator(schema: Schema) -> Any:
    """Return the validator of ``jsonschema``, or ``None`` if it is not installed."""
    try:
        from jsonschema import Draft202012Validator
        from referencing import Registry
    except ImportError:
        return None
    # An empty registry: a reference to another place is an error, not a download.
    return Draft202012Validator(schema.root, registry=Registry())


def schema_problems(
    value: Any, schema: Schema, path: str = "", depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the path and the reason for each value that does not fit ``schema``.

    An example of a path is ``days[0].name``.
    """
    if depth >= MAX_DEPTH:
        return
    if schema.alternatives:
        count = len(schema.alternatives)
        if all([*schema_problems(value, s, path, depth + 1)] for s in schema.alternatives):
            yield path, f"{_value(value)} fits none of {count} alternatives"
        return
    reason = _mismatch(value, schema.resolved)
    if reason:
        yield path, f"{_value(value)} is not {reason}"
    elif isinstance(value, dict):
        yield from _members(value, schema, path, depth)
    elif isinstance(value, list) and schema.items is not None:
        for number, item in enumerate(value):
            yield from schema_problems(item, schema.items, f"{path}[{number}]", depth + 1)


def _members(
    value: dict[str, Any], schema: Schema, path: str, depth: int
) -> Iterator[tuple[str, str]]:
    before = f"{path}." if path else ""
    required = schema.resolved.get("required")
    for name in required if isinstance(required, (list, tuple)) else ():
        if isinstance(name, str) and name not in value:
            yield f"{before}{name}", "is required and missing"
    for name, member in value.items():
        known = schema.property(name)
        if known is not None:
            yield from schema_problems(member, known, f"{before}{name}", depth + 1)
        elif schema.resolved.get("additionalProperties") is False:
            yield f"{before}{name}", "is not declared"


def _mismatch(value: Any, schema: Mapping[str, Any]) -> str:
    """Return a description of the allowed values, or an empty string if ``value`` is allowed."""
    types = schema.get("type")
    names = types if isinstance(types, (list, tuple)) else [types]
    known = [name for name in names if isinstance(name, str) and name in _TYPES]
    if value is None and schema.get("nullable") is True:
        return ""
    if known and not any(_is_of(value, name) for name in known):
        return f"of type {' or '.join(known)}"
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(allowed, (list, tuple)) and not any(_is_same(value, one) for one in allowed):
        return f"one of {_value(list(allowed))}"
    return ""


def _is_of(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    whole = name == "integer" and isinstance(value, float) and value.is_integer()
    return whole or isinstance(value, _TYPES[name])


def _is_same(value: Any, other: Any) -> bool:
    # True equals 1 in Python, but not in JSON.
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _value(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False, default=str))


def shortened(text: str) -> str:
    """Return ``text``, shortened for use in a message."""
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
