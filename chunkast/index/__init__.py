"""Index chunks in one SQLite file, with incremental updates, search and citations."""

from chunkast.index.checks import text_hash
from chunkast.index.comparison import BudgetFigures, compare_budgets
from chunkast.index.copies import Place
from chunkast.index.embedding import EmbeddingServer, query_vector
from chunkast.index.search import Hit
from chunkast.index.store import Store
from chunkast.index.writing import IndexedDocument, IndexReport, index_document

__all__ = (
    "BudgetFigures",
    "EmbeddingServer",
    "Hit",
    "IndexReport",
    "IndexedDocument",
    "Place",
    "Store",
    "compare_budgets",
    "index_document",
    "query_vector",
    "text_hash",
)
