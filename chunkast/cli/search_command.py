"""``chunkast search``: print the chunks that best match a query, up to a token budget."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from chunkast.cli.embedding_options import query_embedder
from chunkast.cli.messages import print_error, print_result
from chunkast.cli.preview import is_terminal, write_hits
from chunkast.cli.shared_options import config_values, open_database
from chunkast.errors import UsageError
from chunkast.files.freshness import STALE
from chunkast.files.write import stdout
from chunkast.output.text import page
from chunkast.text.pages import pages_note

if TYPE_CHECKING:
    from chunkast.index import Hit


def run(options: Namespace) -> int:
    """Print the chunks that match the query. Return 1 if no chunk matches, else 0."""
    query = " ".join(options.query)
    if not query.strip():
        raise UsageError("search: the query is empty")
    with open_database(options) as store:
        hits = store.search(
            query,
            options.budget,
            vector=query_embedder(options, store)(query),
            limit=options.limit,
            within=options.within,
            expand=options.expand,
            chunker=options.expand and store.chunker(reading=True, **config_values(options)),
        )
        if not hits and options.within is not None:
            store.check_within(options.within)
    result = {
        "query": query,
        "budget": options.budget,
        "tokens": sum(hit.token_count for hit in hits),
        "hits": [asdict(hit) for hit in hits],
    }
    if options.format == "text" and is_terminal():
        write_hits([(hit, *_place(hit)) for hit in hits], query, stdout())
    else:
        print_result(options.format, result, "".join(map(_page, hits)))
    if not hits:
        print_error(
            f"{store.path}: no chunk of at most {options.budget:,} tokens has any word of the query"
        )
    return 0 if hits else 1


def _place(hit: Hit) -> tuple[str, str]:
    """Return the place of a hit, and the section that matches best."""
    header = f"{' > '.join(hit.section)}{f'  #{hit.anchor}' if hit.anchor else ''}"
    if hit.also:
        header += f"  also in {', '.join(map(str, hit.also))}"
    place = f"{hit.place}{pages_note(hit.pages)}{'  part' * hit.part}{f'  {STALE}' * hit.stale}"
    return place, header


def _page(hit: Hit) -> str:
    place, header = _place(hit)
    return page(place, hit.token_count, [[header]], hit.text)
