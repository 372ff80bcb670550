"""Chunks under test: recorded in a lock, compared with what they are now, reported."""

from chunkast.snapshot.compare import KINDS, Change, Diff, DocumentDiff, compare
from chunkast.snapshot.lock import LockError, open_lock, write_lock
from chunkast.snapshot.records import (
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
