"""The parts of a JSON Schema that are used: a value's kind, its properties, its items.

``jsonSchema`` wrappers are opened, local references followed, and of alternatives the most
specific one is used. The rest of a schema is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

__all__ = ("Schema",)

# Of several types the first of these is used; a value that fits none of them is text.
_KINDS: Final = ("object", "array", "boolean", "number", "integer", "string")
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
# The most wrappers and references around one schema; more than these are a cycle.
_MAX_HOPS: Final = 8


class Schema:
    """A resolved JSON Schema. ``kind`` is a JSON type, or ``None`` if no type is given."""

    def __init__(self, given: object, root: Mapping[str, Any] | None = None) -> None:
        """Resolve ``given``, whose references start from the schema ``root``."""
        self.given, self._root, self._choices = _opened(given, root, _MAX_HOPS)
        self.kind = _kind(self.given)
        self._known: dict[str, Schema] = {}

    @cached_property
    def alternatives(self) -> Sequence[Schema]:
        """The schemas of ``anyOf`` or ``oneOf``, of which ``given`` is the most specific."""
        return [Schema(choice, self._root) for choice in self._choices]

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        """The schemas of the declared properties, as they were given."""
        found = self.given.get("properties")
        return found if isinstance(found, Mapping) else {}

    def property(self, name: str) -> Schema | None:
        """Return the schema of a declared property, else ``None``."""
        if name not in self.properties:
            return None
        if name not in self._known:
            self._known[name] = Schema(self.properties[name], self._root)
        return self._known[name]

    @cached_property
    def items(self) -> Schema | None:
        """The schema of an array's items."""
        found = self.given.get("items")
        return Schema(found, self._root) if isinstance(found, Mapping) else None

    def positions(self, count: int) -> Sequence[Schema] | None:
        """Return the schemas of an array's items by position, if there are ``count`` of them."""
        found = self.given.get("prefixItems")
        if not isinstance(found, (list, tuple)) or len(found) != count:
            return None
        return [Schema(item, self._root) for item in found]


def _kind(given: Mapping[str, Any]) -> str | None:
    types = given.get("type")
    if types is None:
        implied = {"properties": "object", "items": "array", "prefixItems": "array"}
        return next((kind for key, kind in implied.items() if key in given), None)
    names = types if isinstance(types, (list, tuple)) else (types,)
    return next((kind for kind in _KINDS if kind in names), None)


def _opened(
    given: object, root: Mapping[str, Any] | None, hops: int
) -> tuple[Mapping[str, Any], Mapping[str, Any], Sequence[Any]]:
    """Return the schema inside wrappers, references and alternatives, its root, the alternatives."""
    if not isinstance(given, Mapping):
        return {}, {}, ()
    root = given if root is None else root
    if not hops:
        return given, root, ()
    if isinstance(given.get("jsonSchema"), Mapping):
        return _opened(given["jsonSchema"], None, hops - 1)
    if isinstance(given.get("$ref"), str):
        return _opened(_referred(given["$ref"], root), root, hops - 1)
    if _kind(given) is None:
        lists = (key for key in _ALTERNATIVES if isinstance(given.get(key), (list, tuple)))
        key = next(lists, "")
        branches: Sequence[Any] = given.get(key, ())
        opened = [_opened(branch, root, hops - 1)[0] for branch in branches]
        known = [branch for branch in opened if _kind(branch) is not None]
        if known:
            specific = min(known, key=lambda branch: _KINDS.index(_kind(branch) or ""))
            return specific, root, () if key == "allOf" else branches
    return given, root, ()


def _referred(reference: str, root: Mapping[str, Any]) -> object:
    """Return the target of a local reference such as ``#/$defs/Name``."""
    found: object = root
    for step in reference.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if reference.startswith("#") else None
