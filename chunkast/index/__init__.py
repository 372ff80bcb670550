"""An index of chunks in one SQLite file, with incremental updates, search and citations."""

from chunkast.index.checks import text_hash
from chunkast.index.search import Hit
from chunkast.index.store import Store
from chunkast.index.writing import IndexedDocument, IndexReport, index_document

__all__ = (
    "Hit",
    "IndexReport",
    "IndexedDocument",
    "Store",
    "index_document",
    "text_hash",
)
