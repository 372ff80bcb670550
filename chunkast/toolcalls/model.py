"""The nouns: a tool, a call of it, and the text around calls.

Positions are code points of the whole text, end-exclusive. The parts of a text tile it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from chunkast.errors import ConfigError

__all__ = ("Part", "Text", "Tool", "ToolCall")

# What a tag can hold as its name, and no longer than a tag that is still coming may be.
_NAME: Final = re.compile(r"[^\s\ufeff<>/=\"'&]{1,256}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that may be called, and the JSON Schema of its arguments.

    Raises ``ConfigError`` for a name that cannot be a tag's and for a schema that is no
    mapping.
    """

    name: str
    json_schema: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ConfigError(
                "name", self.name, "allowed are 1 to 256 characters, no white space, no <>/=\"'&"
            )
        if not isinstance(self.json_schema, Mapping):
            raise ConfigError(
                "json_schema", self.json_schema, "allowed is a JSON Schema as a mapping"
            )


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call, with arguments that are JSON data; ``raw`` is its text, tags included."""

    name: str
    arguments: dict[str, Any] = field(hash=False)
    raw: str
    start_index: int
    end_index: int


@dataclass(frozen=True, slots=True)
class Text:
    """Text outside calls, or a call that could not be parsed, verbatim."""

    text: str
    start_index: int
    end_index: int


Part = Text | ToolCall
