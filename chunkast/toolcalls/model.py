"""The data types: a tool, a call of it, and the text around calls.

Positions are character indices into the whole text, end-exclusive. The parts of a text tile it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from chunkast.errors import ConfigError

__all__ = ("Part", "Text", "Tool", "ToolCall", "ToolProblem")

# The name of a tag. Its length bounds what is kept of a tag that is not complete yet.
_NAME: Final = re.compile(r"[^\s\ufeff<>/=\"'&]{1,256}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that may be called, and the JSON Schema of its arguments.

    name: the name of its tags: 1 to 256 characters, no white space, none of ``<>/="'&``.
    json_schema: the JSON Schema of its arguments; empty: any arguments.

    Raises ``ConfigError`` for another name and for a schema that is not a mapping.
    """

    name: str
    json_schema: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ConfigError(
                "name", self.name, "must be 1 to 256 characters, no white space, no <>/=\"'&"
            )
        if not isinstance(self.json_schema, Mapping):
            raise ConfigError("json_schema", self.json_schema, "must be a JSON Schema as a mapping")


@dataclass(frozen=True, slots=True)
class ToolProblem:
    """A fault in a call: content that was dropped, an argument that its schema does not allow.

    Also a call that stays text, because it cannot be read or is never closed.

    tool: the tool's name.
    path: the argument, such as ``days`` or ``stops[0].name``; empty for the call as a whole.
    what: the fault, without the path.
    where: the span ``(start_index, end_index)`` of the argument, the dropped content or the call:
        character indices, the end exclusive.
    """

    tool: str
    path: str
    what: str
    where: tuple[int, int]

    def __str__(self) -> str:
        """Return the problem in one line."""
        path = f"{self.path}: " if self.path else ""
        return f"tool call {self.tool!r} at {self.where[0]}: {path}{self.what}"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool.

    name: the tool's name.
    arguments: the arguments by name; JSON data.
    raw: the text of the call, tags included.
    start_index: where it begins, a character index from 0.
    end_index: where it ends, a character index, exclusive.
    problems: content that is in no argument, arguments that do not fit the JSON Schema, a repair
        of broken tags. They are only reported: they do not change the arguments.
    """

    name: str
    arguments: dict[str, Any] = field(hash=False)
    raw: str
    start_index: int
    end_index: int
    problems: tuple[ToolProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """Text outside calls, or a call that could not be parsed.

    text: the text, verbatim.
    start_index: where it begins, a character index from 0.
    end_index: where it ends, a character index, exclusive.
    """

    text: str
    start_index: int
    end_index: int


Part = Text | ToolCall
