"""``chunkast mcp``: serve a database to agents over the Model Context Protocol."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from chunkast.cli.embedding_options import query_embedder
from chunkast.cli.shared_options import config_values, open_database

HELP: Final = "serve a database to agents (MCP over stdio)"
DESCRIPTION: Final = (
    "Serve a database of 'chunkast index' over stdio by the Model Context Protocol, with four "
    "read-only tools: outline, search, read and quote. Needs pip install 'chunkast[mcp]'. A client "
    "starts it; the manual shows the configuration."
)
EXAMPLES: Final = (
    "chunkast mcp",
    "claude mcp add docs -- chunkast mcp --db /srv/chunks.db",
)
OPTIONS: Final = "db embed_url embed_key_env counting"


def run(options: Namespace) -> int:
    """Serve the database until the client closes the connection. Return 0."""
    from chunkast.mcp import serve

    with open_database(options) as store:
        chunker = store.chunker(**config_values(options))
        serve(store, chunker, query_embedder(options, store))
    return 0
