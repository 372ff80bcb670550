"""Public import path for Arrow tables of chunks; the code is in ``chunkast.output.record_batches``."""

from chunkast.output.record_batches import (
    CHUNK_SCHEMA,
    SPARK_SCHEMA,
    chunk_record_batches,
    chunk_table,
)

__all__ = ("CHUNK_SCHEMA", "SPARK_SCHEMA", "chunk_record_batches", "chunk_table")
