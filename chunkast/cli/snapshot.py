"""``chunkast snapshot``: write a lock, a text file for reviewing and comparing chunks."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import Final

from chunkast.cli.messages import counted
from chunkast.cli.options import add_config, add_selection, config_of
from chunkast.cli.records import lock_header, record, written
from chunkast.cli.work import Tally, results, root_of, selected
from chunkast.files.write import open_output

__all__ = ("COMMON", "DESCRIPTION", "EXAMPLES", "HELP", "OPERANDS", "add_arguments", "run")

HELP: Final = "write a lock: the chunks of documents, to review and compare"
DESCRIPTION: Final = (
    "Write a lock: JSON Lines with the configuration, and for each chunk its headings, id, tokens, "
    "kinds, text and the cut before it. 'chunkast check' compares the documents with it."
)
EXAMPLES: Final = (
    "chunkast snapshot docs -o chunks.lock",
    "chunkast snapshot docs --max-tokens 256 -o chunks.lock",
)
COMMON: Final = "max_tokens overlap encoding context output root include exclude jobs quiet"
OPERANDS: Final = "paths"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    add_selection(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="LOCK",
        help="write to LOCK, which is replaced only once everything is done",
    )
    add_config(parser)


def run(options: Namespace) -> int:
    """Write the lock of the selected documents. Return 1 if some input failed, else 0."""
    from chunkast.chunker import Chunker

    tally = Tally()
    chunker = Chunker(config_of(options))
    path = None if options.output == "-" else options.output
    chunks = 0
    with tally.stoppable(path), open_output(path) as output:
        root = root_of(options)
        selection = selected(options, path, root)
        documents = results(options, selection, chunker, record, tally, progress=path is not None)
        with closing(documents):
            for document in written(output, lock_header(chunker, root, path), documents):
                chunks += len(document.chunks)
        output.complete = tally.documents > 0
    if not options.quiet:
        tally.say_summary(counted(tally.documents, "file"), counted(chunks, "chunk"))
    return tally.exit_code
