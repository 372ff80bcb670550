"""Find arguments of a call that do not fit the tool's JSON Schema, with ``jsonschema``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from chunkast.errors import MissingPackageError, describe
from chunkast.toolcalls.json_schema import Schema

__all__ = ("all_problems", "shortened")

# The maximum number of characters of a value, and of a reason, in a message.
_MOST_SHOWN: Final = 60
_LONGEST: Final = 240


def all_problems(value: Any, schema: Schema) -> list[tuple[str, str]]:
    """Return the path and the reason for each value that does not fit a tool's ``schema``.

    An example of a path is ``days[0].name``. Raises ``MissingPackageError`` if ``jsonschema`` is
    needed and not installed.
    """
    if not schema.root:
        return []
    validator = _validator(schema)
    try:
        # Those of outer values come first.
        errors = sorted(validator.iter_errors(value), key=lambda error: len(error.absolute_path))
    except Exception as failure:  # noqa: BLE001 - whatever an invalid schema causes
        return [("", f"its schema cannot be used: {shortened(describe(failure))}")]
    return [*dict.fromkeys(problem for error in errors for problem in _problems(error))]


@lru_cache(maxsize=64)
def _validator(schema: Schema) -> Any:
    try:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import validator_for
        from referencing import Registry
    except ImportError:
        raise MissingPackageError("jsonschema", "toolcalls") from None
    # An empty registry: a reference to another place is an error, not a download.
    return validator_for(schema.root, Draft202012Validator)(schema.root, registry=Registry())


def _problems(error: Any) -> Iterator[tuple[str, str]]:
    path = error.json_path.removeprefix("$").removeprefix(".")
    before, rule, value = f"{path}." if path else "", error.validator_value, error.instance
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    if value is None and schema.get("nullable") is True:
        return  # OpenAPI allows null like this
    if error.validator == "required":
        yield from ((f"{before}{n}", "is required and missing") for n in rule if n not in value)
    elif error.validator == "additionalProperties" and not (rule or "patternProperties" in schema):
        known = schema.get("properties", ())
        yield from ((f"{before}{name}", "is not declared") for name in value if name not in known)
    elif reason := _REASONS.get("anyOf" if error.context else error.validator):
        yield path, shortened(f"{_shown(value)} {reason(rule)}", _LONGEST)
    else:
        yield path, shortened(error.message.replace(repr(value), _shown(value), 1), _LONGEST)


# The reason why a value is wrong, by the keyword of the schema, from the keyword's value.
_REASONS: Final[Mapping[str, Callable[[Any], str]]] = {
    "type": lambda types: (
        f"is not of type {' or '.join([types] if types == str(types) else types)}"
    ),
    "enum": lambda values: f"is not one of {_shown(values)}",
    "const": lambda value: f"is not one of {_shown([value])}",
    "anyOf": lambda schemas: f"fits none of {len(schemas)} alternatives",
}


def _shown(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False, default=str))


def shortened(text: str, longest: int = _MOST_SHOWN) -> str:
    """Return ``text``, shortened for use in a message."""
    return text if len(text) <= longest else f"{text[:longest]}…"
