"""``chunkast read``: print a section, some lines or a chunk of a document within a token budget."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import print_note, print_result
from chunkast.cli.outline_command import DOCUMENT, outline_of
from chunkast.cli.shared_options import (
    add_counting,
    add_database,
    add_number,
    add_report_format,
    config_values,
    is_number,
    open_database,
)
from chunkast.errors import UsageError

if TYPE_CHECKING:
    from chunkast.reading import Passage

HELP: Final = "print a section of a document within a token budget"
DESCRIPTION: Final = (
    "Print a section of a document with its subsections, or some lines; without either, the whole "
    "document. With --id print a chunk of a database, expanded to --max-tokens. A text over "
    "--max-tokens ends at its best boundary; a note on stderr has the line where it continues."
)
EXAMPLES: Final = (
    'chunkast read guide.md "Guide > Install" --max-tokens 800',
    "chunkast read guide.md --lines 120-180",
)
COMMON: Final = "db lines id most format encoding"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help=DOCUMENT,
    )
    add_database(parser)
    parser.add_argument(
        "section",
        nargs="?",
        metavar="SECTION",
        help="a heading path, the end of one, or an anchor: 'Guide > Install', Install, '#install'",
    )
    parser.add_argument(
        "--lines", type=_lines, metavar="A-B", help="read these lines, counted from 1"
    )
    parser.add_argument("--id", metavar="ID", help="read the chunk of the database with this id")
    limit = "the maximum number of tokens to print (default: no limit)"
    add_number(parser, "--max-tokens", limit, dest="most")
    add_report_format(parser)
    add_counting(parser)


def run(options: Namespace) -> int:
    """Print the requested passage. Return 0."""
    if options.id is not None and any((options.file, options.section, options.lines)):
        raise UsageError("read --id cannot be combined with FILE, SECTION or --lines")
    if options.section is not None and options.lines is not None:
        raise UsageError("read takes a SECTION or --lines, not both")
    passage = _chunk(options) if options.id is not None else _section(options)
    text = passage.text + ("" if passage.text.endswith("\n") else "\n")
    print_result(options.format, asdict(passage), text)
    if passage.rest and options.format == "text":
        print_note(passage.rest)
    return 0


def _chunk(options: Namespace) -> Passage:
    with open_database(options) as store:
        chunker = store.chunker(**config_values(options))
        return store.read(chunk_id=options.id, max_tokens=options.most, chunker=chunker)


def _section(options: Namespace) -> Passage:
    from chunkast.reading import SectionError

    if options.file is None:
        raise UsageError("read needs a FILE, or --id ID (see chunkast read --help)")
    try:
        return outline_of(options).read(
            options.section, lines=options.lines, max_tokens=options.most
        )
    except SectionError as error:
        raise UsageError(f"{options.file}: {error}") from None


def _lines(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if is_number(first) and is_number(last if dash else first):
        return int(first), int(last if dash else first)
    raise ArgumentTypeError(f"{text!r} is not a range of lines such as 120-180")
