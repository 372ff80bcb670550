"""Data types for tool calls: tools, calls, problems in calls, and the text around calls.

Positions are character indices in the whole text, and ends are exclusive. Together, the parts of a
text cover all of it without gaps or overlaps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from chunkast.errors import ConfigError

__all__ = (
    "ArgumentsDelta",
    "Event",
    "Part",
    "Text",
    "Tool",
    "ToolCall",
    "ToolCallFailed",
    "ToolCallStart",
    "ToolProblem",
)

# The name of a tag. Its length bounds what is kept of a tag that is not complete yet.
_NAME: Final = re.compile(r"[^\s\ufeff<>/=\"'&]{1,256}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that may be called, and the JSON Schema of its arguments.

    name: the tool's name: 1 to 256 characters, without white space and without ``<>/="'&``.
    json_schema: the JSON Schema of its arguments; an empty schema allows any arguments.

    Raises ``ConfigError`` for an invalid name, and for a schema that is not a mapping.
    """

    name: str
    json_schema: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            allowed = "must be 1 to 256 characters, no white space, no <>/=\"'&"
            raise ConfigError("name", self.name, allowed)
        if not isinstance(self.json_schema, Mapping):
            raise ConfigError("json_schema", self.json_schema, "must be a JSON Schema as a mapping")


@dataclass(frozen=True, slots=True)
class ToolProblem:
    """A problem with a call, such as dropped content or an argument that does not fit its schema.

    A repaired body is a problem too, as is a call that stays text because it is invalid or
    unclosed.

    tool: the tool's name.
    path: the path of the argument, such as ``days`` or ``stops[0].name``; an empty string if the
        problem concerns the whole call.
    what: the description of the problem, without the path.
    where: the span ``(start_index, end_index)`` of the argument, the dropped content or the call,
        in character indices; the end is exclusive.
    """

    tool: str
    path: str
    what: str
    where: tuple[int, int]

    def __str__(self) -> str:
        """Return the problem as one line of text."""
        path = f"{self.path}: " if self.path else ""
        subject = f"tool call {self.tool!r}" if self.tool else "text"
        return f"{subject} at {self.where[0]}: {path}{self.what}"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool.

    name: the tool's name.
    arguments: the arguments by name, as JSON data.
    raw: the text of the call, including its tags.
    start_index: the character index at which the call begins, counted from 0.
    end_index: the character index at which the call ends, exclusive.
    problems: dropped content, arguments that do not fit the JSON Schema, and a repaired body.
        Problems do not change the arguments.
    id: the id that the model gave the call, or ``None``.
    """

    name: str
    arguments: dict[str, Any] = field(hash=False)
    raw: str
    start_index: int
    end_index: int
    problems: tuple[ToolProblem, ...] = ()
    id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, with problems as dictionaries, for ``json.dumps``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Text:
    """Text outside calls, or a call that could not be parsed.

    text: the text, verbatim.
    start_index: the character index at which the text begins, counted from 0.
    end_index: the character index at which the text ends, exclusive.
    """

    text: str
    start_index: int
    end_index: int


# What ``parse_tool_calls`` returns for each stretch of a text.
Part = Text | ToolCall


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """An event: a call has begun, and its name is known.

    name: the tool's name.
    start_index: the character index at which the call begins, counted from 0.
    kind: the syntax of the arguments: "json", "python", "tagged" (tagged parameters) or "elements"
        (XML elements).
    """

    name: str
    start_index: int
    kind: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """An event: the next piece of the arguments of the most recently started call.

    text: the piece, verbatim, in the syntax of the call, such as JSON or XML, without the call's
        own tags.
    start_index: the character index at which the piece begins, counted from 0.
    end_index: the character index at which the piece ends, exclusive.
    """

    text: str
    start_index: int
    end_index: int


@dataclass(frozen=True, slots=True)
class ToolCallFailed:
    """An event: the most recently started call turned out to be plain text, which is returned next.

    name: the tool's name.
    start_index: the character index at which the call begins, counted from 0.
    """

    name: str
    start_index: int


# What a stream with ``deltas=True`` also returns.
Event = ToolCallStart | ArgumentsDelta | ToolCallFailed
