"""The public import path of ``chunkast.output.record_batches``, for Arrow tables of chunks."""

from chunkast.output.record_batches import (
    CHUNK_SCHEMA,
    SPARK_SCHEMA,
    chunk_record_batches,
    chunk_table,
)

__all__ = ("CHUNK_SCHEMA", "SPARK_SCHEMA", "chunk_record_batches", "chunk_table")
