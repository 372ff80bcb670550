"""The documents and the vectors of an index, as ``sync`` takes them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping

from chunkast.errors import StoreError
from chunkast.index import Store
from chunkast.model import Chunk
from chunkast.stores.target import Vector

__all__ = ("documents_in", "vectors_in")


def documents_in(store: Store) -> Iterator[tuple[str, list[Chunk]]]:
    """Yield the source and the chunks of each document in an index."""
    for source in store.outline():
        yield source, list(store.chunks(source))


def vectors_in(store: Store) -> Mapping[str, Vector]:
    """Return the vectors of an index by the hash of their texts.

    Raises ``StoreError`` if a text has none.
    """
    vectors = {text: array("f", vector) for text, vector in store.vectors()}
    missing = {chunk.embed_hash for chunk in store.chunks()} - vectors.keys()
    if missing:
        advice = "'chunkast index --embed-url URL --embed-model NAME' adds them"
        raise StoreError(store.path, f"{len(missing):,} texts have no vector; {advice}")
    return vectors
