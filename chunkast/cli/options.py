"""The arguments that the commands share: what to chunk, and how.

Options for the configuration set nothing unless they are given, so that the defaults
have one home, ``ChunkConfig``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Final, get_args, get_type_hints

from chunkast.cli.files import is_folder
from chunkast.cli.inputs import ENDINGS, VENDORED
from chunkast.cli.messages import UsageError
from chunkast.cli.tools import TOOLS_HELP, load_tools
from chunkast.code import ENDINGS as CODE_ENDINGS
from chunkast.config import DEFAULT_EXTENSIONS, EXTENSIONS, ChunkConfig
from chunkast.errors import ConfigError

__all__ = (
    "add_config",
    "add_database",
    "add_report_format",
    "add_selection",
    "config_of",
    "config_values",
    "set_values",
    "whole_number",
)

_FIELDS: Final = {f.name: f.default for f in fields(ChunkConfig)}


_PATHS: Final = (
    f"files, folders (searched for {' '.join(ENDINGS)}, but for hidden files and folders, what .gitignore "
    f"files name, and {' '.join(sorted(VENDORED))}), globs, or - for standard input"
)


def add_selection(
    parser: argparse.ArgumentParser, text: str = _PATHS, root: str = "the current folder"
) -> None:
    """Add the arguments that say what is chunked; ``root``: what names are relative to."""
    parser.add_argument("paths", nargs="*", metavar="PATHS", help=text)
    parser.add_argument(
        "--root",
        type=_folder,
        metavar="DIR",
        help=f"the folder that the names of documents are relative to (default: {root})",
    )
    for option, what in (
        ("--include", "search folders for files that match, in place of those endings"),
        ("--exclude", "leave out files and folders that match"),
    ):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="GLOB",
            help=f"{what}; as in a .gitignore file in the root; may be repeated",
        )
    parser.add_argument(
        "--no-ignore", action="store_true", help="do not read the .gitignore files below the root"
    )
    parser.add_argument(
        "--jobs",
        type=whole_number,
        default=1,
        metavar="N",
        help="processes to spread the work over (default 1)",
    )
    parser.add_argument(
        "--code",
        action="store_true",
        help=f"search folders for source code too ({' '.join(CODE_ENDINGS)}); "
        "a file given by name is always read as code if its ending says so",
    )
    parser.add_argument(
        "--follow-links",
        action="store_true",
        help="follow symbolic links to folders, and to files outside the folder given",
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="errors only: no summary, no progress"
    )


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the database."""
    parser.add_argument(
        "--db", type=_file, metavar="FILE", required=True, help="the SQLite database"
    )


def add_report_format(
    parser: argparse.ArgumentParser, more: str = "", choices: tuple[str, ...] = ("text", "json")
) -> None:
    """Add the argument that says how a report is written; ``more`` explains the forms."""
    parser.add_argument(
        "--format",
        choices=choices,
        default=choices[0],
        help=f"form of the output{more} (default %(default)s)",
    )


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add an option for every field of ``ChunkConfig`` that one is likely to set."""
    choices = {name: get_args(hint) for name, hint in get_type_hints(ChunkConfig).items()}
    group = parser.add_argument_group("chunking", argument_default=argparse.SUPPRESS)

    def add(flag: str, text: str, **settings: Any) -> None:
        name = flag.removeprefix("--").replace("-", "_")
        default = _FIELDS[name]
        shown = "" if default is None else f" (default {default})"
        group.add_argument(flag, help=f"{text}{shown}", **settings)

    add(
        "--max-tokens",
        "budget of a chunk, without special tokens; 'model': the limit of the tokenizer, less them",
        type=_budget,
        metavar="N",
    )
    add(
        "--reserve-tokens",
        "how many of them to leave free for what is put before a text when it is embedded",
        type=int,
        metavar="N",
    )
    add(
        "--overlap",
        "tokens repeated after a cut inside a section: 0.15 is a fraction of the budget, "
        "50 a number",
        type=_overlap,
        metavar="X",
    )
    add("--encoding", "tiktoken encoding that counts, or the path of a tokenizer.json", metavar="E")
    add("--model", "model whose encoding counts", metavar="M")
    group.add_argument(
        "--allow-download",
        action="store_true",
        help="let tiktoken download the vocabulary of an encoding that is not bundled",
    )
    add(
        "--packing",
        "keep sections whole, or fill chunks up",
        choices=choices["packing"],
    )
    add(
        "--context",
        "what goes before the text that is to be embedded",
        choices=choices["context"],
    )
    add(
        "--min-tokens",
        "join neighbouring sections while one is smaller (default: whenever they fit; 0: never)",
        type=int,
        metavar="N",
    )
    add(
        "--window",
        "to fill, tokens back from the limit to look for a cut (default: 200 for 900, in proportion)",
        type=int,
        metavar="N",
    )
    add(
        "--decay",
        "how much of its score a cut loses at the window's far end",
        type=float,
        metavar="X",
    )
    add(
        "--oversize",
        "divide a block larger than the budget, or keep it",
        choices=choices["oversize"],
    )
    add(
        "--opaque",
        "divide a data URI, base64, a hex dump or minified code larger than the budget, or keep it "
        "whole, with a placeholder to embed",
        choices=choices["opaque"],
    )
    add(
        "--front-matter",
        "front matter in the metadata as it stands, or as data",
        choices=choices["front_matter"],
    )
    add(
        "--front-matter-text",
        "front matter in the first chunk, or in none",
        choices=choices["front_matter_text"],
    )
    group.add_argument(
        "--front-matter-keys",
        type=_names,
        metavar="A,B,C",
        help="put the values of these keys of front matter first in what is to be embedded",
    )
    add(
        "--sentence-language",
        "the language that sentences are sought in, such as de (default: auto, for each document)",
        metavar="CODE",
    )
    group.add_argument(
        "--no-trim",
        dest="trim",
        action="store_false",
        help="leave blank lines and white space at the edges of chunks",
    )
    group.add_argument(
        "--extensions",
        type=_names,
        metavar="A,B,C",
        help=f"Markdown extensions, of {', '.join(EXTENSIONS)}; '' is plain CommonMark "
        f"(default: all but {', '.join(n for n in EXTENSIONS if n not in DEFAULT_EXTENSIONS)})",
    )
    group.add_argument(
        "--tools",
        metavar="TOOLS.json",
        help=f"keep calls of these tools whole and list them in the metadata; {TOOLS_HELP}",
    )
    group.add_argument(
        "--set",
        dest="settings",
        action="append",
        metavar="FIELD=VALUE",
        help="any field of ChunkConfig, the value as JSON or as plain text: "
        "--set decay=0.5 --set 'scores={\"hr\": 90}'",
    )


def config_of(options: argparse.Namespace) -> ChunkConfig:
    """The configuration that the arguments ask for.

    Raises ``ConfigError`` for a value that is not allowed and ``UsageError`` for a
    setting without a value or given twice.
    """
    return ChunkConfig.of(config_values(options))


def config_values(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of the configuration that are given; raises ``UsageError`` as above."""
    given = vars(options)
    values = {name: given[name] for name in _FIELDS if name in given}
    if "tools" in values:
        try:
            values["tools"] = load_tools(given["tools"])
        except ConfigError as error:
            raise UsageError(f"--tools {given['tools']}: {error}") from None
    return set_values("--set", given.get("settings", ()), values)


def set_values(option: str, settings: Iterable[str], values: dict[str, Any]) -> dict[str, Any]:
    """``values`` with those of ``settings``, FIELD=VALUE each, which ``option`` was given."""
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"{option} {setting}: expected FIELD=VALUE")
        if name in values:
            raise UsageError(f"{option} {setting}: {name} is given twice")
        values[name] = _value(name, text)
    return values


def _value(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _names(text) if name in ("extensions", "front_matter_keys") else text


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in (part.strip() for part in text.split(",")) if name)


def _budget(text: str) -> int | str:
    try:
        return text if text == "model" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a whole number nor 'model'"
        ) from None


def _overlap(text: str) -> float | int:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    raise argparse.ArgumentTypeError(f"{text!r} is not a number")


def _folder(path: str) -> str:
    if not is_folder(path):
        raise argparse.ArgumentTypeError(f"{path!r} is not a folder")
    return path


def _file(name: str) -> str:
    """A name that SQLite takes for a file; the others are databases that nothing is left of."""
    if name in ("", ":memory:"):
        raise argparse.ArgumentTypeError(f"{name!r} is not the name of a file")
    return name


def whole_number(text: str) -> int:
    """A positive number, as argparse wants it told."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
