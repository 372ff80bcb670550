"""The parts of a JSON Schema that chunkast uses: the kind, properties and items of a value.

``jsonSchema`` wrappers are removed, local references are followed, and the most specific of several
alternatives is used. The rest of a schema is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

__all__ = ("Schema",)

# If a schema allows several types, the first of these is used; a value that fits none is text.
_KINDS: Final = ("object", "array", "boolean", "number", "integer", "string")
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
# The maximum number of wrappers and references around a schema; more indicate a cycle.
_MAX_HOPS: Final = 8


class Schema:
    """A JSON Schema whose wrappers and references are resolved: the mapping ``resolved``.

    ``root`` is the mapping in which its references are resolved.
    ``kind`` is a JSON type, or ``None`` if the type is unknown.
    """

    def __init__(self, schema: object, root: Mapping[str, Any] | None = None) -> None:
        """Resolve ``schema``; its references are resolved in the schema ``root``."""
        self.resolved, self.root, self._choices = _opened(schema, root, _MAX_HOPS)
        self.kind = _kind(self.resolved)
        self._known: dict[str, Schema] = {}

    @cached_property
    def alternatives(self) -> Sequence[Schema]:
        """The schemas in ``anyOf`` or ``oneOf``; ``resolved`` is the most specific of them."""
        return [Schema(choice, self.root) for choice in self._choices]

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        """The schemas of the declared properties by name, not resolved."""
        properties = self.resolved.get("properties")
        return properties if isinstance(properties, Mapping) else {}

    @cached_property
    def allows_null(self) -> bool:
        """True if ``null`` is a value of any type that the schema has."""
        is_nullable = self.resolved.get("nullable") is True
        is_typed = "null" not in self.resolved.get("type", "null")
        return is_nullable or not is_typed or any(one.allows_null for one in self.alternatives)

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
        """Return the ``count`` schemas of an array's items by position, or ``None``.

        Return ``None`` if the schema does not declare exactly ``count`` items by position.
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
