"""``chunkast quote``: find all occurrences of a quote in the documents of a database."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from chunkast.cli.messages import print_error, print_result
from chunkast.cli.shared_options import open_database
from chunkast.errors import UsageError
from chunkast.files.freshness import STALE
from chunkast.files.read import read_pieces
from chunkast.sources.documents import document_of
from chunkast.text.pages import pages_note

if TYPE_CHECKING:
    from chunkast.identity import Citation


def run(options: Namespace) -> int:
    """Print each occurrence of the quote. Return 1 if it does not occur, else 0."""
    quote = " ".join(options.text)
    if quote == "-":
        quote = "".join(read_pieces("-"))
    if not quote.strip():
        raise UsageError("quote: the text is blank")
    with open_database(options) as store:
        places = store.quote(quote, strict=options.strict)
    stale = [document_of(at.source) in options.stale for at in places]
    found = [{**asdict(at), "stale": changed} for at, changed in zip(places, stale, strict=True)]
    print_result(options.format, found, "".join(map(_line, places, stale)))
    if not places:
        print_error(f"{store.path}: the quote is in none of its documents")
    return 0 if places else 1


def _line(place: Citation, stale: bool) -> str:
    section = f"  {' > '.join(place.section)}" if place.section else ""
    return (
        f"{place.source}:{place.start_line}-{place.end_line}{pages_note(place.pages)}{f'  {STALE}' * stale}  "
        f"characters {place.start_index}-{place.end_index}  "
        f"{' '.join(place.chunk_ids) or '(across a cut)'}{section}"
        f"{'' if place.verbatim else '  (not verbatim)'}\n"
    )
