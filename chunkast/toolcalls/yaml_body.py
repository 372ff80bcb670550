"""Read an object in YAML, such as the text of an element without child elements.

The schema determines the type of each value. A value without a schema may be true, false, null, a
number or JSON; all other values, such as a date or ``yes``, are text. Aliases are not allowed.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Final

import yaml

from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.values import MAX_DEPTH, guessed, too_deep

__all__ = ("read_yaml",)

# A longer text is not read. A member begins with its name, in quotes or not, and a colon.
_MOST_READ: Final = 100_000
_MEMBER: Final = re.compile(r"(?m)^[ \t]*[\"']?([^\s\"':][^\n\"':]*?)[\"']?[ \t]*:(?=\s|\Z)")
_SWITCHES: Final = {"yes": True, "on": True, "no": False, "off": False}


class _Loader(yaml.SafeLoader):
    """A loader of nodes that refuses aliases and deep nesting."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent) or self.depth >= MAX_DEPTH:
            raise yaml.YAMLError("an alias, or nested too deep")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_yaml(text: str, schema: Schema) -> dict[str, Any] | None:
    """Return the object in ``text``; ``None`` if there is no object with a declared property."""
    names = {match[1] for match in _MEMBER.finditer(text)}
    # A quote in plain text begins no string.
    is_deep = len(text) > _MOST_READ or too_deep(text.replace('"', ""))
    if names & schema.properties.keys() and not is_deep:
        with suppress(yaml.YAMLError, ValueError):
            node = yaml.compose(text, _Loader)
            return _value(node, schema) if isinstance(node, yaml.MappingNode) else None
    return None


def _value(node: Any, schema: Schema | None) -> Any:
    """Return the value of ``node``; raise ``ValueError`` for a name that is no text or repeated."""
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, schema and schema.items) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        members = {key.value: value for key, value in node.value if isinstance(key.value, str)}
        if len(members) < len(node.value):
            raise ValueError("a name is a list or an object, or comes twice")
        return {name: _value(v, schema and schema.property(name)) for name, v in members.items()}
    text = node.value
    if node.style is not None or (schema and schema.kind == "string"):
        return text
    if text in ("", "~", "null"):
        return None
    if schema and schema.kind == "boolean":
        return _SWITCHES.get(text.lower(), text)
    return guessed(text)
