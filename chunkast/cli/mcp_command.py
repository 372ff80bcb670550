"""``chunkast mcp``: serve a database to agents over the Model Context Protocol."""

from __future__ import annotations

from argparse import Namespace
from functools import partial

from chunkast.cli.embedding_options import query_embedder
from chunkast.cli.shared_options import config_values, open_database, stale_documents


def run(options: Namespace) -> int:
    """Serve the database until the client closes the connection. Return 0."""
    from chunkast.mcp import serve

    with open_database(options) as store:
        chunker = store.chunker(reading=True, **config_values(options))
        stale = partial(stale_documents, options, store)
        serve(store, chunker, query_embedder(options, store), stale, about=options.about or "")
    return 0
