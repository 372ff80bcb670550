"""Keep a vector store up to date with documents: ``sync(target, documents, embed)``.

``ChromaTarget``, ``LanceTarget``, ``PgvectorTarget`` and ``QdrantTarget`` are targets. For another
store, write a class with the methods of ``Target``, and test it with
``chunkast.testing.contract.check_target``.
"""

from chunkast.stores.chroma import ChromaTarget
from chunkast.stores.lance import LanceTarget
from chunkast.stores.pgvector import PgvectorTarget
from chunkast.stores.qdrant import QdrantTarget
from chunkast.stores.row_writer import SyncError, SyncReport
from chunkast.stores.syncing import sync
from chunkast.stores.target import Record, Target

__all__: tuple[str, ...] = ("ChromaTarget", "LanceTarget", "PgvectorTarget", "QdrantTarget")
__all__ += ("Record", "SyncError", "SyncReport", "Target", "sync")
