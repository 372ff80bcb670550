"""An index of chunks in one SQLite file, with incremental updates, search and citations."""

from chunkast.index.checks import text_hash
from chunkast.index.search import Hit
from chunkast.index.store import Store
from chunkast.index.writing import (
    IndexedDocument,
    IndexReport,
    index_document,
    own_token_counts,
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
