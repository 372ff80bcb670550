"""Read the parts of a JSON Schema that chunkast uses: the type, properties and items of a value.

``jsonSchema`` wrappers are removed, local references are followed, and the most specific of several
alternatives is used. The rest of a schema is ignored. ``jsonschema`` (the extra ``toolcalls``)
validates values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

from chunkast.errors import MissingPackageError, describe

__all__ = ("Schema", "all_problems", "shortened")

# If a schema allows several types, the first of these is used; a value that fits none is text.
_KINDS: Final = ("object", "array", "boolean", "number", "integer", "string")
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
# The maximum number of wrappers and references around a schema; more indicate a cycle.
_MAX_HOPS: Final = 8
# The maximum number of characters of a value, and of a reason, in a message.
_MOST_SHOWN: Final = 60
_LONGEST: Final = 240


class Schema:
    """A JSON Schema without wrappers and references.

    resolved: the schema as a mapping.
    root: the whole schema, in which references are looked up.
    kind: the JSON type of values, or ``None`` if it is unknown.
    """

    def __init__(self, schema: object, root: Mapping[str, Any] | None = None) -> None:
        """Resolve ``schema``; look up references in ``root``, or in ``schema`` if that is None."""
        self.resolved, self.root, self._choices = _opened(schema, root, _MAX_HOPS)
        self.kind = _kind(self.resolved)
        self._known: dict[str, Schema] = {}

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        """The unresolved schemas of the declared properties, by name."""
        properties = self.resolved.get("properties")
        return properties if isinstance(properties, Mapping) else {}

    @property
    def allows_null(self) -> bool:
        """True if the schema allows ``null``."""
        choices = (one for one in (self.resolved, *self._choices) if isinstance(one, Mapping))
        return any("null" in one.get("type", "null") or one.get("nullable") for one in choices)

    def property(self, name: str) -> Schema | None:
        """Return the schema of a property, or ``None`` if the property is not declared."""
        if name not in self.properties:
            return None
        if name not in self._known:
            self._known[name] = Schema(self.properties[name], self.root)
        return self._known[name]

    @cached_property
    def items(self) -> Schema | None:
        """The schema of an array's items, or ``None`` if the items are not declared."""
        items = self.resolved.get("items")
        return Schema(items, self.root) if isinstance(items, Mapping) else None

    def positions(self, count: int) -> Sequence[Schema] | None:
        """Return the schemas of an array's items, by position.

        Returns ``None`` unless the schema declares exactly ``count`` items by position.
        """
        items = self.resolved.get("prefixItems")
        if not isinstance(items, (list, tuple)) or len(items) != count:
            return None
        return [Schema(item, self.root) for item in items]


def _kind(schema: Mapping[str, Any]) -> str | None:
    types = schema.get("type")
    if types is None:
        implied = {"properties": "object", "items": "array", "prefixItems": "array"}
        return next((kind for key, kind in implied.items() if key in schema), None)
    names = types if isinstance(types, (list, tuple)) else (types,)
    return next((kind for kind in _KINDS if kind in names), None)


def _opened(
    schema: object, root: Mapping[str, Any] | None, hops: int
) -> tuple[Mapping[str, Any], Mapping[str, Any], Sequence[Any]]:
    """Resolve the wrappers, references and alternatives of ``schema``.

    Return the resolved schema, its root, and the alternatives from which it was chosen.
    """
    if not isinstance(schema, Mapping):
        return {}, {}, ()
    root = schema if root is None else root
    if not hops:
        return schema, root, ()
    if isinstance(schema.get("jsonSchema"), Mapping):
        return _opened(schema["jsonSchema"], None, hops - 1)
    if isinstance(schema.get("$ref"), str):
        return _opened(_referred(schema["$ref"], root), root, hops - 1)
    if _kind(schema) is None:
        lists = (key for key in _ALTERNATIVES if isinstance(schema.get(key), (list, tuple)))
        key = next(lists, "")
        branches: Sequence[Any] = schema.get(key, ())
        opened = [_opened(branch, root, hops - 1)[0] for branch in branches]
        known = [branch for branch in opened if _kind(branch) is not None]
        if known:
            specific = min(known, key=lambda branch: _KINDS.index(_kind(branch) or ""))
            return specific, root, () if key == "allOf" else branches
    return schema, root, ()


def _referred(reference: str, root: Mapping[str, Any]) -> object:
    """Return the target of a local reference such as ``#/$defs/Name``, or ``None`` if not found."""
    target: object = root
    for step in reference.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        target = target.get(key) if isinstance(target, Mapping) else None
    return target if reference.startswith("#") else None


def all_problems(value: Any, schema: Schema) -> list[tuple[str, str]]:
    """Return a path, such as ``days[0].name``, and a reason for each invalid value.

    Raises ``MissingPackageError`` if ``jsonschema`` is required but not installed.
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
    "type": lambda t: "is not of type " + " or ".join([t] if isinstance(t, str) else t),
    "enum": lambda values: f"is not one of {_shown(values)}",
    "const": lambda value: f"is not one of {_shown([value])}",
    "anyOf": lambda schemas: f"fits none of {len(schemas)} alternatives",
}


def _shown(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False, default=str))


def shortened(text: str, longest: int = _MOST_SHOWN) -> str:
    """Return ``text``, shortened for use in a message."""
    return text if len(text) <= longest else f"{text[:longest]}…"
