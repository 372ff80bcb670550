"""The public import path for Arrow tables of chunks (code: ``chunkast.output.record_batches``)."""

from chunkast.output.record_batches import (
    CHUNK_SCHEMA,
    SPARK_SCHEMA,
    chunk_record_batches,
    chunk_table,
)

__all__ = ("CHUNK_SCHEMA", "SPARK_SCHEMA", "chunk_record_batches", "chunk_table")
