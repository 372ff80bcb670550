"""``chunkast outline``: print the sections of a document with their lines and token counts."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from chunkast.cli.messages import print_result
from chunkast.cli.shared_options import (
    add_counting,
    add_database,
    add_number,
    add_report_format,
    config_of,
    config_values,
    database_of,
    open_database,
)
from chunkast.files.read import read_pieces
from chunkast.output.text import section_line

if TYPE_CHECKING:
    from chunkast.reading import Outline

HELP: Final = "print the sections of a document with their lines and tokens"
DESCRIPTION: Final = (
    "Print one line for each section of a document: its title, its lines, and its tokens with "
    "subsections. 'chunkast read' prints a section."
)
EXAMPLES: Final = (
    "chunkast outline README.md",
    "chunkast outline guide.md --db chunks.db --depth 2",
)
COMMON: Final = "db depth format encoding"
DOCUMENT: Final = (
    "a document in UTF-8, - for standard input, or with --db or if there is no such file a source "
    "in the database"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help=f"{DOCUMENT} (default: list those of the database)",
    )
    add_database(parser)
    add_number(parser, "--depth", "omit sections below this level")
    add_report_format(parser)
    add_counting(parser)


def run(options: Namespace) -> int:
    """Print the outline of a document, or a list of the documents in the database. Return 0."""
    if options.file is None:
        return _print_documents(options)
    shown = outline_of(options).down_to(options.depth)
    text = "".join(f"{section_line(section)}\n" for section in shown)
    print_result(options.format, [asdict(section) for section in shown], text)
    return 0


def outline_of(options: Namespace) -> Outline:
    """Return the outline of the document ``options.file``.

    Without ``--db``, this is a file if there is one of that name, or if there is no database.
    """
    from chunkast.chunker import Chunker

    there = options.file == "-" or os.path.lexists(options.file)
    if options.db is None and (there or not os.path.exists(database_of(options))):
        name = None if options.file == "-" else options.file
        return Chunker(config_of(options)).outline("".join(read_pieces(options.file)), name)
    with open_database(options) as store:
        return store.outline(options.file, chunker=store.chunker(**config_values(options)))


def _print_documents(options: Namespace) -> int:
    with open_database(options) as store:
        documents = store.outline()
    text = "".join(f"{name}  {tokens:,} tokens\n" for name, tokens in documents.items())
    print_result(options.format, documents, text)
    return 0
