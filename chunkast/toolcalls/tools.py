"""Check lists of tools, and read tools from JSON data in the common formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from chunkast.errors import ConfigError
from chunkast.toolcalls.call_model import Tool

__all__ = ("tools_by_name", "tools_from_json")

# The names of the arguments' schema in common use.
_SCHEMA_KEYS: Final = ("parameters", "input_schema", "inputSchema", "json_schema")


def tools_from_json(value: object) -> list[Tool]:
    """Return the tools in JSON data: a list of tools, or an object that maps names to schemas.

    A tool in a list is an object with a "name" and a schema under "parameters", "input_schema",
    "inputSchema" or "json_schema", or an object whose "function" is such an object. A tool without
    a schema accepts any arguments. Raises ``ConfigError`` for other data, with the position of the
    invalid value.
    """
    if isinstance(value, Mapping):
        return [_tool(f"tools[{name!r}]", name, schema) for name, schema in value.items()]
    if not isinstance(value, (list, tuple)):
        raise ConfigError("tools", value, "must be a list of tools or an object of schemas")
    return [_listed_tool(f"tools[{number}]", entry) for number, entry in enumerate(value)]


def _listed_tool(place: str, entry: Any) -> Tool:
    if isinstance(entry, Mapping) and isinstance(entry.get("function"), Mapping):
        place, entry = f"{place}.function", entry["function"]
    if not isinstance(entry, Mapping):
        raise ConfigError(place, entry, "must be an object with a name and a schema")
    schema = (entry[key] for key in _SCHEMA_KEYS if key in entry)
    return _tool(place, entry.get("name"), next(schema, {}))


def _tool(place: str, name: Any, schema: Any) -> Tool:
    try:
        return Tool(name, schema)
    except ConfigError as error:
        raise ConfigError(f"{place}.{error.field}", error.value, error.allowed) from None


def tools_by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Return the tools by name; raise ``ConfigError`` for an invalid tool or a duplicate name."""
    by_name: dict[str, Tool] = {}
    for tool in tools:
        if not isinstance(tool, Tool):
            raise ConfigError("tools", tool, "must be a Tool")
        if tool.name in by_name:
            raise ConfigError("tools", tool.name, "two tools have this name; it must be unique")
        by_name[tool.name] = tool
    return by_name
