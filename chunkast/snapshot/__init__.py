"""The public import path for snapshots; the code is in ``chunkast.testing``."""

from chunkast.testing.compare import KINDS, Change, Diff, DocumentDiff, compare
from chunkast.testing.lock import LockError, open_lock, write_lock
from chunkast.testing.records import (
    ChunkRecord,
    DocumentRecord,
    Header,
    ObjectError,
    config_of,
    header_of,
    record_document,
)

__all__ = (
    "KINDS",
    "Change",
    "ChunkRecord",
    "Diff",
    "DocumentDiff",
    "DocumentRecord",
    "Header",
    "LockError",
    "ObjectError",
    "compare",
    "config_of",
    "header_of",
    "open_lock",
    "record_document",
    "write_lock",
)
