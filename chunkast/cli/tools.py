"""The file that says which tools there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import UsageError

if TYPE_CHECKING:
    from chunkast.toolcalls import Tool

__all__ = ("TOOLS_HELP", "load_tools")

TOOLS_HELP: Final = (
    "the tools: a list of objects with name and parameters (or input_schema, or "
    "json_schema), or an object of JSON Schemas by name"
)


def load_tools(path: str) -> list[Tool]:
    """The tools that a file names.

    Raises ``UsageError`` for a file that cannot be read or is not JSON, ``ConfigError`` for
    JSON that names no tools.
    """
    from chunkast.toolcalls import tools_from_json

    try:
        given = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"--tools {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--tools {path}: this is not JSON in UTF-8: {error}") from None
    return tools_from_json(given)
