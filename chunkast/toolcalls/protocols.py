"""The protocols in which models write tool calls, read from ``protocols.toml``.

The file has one table for each form of calls, and one for each form of results. Call bodies are of
four kinds: XML elements ("elements"), tagged parameters ("tagged"), JSON ("json") and Python calls
("python"). The length of every match is bounded, so that a stream keeps back only a bounded part of
the text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Any, Final, Literal

from chunkast.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ("NAMES", "PROTOCOLS", "TABLES", "Protocol", "chosen_protocols", "protocol_table")

# Stands for the names of the tools in a pattern.
NAMES: Final = "%NAMES%"
_PART: Final = re.compile(r"%(?!NAMES%)(\w+)%")


@dataclass(frozen=True, slots=True, eq=False)
class Protocol:
    """One form of tool calls. A protocol has one or several forms.

    name: the name of the protocol.
    kind: the kind of its bodies.
    opener: matches the beginning of a call. The group ``body`` is where the body begins; the groups
        ``name`` and ``id`` are the tool's name and the call's id, if the opener contains them. The
        opener of a JSON body ends with the body's first bracket, or with the closing tag of a call
        without arguments.
    sign: matches a part of every opener; the pattern begins with a plain character.
    written_by, form, seen_in, stays_text: the columns of the manual's table.
    begins: the characters with which ``opener`` may begin; "=" stands for " to=".
    is_token: whether ``sign`` occurs only in calls, so that it ends an unfinished call before it.
    looks: matches text that looks like a call; used if the protocol is switched off. Default:
        ``opener``.
    parameter, value_end, call_end: match the tags in a tagged body.
    tail: matches one item that follows the body and belongs to the call: a tag (more items may
        follow), a closing fence, or the text before the next call of the same opener (the group
        ``more``).
    closers: for a tagged body, the closing tags of a value and of a call; for other bodies, all
        tags that may close the call. Repairs insert the first.
    is_lenient: whether closing tags are optional, and tagged values are on lines of their own.
    """

    name: str
    kind: Literal["elements", "tagged", "json", "python"]
    opener: str
    sign: str
    written_by: str
    form: str
    seen_in: str
    stays_text: str
    begins: str = "<"
    is_token: bool = True
    looks: str = ""
    parameter: str = ""
    value_end: str = ""
    call_end: str = ""
    tail: str = ""
    closers: tuple[str, ...] = ()
    is_lenient: bool = False


def _row(row: Mapping[str, Any], parts: Mapping[str, str]) -> Protocol:
    def whole(pattern: str) -> str:
        return _PART.sub(lambda match: whole(parts[match[1]]), pattern)

    values: Any = {key: whole(v) if isinstance(v, str) else v for key, v in row.items()}
    return Protocol(**{**values, "closers": tuple(row.get("closers", ()))})


# The file, with the patterns of results.
TABLES: Final = tomllib.loads((files(__package__) / "protocols.toml").read_bytes().decode("utf-8"))
_ROWS: Final = tuple(_row(row, TABLES["parts"]) for row in TABLES["protocols"])

# The rows of each protocol by its name.
PROTOCOLS: Final[Mapping[str, tuple[Protocol, ...]]] = {
    name: tuple(rows) for name, rows in groupby(_ROWS, lambda row: row.name)
}


def chosen_protocols(names: object) -> tuple[Protocol, ...]:
    """Return the forms of the named protocols in the order of the file; "auto" means all.

    Llama also writes bare JSON, so "llama" includes "json". Raises ``ConfigError`` for an unknown
    name.
    """
    chosen = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    if not chosen or any(not isinstance(n, str) or n not in ("auto", *PROTOCOLS) for n in chosen):
        raise ConfigError("protocols", names, f"must be 'auto' or some of {', '.join(PROTOCOLS)}")
    chosen += ["json"] * ("llama" in chosen)
    return tuple(row for row in _ROWS if row.name in chosen or "auto" in chosen)


def protocol_table() -> str:
    """Return a Markdown table of all protocols and their forms, for the manual."""
    head = ("protocol", "written by", "a call of the tool N", "seen in", "stays text")
    lines = [head, ("---",) * len(head)]
    for row in _ROWS:
        form = f"`{row.form}`".replace("|", "\\|")
        lines.append((f"`{row.name}`", row.written_by, form, row.seen_in, row.stays_text))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
