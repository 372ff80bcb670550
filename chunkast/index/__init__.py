"""Chunks in one SQLite file: changed ones are written; they can be searched and cited."""

from chunkast.index.search import Hit
from chunkast.index.store import Store
from chunkast.index.writing import (
    IndexedDocument,
    IndexReport,
    index_document,
    own_token_counts,
    text_hash,
)

__all__ = (
    "Hit",
    "IndexReport",
    "IndexedDocument",
    "Store",
    "index_document",
    "own_token_counts",
    "text_hash",
)
