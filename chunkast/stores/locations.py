"""Make targets from their names on the command line, such as ``qdrant:vectors#docs``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from chunkast.errors import ConfigError, StoreError, describe
from chunkast.stores.chroma import ChromaTarget
from chunkast.stores.lance import LanceTarget
from chunkast.stores.pgvector import PgvectorTarget
from chunkast.stores.qdrant import QdrantTarget
from chunkast.stores.target import Target, imported

__all__ = ("target_at",)

_SERVERS: Final = ("http://", "https://")


def _qdrant(module: Any, place: str) -> Any:
    return module.QdrantClient(**{"url" if place.startswith(_SERVERS) else "path": place})


# By scheme: the package, its extra, a function that connects, and the class of the target.
_KINDS: Final[Mapping[str, tuple[str, str, Callable[[Any, str], Any], Callable[..., Target]]]] = {
    "qdrant": ("qdrant_client", "qdrant", _qdrant, QdrantTarget),
    "lance": ("lancedb", "lancedb", lambda module, place: module.connect(place), LanceTarget),
    "chroma": ("chromadb", "chroma", lambda module, at: module.PersistentClient(at), ChromaTarget),
    "pgvector": (
        *("psycopg", "pgvector"),
        lambda module, url: module.connect(url, autocommit=True),
        PgvectorTarget,
    ),
}


def target_at(location: str) -> Target:
    """Return the target at ``location``, such as "lance:FOLDER#TABLE".

    Raises ``ConfigError`` for an invalid location, ``MissingPackageError`` if a package is missing,
    and ``StoreError`` if the store cannot be opened.
    """
    scheme, colon, rest = location.partition(":")
    place, _, name = rest.rpartition("#")
    if not colon or scheme not in _KINDS or not place or not name:
        allowed = f"must be KIND:PLACE#NAME, where KIND is {', '.join(_KINDS)}"
        raise ConfigError("to", location, allowed)
    package, extra, connect, kind = _KINDS[scheme]
    module = imported(package, extra)
    try:
        client = connect(module, place)
    except Exception as error:
        # The place may contain a password.
        raise StoreError(name, f"cannot be opened: {describe(error)}") from error
    return kind(client, name)
