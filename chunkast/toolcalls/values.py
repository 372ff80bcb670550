"""Convert strings and lists to the types that a schema requires; leave other values unchanged.

All values are JSON data: numbers are finite, and integers are exact. An integer with more digits
than Python can convert (4,300 by default) stays text. Beyond ``MAX_DEPTH`` levels of nesting,
values are not changed, and strings are not read as JSON, so that recursion is bounded.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.json_schema import Schema

__all__ = (
    "MAX_DEPTH",
    "coerce",
    "coerced",
    "guessed",
    "json_problem",
    "listed",
    "load_json",
    "too_deep",
)

# Converts a value to what the schema requires, at a depth of nesting.
Conversion = Callable[[Any, Schema, int], Any]

MAX_DEPTH: Final = 64
# Nested values may contain texts of JSON, and those strings of XML, each with its own limit.
_MAX_RESULT_DEPTH: Final = 4 * MAX_DEPTH

_INTEGER: Final = re.compile(r"-?[0-9]+")
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BOOLEANS: Final = {"true": True, "false": False}
# Strings (an unclosed one reaches to the end), and the brackets outside them.
_JSON_BRACKET: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
_MAX_DIGITS: Final = 4300


def coerce(value: Any, schema: Mapping[str, Any]) -> Any:
    """Convert ``value`` to the type that a JSON Schema requires, if possible; do not validate it.

    Booleans, numbers and objects are read from strings. Arrays are read from strings (JSON, lines,
    or items separated by commas) and from objects (``{"item": ...}``, numbered members, or a single
    member that is a list). If the schema requires an array, any other value becomes its only item.
    Values inside lists and objects are converted too. Never raises an exception for JSON data.

    >>> from chunkast.toolcalls import coerce
    >>> coerce("3, 4", {"type": "array", "items": {"type": "integer"}})
    [3, 4]
    """
    return coerced(value, Schema(schema), 0)


def coerced(value: Any, schema: Schema, depth: int) -> Any:
    """Convert ``value`` as :func:`coerce` does; ``depth`` is its level of nesting."""
    convert = _CONVERSIONS.get(schema.kind or "")
    if convert is None or depth >= MAX_DEPTH:
        return value
    if isinstance(value, list) and schema.kind != "array":
        return [convert(item, schema, depth) for item in value]
    return convert(value, schema, depth)


def guessed(value: Any) -> Any:
    """Convert a value without a schema to the boolean, number or JSON data that it looks like."""
    if isinstance(value, list):
        return [guessed(item) if isinstance(item, str) else item for item in value]
    if not isinstance(value, str):
        return value
    boolean = _BOOLEANS.get(value.lower())
    if boolean is not None:
        return boolean
    structure = _structure(value, single_quotes=False)
    return number_or_text(value) if structure is None else structure


def listed(members: Mapping[str, Any], *, numbers: bool) -> list[Any] | None:
    """Return the list that an object represents, or ``None`` if it does not represent a list.

    Such an object has ``item`` as its only member, or members numbered from 0. If ``numbers`` is
    true, strings that are numbers become numbers.
    """
    names = [str(number) for number in range(len(members))]
    if members.keys() == {"item"}:
        item = members["item"]
        values = item if isinstance(item, list) else [item]
    elif members and members.keys() == set(names):
        values = [members[name] for name in names]
    else:
        return None
    return [number_or_text(v) if numbers and isinstance(v, str) else v for v in values]


def number_or_text(text: str) -> int | float | str:
    """Return the number in ``text``, ignoring white space around it, or else ``text`` itself."""
    stripped = text.strip(WHITE_SPACE)
    if _INTEGER.fullmatch(stripped):
        return _integer(stripped, text)
    return _finite(stripped, text) if _NUMBER.fullmatch(stripped) else text


def _integer(digits: str, otherwise: str) -> int | str:
    if len(digits.lstrip("-")) > _MAX_DIGITS:
        return otherwise
    try:
        return int(digits)
    except ValueError:  # the interpreter's own limit is lower
        return otherwise


def _finite(digits: str, otherwise: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else otherwise


def _scalar(convert: Callable[[str], Any]) -> Conversion:
    """Return a conversion of strings by ``convert``, also of the string in ``{"item": "..."}``."""

    def converted(value: Any, _schema: Schema, _depth: int) -> Any:
        only_item = isinstance(value, dict) and value.keys() == {"item"}
        text = value["item"] if only_item else value
        return convert(text) if isinstance(text, str) else value

    return converted


def _object(value: Any, schema: Schema, depth: int) -> Any:
    if isinstance(value, str):
        text = value.strip(WHITE_SPACE)
        structure = _structure(text, single_quotes=True) if text else {}
        value = structure if isinstance(structure, dict) else value
    if not isinstance(value, dict):
        return value
    return {
        name: member if known is None else coerced(member, known, depth + 1)
        for name, member in value.items()
        for known in (schema.property(name),)
    }


def _array(value: Any, schema: Schema, depth: int) -> Any:
    items = schema.items
    values = _values(value, items)
    positions = schema.positions(len(values))
    if positions is not None:
        return [coerced(v, own, depth + 1) for v, own in zip(values, positions, strict=True)]
    if items is None:
        return values
    return [coerced(item, items, depth + 1) for item in values]


def _values(value: Any, items: Schema | None) -> list[Any]:
    """Return the items that ``value`` represents, before they are converted to a type."""
    if isinstance(value, str):
        text = value.strip(WHITE_SPACE)
        if not text:
            return []
        value = _structure(text, single_quotes=True)
        if value is None:
            entries = text.split("\n" if "\n" in text else ",")
            return [entry for entry in (e.strip(WHITE_SPACE) for e in entries) if entry]
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return _members(value, items)
    return [value]


def _members(value: dict[str, Any], items: Schema | None) -> list[Any]:
    """Return the items in an object, or a list with the object as its only item."""
    declared = {} if items is None else items.properties
    if declared.keys() & value.keys():
        return [value]
    # The types of items without a declaration are guessed.
    values = listed(value, numbers=items is None)
    if values is not None:
        return values
    if len(value) == 1:
        [member] = value.values()
        if isinstance(member, list):
            return member
        if (
            declared
            if isinstance(member, dict)
            else items and items.kind not in (None, "object", "array")
        ):
            return [member]
    return [value]


_CONVERSIONS: Final[Mapping[str, Conversion]] = {
    "object": _object,
    "array": _array,
    "boolean": _scalar(lambda text: _BOOLEANS.get(text.strip(WHITE_SPACE).lower(), text)),
    "number": _scalar(number_or_text),
    "integer": _scalar(number_or_text),
}


def _structure(text: str, *, single_quotes: bool) -> Any:
    """Return the JSON object or array in ``text``, or ``None`` if ``text`` is neither.

    If ``single_quotes`` is true, strings and names may be in single quotes.
    """
    if text.startswith(("{", "[")):
        for written in dict.fromkeys((text, text.replace("'", '"') if single_quotes else text)):
            with suppress(ValueError):
                return None if too_deep(written) else _decoded(written)
    return None


def too_deep(text: str, limit: int = MAX_DEPTH) -> bool:
    """Return whether the brackets in JSON ``text`` nest deeper than ``limit`` levels."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for match in _JSON_BRACKET.finditer(text):
        first = text[match.start()]
        if first != '"':
            depth = depth + 1 if first in "[{" else max(0, depth - 1)
            if depth > limit:
                return True
    return False


def _decoded(text: str, **options: Any) -> Any:
    return json.loads(
        text,
        parse_int=lambda digits: _integer(digits, digits),
        parse_float=lambda digits: _finite(digits, digits),
        parse_constant=_no_constant,
        **options,
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def load_json(text: str, *, strict: bool = True) -> Any:
    """Return the JSON data in ``text``; strings may contain line breaks unless ``strict``.

    Raises ``ValueError`` if ``text`` is not JSON, is nested too deeply, or repeats a name in an
    object.
    """
    if too_deep(text):
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    return _decoded(text, object_pairs_hook=_unique, strict=strict)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{name!r} comes twice")
    return members


def json_problem(arguments: object) -> str | None:
    """Return the reason why ``arguments`` are not a JSON object, or ``None`` if they are."""
    if not isinstance(arguments, dict):
        return f"the arguments are {type(arguments).__name__}; they must be an object"
    try:
        text = json.dumps(arguments, allow_nan=False)
        if too_deep(text, _MAX_RESULT_DEPTH):
            return f"the arguments nest deeper than {_MAX_RESULT_DEPTH} levels"
        # What JSON has no type for is converted, such as a tuple, or raises an error.
        return None if json.loads(text) == arguments else "the arguments are not JSON data"
    except (TypeError, ValueError, RecursionError) as error:
        return f"the arguments are not JSON data: {error}"
