"""The options that name an embedding server. Without them, no server is contacted."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from chunkast.errors import UsageError

if TYPE_CHECKING:
    from chunkast.index import EmbeddingServer, Store

__all__ = ("query_embedder", "server_of")

_URL: Final = "CHUNKAST_EMBED_URL"


def server_of(options: Namespace, model: str) -> EmbeddingServer | None:
    """Return the embedding server that the options name, or ``None`` if they name no server.

    Raises ``UsageError`` if the API key is missing, and ``ConfigError`` if the address or the key
    is invalid.
    """
    from chunkast.index import EmbeddingServer

    url, variable = options.embed_url or os.environ.get(_URL), options.embed_key_env
    if not url:
        return None
    key = os.environ.get(variable or "", "").strip()
    if variable and not key:
        raise UsageError(f"--embed-key-env {variable}: the environment variable is not set")
    return EmbeddingServer(url, model, key)


def query_embedder(options: Namespace, store: Store) -> Callable[[str], list[float] | None]:
    """Return a function that embeds a query.

    The function returns ``None`` if no server is named or the database has no vectors.
    """
    from chunkast.index import query_vector

    server = server_of(options, "")
    if server is None or not (options.embed_url or store.embedding_model()[1]):
        return lambda _query: None
    return partial(query_vector, store, url=server.url, key=server.key)
