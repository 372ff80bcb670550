"""``chunkast quote``: where a quote stands in the indexed documents, if it does."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from chunkast.cli.inputs import read_pieces
from chunkast.cli.messages import UsageError, say_error
from chunkast.cli.options import add_database, add_report_format
from chunkast.cli.output import open_output
from chunkast.text.pages import pages_note

if TYPE_CHECKING:
    from chunkast.identity import Citation

__all__ = ("DESCRIPTION", "HELP", "OPERANDS", "add_arguments", "run")

HELP: Final = "prove that a quote stands in the documents of a database"
DESCRIPTION: Final = (
    "Print every place of a quote: its path and lines, the characters it covers there, and the "
    "ids of the chunks that hold it whole. White space may differ, nothing else. Exits with 1 "
    "when the quote is nowhere."
)
OPERANDS: Final = "text"


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "text", nargs="*", metavar="TEXT", help="the quote, or - for standard input"
    )
    add_database(parser)
    add_report_format(parser)


def run(options: Namespace) -> int:
    """Print the places; 1 if there is none."""
    from chunkast.index import Store

    quote = " ".join(options.text)
    if quote == "-":
        quote = "".join(read_pieces("-"))
    if not quote.strip():
        raise UsageError("quote: the text is blank")
    with Store(options.db, read_only=True) as store:
        places = store.quote(quote)
    with open_output(None) as output:
        output.stream.write(_page(places, options.format).encode())
    if not places:
        say_error(f"{options.db}: the quote is in none of its documents")
    return 0 if places else 1


def _page(places: list[Citation], form: str) -> str:
    if form == "json":
        return json.dumps([asdict(place) for place in places], ensure_ascii=False, indent=1) + "\n"
    return "".join(
        f"{place.source}:{place.start_line}-{place.end_line}{pages_note(place.pages)}  "
        f"characters {place.start_index}-{place.end_index}  "
        f"{' '.join(place.chunk_ids) or '(over a cut)'}\n"
        for place in places
    )
