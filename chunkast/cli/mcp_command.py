"""``chunkast mcp``: serve a database to agents over the Model Context Protocol."""

from __future__ import annotations

from argparse import Namespace
from functools import partial

from chunkast.cli.embedding_options import query_embedder
from chunkast.cli.messages import print_message
from chunkast.cli.shared_options import config_values, open_database, stale_documents
from chunkast.errors import UsageError


def run(options: Namespace) -> int:
    """Serve the database until the client closes the connection or a signal arrives. Return 0."""
    from chunkast.mcp import serve

    over = None
    if options.http is not None:
        from chunkast.mcp.endpoint import over_http

        over = over_http(options.http, options.allow_hosts, print_message)
    elif options.allow_hosts:
        raise UsageError("--allow-host has no effect without --http ADDRESS")
    with open_database(options) as store:
        chunker = store.chunker(reading=True, **config_values(options))
        embed, stale = query_embedder(options, store), partial(stale_documents, options, store)
        serve(store, chunker, embed, stale, about=options.about or "", run=over)
    return 0
