"""The options shared by several commands, for documents, the database and the configuration.

A configuration option that is not given sets nothing: ``ChunkConfig`` has the defaults.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin, get_type_hints

from chunkast.code import ENDINGS as CODE_ENDINGS
from chunkast.config import DEFAULT_EXTENSIONS, EXTENSIONS, ChunkConfig
from chunkast.errors import ConfigError, UsageError
from chunkast.files.database import DATABASE, VARIABLE, default_database, why_foreign
from chunkast.files.find import ENDINGS, VENDORED

if TYPE_CHECKING:
    from chunkast.index import Store
    from chunkast.toolcalls import Tool

__all__ = (
    "TOOLS_HELP",
    "add_config",
    "add_counting",
    "add_database",
    "add_flags",
    "add_number",
    "add_output",
    "add_protocol",
    "add_report_format",
    "add_selection",
    "config_of",
    "config_values",
    "database_of",
    "is_number",
    "load_tools",
    "open_database",
    "set_values",
    "whole_number",
)

_FIELDS: Final = {f.name: f.default for f in fields(ChunkConfig)}
_PATHS: Final = (
    f"files, folders (searched for {' '.join(ENDINGS)}, except hidden files and folders, files "
    f"ignored by .gitignore, and {' '.join(sorted(VENDORED))}), globs, or - for standard input"
)
_DATABASE: Final = (
    f"the database of 'chunkast index' (default: the environment variable {VARIABLE}, else the "
    f"nearest {DATABASE} in this folder or above)"
)
_CODE: Final = f"search folders for source code too ({' '.join(CODE_ENDINGS)})"
_EXTENSIONS: Final = (
    f"Markdown extensions, some of {', '.join(EXTENSIONS)}; '' is plain CommonMark "
    f"(default: all but {', '.join(n for n in EXTENSIONS if n not in DEFAULT_EXTENSIONS)})"
)
_MOST_DIGITS: Final = 18
TOOLS_HELP: Final = (
    "a list of objects with name and parameters (or input_schema, or json_schema), or an object "
    "of JSON Schemas by name"
)


def add_selection(
    parser: argparse.ArgumentParser, text: str = _PATHS, nargs: Literal["*", "+"] = "+"
) -> None:
    """Add the arguments and options that select documents."""
    parser.add_argument("paths", nargs=nargs, metavar="PATHS", help=text)
    parser.add_argument(
        "--root",
        type=_folder,
        metavar="DIR",
        help="the folder that sources are relative to (default: the one stored in the database or "
        "lock, else the current folder; for a single folder outside it, that folder)",
    )
    for flag, effect in (
        ("--include", "search folders for files that match, instead of the known extensions"),
        ("--exclude", "skip files and folders that match"),
    ):
        text = f"{effect}; as in a .gitignore file in the root; may be repeated"
        parser.add_argument(flag, action="append", default=[], metavar="GLOB", help=text)
    jobs = "number of processes (default: one for each core if the files have 8 MB, else 1)"
    add_number(parser, "--jobs", jobs)
    add_flags(
        parser,
        no_ignore="do not read the .gitignore files below the root",
        code=_CODE,
        follow_links="follow symbolic links to folders, and out of the folder given",
        quiet="errors only: no summary, no progress",
    )


def add_flags(parser: argparse.ArgumentParser, **flags: str) -> None:
    """Add options without a value, each of them given by its name and its help text."""
    for name, text in flags.items():
        short = ("-q",) if name == "quiet" else ()
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(*short, flag, action="store_true", help=text)


def add_number(parser: argparse.ArgumentParser, flag: str, text: str, **options: Any) -> None:
    """Add the option ``flag``, whose value is a whole number of at least 1."""
    parser.add_argument(flag, type=whole_number, metavar="N", help=text, **options)


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add ``--db``, the path of the database."""
    parser.add_argument("--db", metavar="FILE", help=_DATABASE)


def database_of(options: argparse.Namespace) -> str:
    """Return the path of the database: ``--db``, or the default.

    Raises ``UsageError`` if it does not name a file, or if the default may be a stranger's. SQLite
    does not create a file for an empty name or for ``:memory:``.
    """
    path = default_database() if options.db is None else str(options.db)
    found = options.db is None and path == DATABASE and os.path.lexists(path)
    if found and (reason := why_foreign(path)):
        raise UsageError(f"{path} is not used, because {reason}: name it with --db")
    if path in ("", ":memory:"):
        raise UsageError(f"--db: {path!r} is not the name of a file")
    return path


def open_database(options: argparse.Namespace) -> Store:
    """Open the database to read it."""
    from chunkast.index import Store

    return Store(database_of(options), read_only=True)


def add_report_format(
    parser: argparse.ArgumentParser, more: str = "", choices: tuple[str, ...] = ("text", "json")
) -> None:
    """Add ``--format``, the format of a report; ``more`` explains the choices in the help text."""
    parser.add_argument(
        "--format",
        choices=choices,
        default=choices[0],
        help=f"output format{more} (default %(default)s)",
    )


def add_output(parser: argparse.ArgumentParser, metavar: str) -> None:
    """Add ``--output``, the path of the file to write."""
    text = f"write to {metavar}, which is replaced only once everything is done"
    parser.add_argument("-o", "--output", metavar=metavar, help=text)


def add_config(
    parser: argparse.ArgumentParser, defaults: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Add an option for each configuration field in ``_OPTIONS``, and ``--set`` for any field.

    ``defaults`` are the command's own defaults, which the help shows.
    """
    _add_fields(parser, "chunking", _OPTIONS, defaults)


def add_counting(parser: argparse.ArgumentParser) -> None:
    """Add the options for reading documents and counting tokens, but not those for chunking."""
    _add_fields(parser, "reading", _COUNTING, {})


def _add_fields(
    parser: argparse.ArgumentParser, title: str, names: Iterable[str], defaults: Mapping[str, Any]
) -> None:
    hints = get_type_hints(ChunkConfig)
    group = parser.add_argument_group(title, argument_default=argparse.SUPPRESS)
    for name in names:
        metavar, text = _OPTIONS[name]
        default = defaults.get(name, _FIELDS[name])
        if name == "protocols":
            add_protocol(group)
            continue
        hint, flag = hints[name], name.replace("_", "-")
        if isinstance(default, bool):
            group.add_argument(f"--{flag}", dest=name, action="store_true", help=text)
            continue
        shown = f" (default {default})" if isinstance(default, (str, int, float)) else ""
        group.add_argument(
            f"--{flag}",
            dest=name,
            metavar=metavar,
            type=str if name == "tools" else partial(_value, name),
            choices=get_args(hint) if get_origin(hint) is Literal else None,
            help=f"{text}{shown}",
        )
    group.add_argument(
        "--set",
        dest="settings",
        action="append",
        metavar="FIELD=VALUE",
        help="any field of ChunkConfig; VALUE is JSON or plain text: "
        "--set decay=0.5 --set 'scores={\"hr\": 90}'",
    )


def add_protocol(parser: argparse._ActionsContainer) -> None:
    """Add ``--protocol``, the names of the protocols of tool calls."""
    text = "protocol of the calls: a name in 'chunkast toolcalls --list', or auto; repeatable"
    parser.add_argument("--protocol", dest="protocols", action="append", metavar="NAME", help=text)


def config_of(options: argparse.Namespace) -> ChunkConfig:
    """Return the configuration that the options specify.

    Raises ``ConfigError`` for a value that is not allowed, and ``UsageError`` for an invalid
    ``--set`` or ``--tools``.
    """
    return ChunkConfig.of(config_values(options))


def config_values(options: argparse.Namespace) -> dict[str, Any]:
    """Return the configuration fields that the options set, by name.

    Raises ``UsageError`` for an invalid ``--set`` or ``--tools``.
    """
    parsed = vars(options)
    values = {name: parsed[name] for name in _FIELDS if name in parsed}
    if "tools" in values:
        values["tools"] = load_tools(parsed["tools"])
    return set_values("--set", parsed.get("settings", ()), values)


def set_values(option: str, settings: Iterable[str], values: dict[str, Any]) -> dict[str, Any]:
    """Add each ``FIELD=VALUE`` in ``settings`` to ``values``, and return ``values``.

    ``option`` is the name of the option that the settings belong to. Raises ``UsageError`` for
    a setting that has no value, or for a field that is already set.
    """
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"{option} {setting}: expected FIELD=VALUE")
        if name in values:
            raise UsageError(f"{option} {setting}: {name} is given twice")
        values[name] = _value(name, text)
    return values


def load_tools(path: str) -> list[Tool]:
    """Return the tools in the JSON file at ``path``; raise ``UsageError`` if it is invalid."""
    from chunkast.toolcalls import tools_from_json

    try:
        return tools_from_json(json.loads(Path(path).read_bytes()))
    except OSError as error:
        raise UsageError(f"--tools {path}: {error.strerror or error}") from None
    except ConfigError as error:
        raise UsageError(f"--tools {path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--tools {path}: this is not JSON in UTF-8: {error}") from None


def _value(name: str, text: str) -> object:
    """Return a field's value in ``text``: JSON, a number or plain text; ``ChunkConfig`` checks it.

    For a field of several names, plain text is a list separated by commas.
    """
    for read in (json.loads, float):
        with suppress(ValueError, RecursionError):
            return read(text)
    if isinstance(_FIELDS.get(name), tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _folder(path: str) -> str:
    if not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{path!r} is not a folder")
    return path


def is_number(text: str) -> bool:
    """Return whether ``text`` consists of digits, and is not too large for any use."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def whole_number(text: str) -> int:
    """Return the positive whole number in ``text``; raise ``ArgumentTypeError`` for other text."""
    if not is_number(text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


_COUNTING: Final = ("encoding", "extensions")
# Field of ChunkConfig -> its placeholder and help. Without a placeholder its values are listed.
_OPTIONS: Final[Mapping[str, tuple[str | None, str]]] = {
    "max_tokens": ("N", "budget of a chunk; 'model': the model's limit, less its special tokens"),
    "reserve_tokens": ("N", "tokens of the budget to keep free for a prefix of the embedded text"),
    "overlap": ("X", "tokens to repeat from the chunk before: 0.15 of the budget, or 50 tokens"),
    "encoding": ("E", "tiktoken encoding that counts, or the path of a tokenizer.json"),
    "model": ("M", "model whose encoding counts"),
    "allow_download": (None, "let tiktoken download an encoding that is not bundled"),
    "packing": (None, "keep sections whole, or fill chunks up"),
    "context": (None, "context to add before the text to embed"),
    "min_tokens": ("N", "join sections while one is smaller (default: if they fit; 0: never)"),
    "opaque": (None, "divide data URIs and base64 larger than the budget, or keep them"),
    "extensions": ("A,B,C", _EXTENSIONS),
    "tools": ("TOOLS.json", f"tools whose calls are kept whole: {TOOLS_HELP}"),
    "protocols": (None, ""),
}
