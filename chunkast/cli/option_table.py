"""Tables of the commands and their options, and functions that parse option values.

``commands.json`` has the help of each command and the names of its options. Each option is a row of
``options.json``.

A row with flags is an option; a row without flags is an operand. Only ``--help-all`` shows an
option that is marked as rare. A row named after a field of ``ChunkConfig`` sets that field if the
option is given. A row with ``names`` is a group of other rows. The type is a key of ``_TYPES``; all
other keys are keywords of ``ArgumentParser.add_argument``.
"""

from __future__ import annotations

import json
import os
import re
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, HelpFormatter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from chunkast.code import ENDINGS as CODE_ENDINGS
from chunkast.config import DEFAULT_EXTENSIONS, EXTENSIONS, ChunkConfig
from chunkast.files.database import DATABASE, VARIABLE
from chunkast.files.find import ENDINGS, VENDORED
from chunkast.output.formats import WRITERS
from chunkast.testing.change_kinds import ALLOWED

__all__ = (
    "COMMANDS",
    "FIELDS",
    "SHELLS",
    "Formatter",
    "add_options",
    "did_you_mean",
    "field_value",
)

_HERE: Final = Path(__file__).parent
COMMANDS: Final[dict[str, Any]] = json.loads((_HERE / "commands.json").read_bytes())
_OPTIONS: Final[dict[str, Any]] = json.loads((_HERE / "options.json").read_bytes())
# The fields of the configuration, with their defaults.
FIELDS: Final = {f.name: f.default for f in fields(ChunkConfig)}
# The shells whose completion is supported.
SHELLS: Final = ("bash", "zsh", "fish")
# The texts that help contains in braces.
_TEXTS: Final = {
    "endings": " ".join(ENDINGS),
    "vendored": " ".join(sorted(VENDORED)),
    "code": " ".join(CODE_ENDINGS),
    "variable": VARIABLE,
    "database": DATABASE,
    "formats": " ".join(WRITERS),
    "allowed": ", ".join(ALLOWED),
    "shells": " ".join(SHELLS),
    "extensions": ", ".join(EXTENSIONS),
    "off": ", ".join(name for name in EXTENSIONS if name not in DEFAULT_EXTENSIONS),
    "tools": "a list of objects with name and parameters (or input_schema, or json_schema), or an "
    "object of JSON Schemas by name",
}
_MOST_DIGITS: Final = 18


def add_options(
    parser: ArgumentParser, names: str, defaults: Mapping[str, Any], *, every: bool
) -> None:
    """Add options to ``parser``.

    ``names`` are the options' names, separated by spaces. ``defaults`` are the command's own
    default values, which its help shows. The help shows rare options only if ``every`` is true.
    """
    texts = {**FIELDS, **_TEXTS, **defaults}
    expanded = " ".join(_OPTIONS[name].get("names", name) for name in names.split())
    group = parser.add_argument_group("configuration")
    for name in expanded.split():
        row = dict(_OPTIONS[name])
        flags, rare = row.pop("flags", "").split(), row.pop("rare", False)
        row["help"] = SUPPRESS if rare and not every else row["help"].format_map(texts)
        if "choices" in row:
            row["choices"] = tuple(row["choices"].format_map(texts).split())
        if "type" in row:
            row["type"] = _TYPES[row["type"]]
        is_field = name in FIELDS or name == "set"
        holder = group if is_field else parser
        holder.add_argument(
            *flags or [row.pop("dest")], **(_of_field(name, row) if is_field else row)
        )


def _of_field(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Complete the row of a field by its type."""
    row = {"dest": name, "default": SUPPRESS, **row}
    if "type" in row or "action" in row:
        return row
    hint = get_type_hints(ChunkConfig)[name]
    if get_origin(hint) is Literal and "metavar" not in row:
        row["choices"] = get_args(hint)
    action = "extend" if isinstance(FIELDS[name], tuple) else "store"
    return {**row, "type": partial(field_value, name), "action": action}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint such as "; did you mean --max-tokens?", or "" if no known word is similar."""
    likely = word.replace("_", "-").lower()
    close = get_close_matches(likely, known, n=1)
    similar = [*(name for name in known if name.startswith(likely)), *close]
    return f"; did you mean {similar[0]}?" if similar else ""


class Formatter(HelpFormatter):
    """A help formatter that does not rewrap the examples at the end of the help."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)


# Values


def field_value(name: str, text: str) -> object:
    """Parse ``text``, the value of the field ``name``: JSON, a number or plain text.

    For a field that takes several names, plain text is a comma-separated list. The value is not
    checked here; ``ChunkConfig`` checks it.
    """
    several = isinstance(FIELDS.get(name), tuple)
    for read in (json.loads, float):
        with suppress(ValueError, RecursionError):
            value = read(text)
            if not several or isinstance(value, (list, dict)):
                return value
    if several:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _folder(path: str) -> str:
    if not os.path.isdir(path):
        raise ArgumentTypeError(f"{path!r} is not a folder")
    return path


def _is_number(text: str) -> bool:
    """Return whether ``text`` consists of digits, and is not too large for any use."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def _number(text: str) -> int:
    if not _is_number(text) or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _jobs(text: str) -> int | str:
    if text == "auto" or (_is_number(text) and int(text) >= 1):
        return text if text == "auto" else int(text)
    raise ArgumentTypeError(f"{text!r} is neither a whole number of at least 1 nor 'auto'")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(_number, text.split(",")))


def _lines(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if _is_number(first) and _is_number(last if dash else first):
        return int(first), int(last if dash else first)
    raise ArgumentTypeError(f"{text!r} is not a range of lines such as 120-180")


def _kinds(text: str) -> list[str]:
    """Return the kinds of change in a list separated by commas."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in ALLOWED:
            raise ArgumentTypeError(f"{name!r} is not one of {', '.join(ALLOWED)}")
    return names


def _limit(text: str) -> tuple[int | None, float | None]:
    """Return ``(number, None)`` for a number of texts, and ``(None, share)`` for a percentage."""
    limit = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text)
    if limit is None or float(limit[2] or 0) > 100:
        raise ArgumentTypeError(f"{text!r} is neither a whole number nor a percentage such as 5%")
    return (int(limit[1]), None) if limit[1] else (None, float(limit[2]) / 100)


_TYPES: Final[Mapping[str, Callable[[str], Any]]] = {
    "text": str,
    "folder": _folder,
    "number": _number,
    "jobs": _jobs,
    "numbers": _numbers,
    "lines": _lines,
    "kinds": _kinds,
    "limit": _limit,
}
