"""Chunk the documents in Arrow tables and batches, for distributed engines.

Use :func:`chunk_record_batches` with PySpark's ``mapInArrow``, and :func:`chunk_table` with Ray
Data's ``map_batches``, Dask and Polars. Each worker process loads the vocabulary only once.
Requires the ``arrow`` extra: ``pip install 'chunkast[arrow]'``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from chunkast.chunker import Chunker
from chunkast.config import ChunkConfig
from chunkast.errors import STOPS, ConfigError, MissingPackageError, describe
from chunkast.output.columns import COLUMNS, arrow_schema, chunk_row
from chunkast.text.source_map import without_surrogates

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingPackageError("pyarrow", "arrow") from error

__all__ = ("CHUNK_SCHEMA", "SPARK_SCHEMA", "chunk_record_batches", "chunk_table")

_SPARK_TYPES: Final = {
    "string": "string",
    "int32": "int",
    "int64": "bigint",
    "list": "array<string>",
    "lists": "array<array<string>>",
    "pages": "array<int>",
    "positions": "array<bigint>",
    "bool": "boolean",
}
# The columns of Parquet output, and ``error``, the reason why a row has no chunks.
CHUNK_SCHEMA: Final = pa.schema(
    [*(field.with_nullable(True) for field in arrow_schema()), pa.field("error", pa.string())]
)
# The same schema for Spark.
SPARK_SCHEMA: Final = ", ".join(
    f"`{name}` {_SPARK_TYPES[kind]}" for name, kind in (*COLUMNS.items(), ("error", "string"))
)
# The maximum numbers of rows and characters in a batch of output: a column of strings can
# contain at most two gigabytes.
_MAX_ROWS: Final = 4_096
_MAX_CHARACTERS: Final = 16 * 2**20


def chunk_record_batches(
    batches: Iterable[pa.RecordBatch],
    config: ChunkConfig | None = None,
    *,
    text: str = "text",
    source: str | None = "source",
    keep_columns: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Yield batches with the chunks of the documents in ``batches``, in order.

    text: the column with the texts. Each row is one document.
    source: the column with the names of the documents, or None if they have no names. Chunk ids
        are computed from the name, so names should be unique.
    keep_columns: the columns of ``batches`` that are repeated for each chunk.

    The result has the columns of :data:`CHUNK_SCHEMA`, then those in ``keep_columns``. If a row
    cannot be chunked, for example because its text is null, the result has one row with the
    ``source``, the kept columns and the ``error``; all other columns are null. Chunks and ids do
    not depend on how an engine distributes the rows.

    Raises ``ConfigError`` if a column is missing or its name conflicts with a column of the result.
    """
    chunker = Chunker(ChunkConfig() if config is None else config)
    for batch in batches:
        schema = _schema(batch.schema, text, source, keep_columns)
        size = 0
        rows: list[dict[str, Any]] = []
        origins: list[int] = []
        for number in range(batch.num_rows):
            for row in _rows(chunker, batch, number, text, source):
                rows.append(row)
                origins.append(number)
                size += len(row["text"] or "") + len(row["embed_text"] or "")
                if len(rows) >= _MAX_ROWS or size >= _MAX_CHARACTERS:
                    yield _batch(rows, batch, origins, schema, keep_columns)
                    rows, origins, size = [], [], 0
        if rows:
            yield _batch(rows, batch, origins, schema, keep_columns)


def chunk_table(
    table: pa.Table,
    config: ChunkConfig | None = None,
    *,
    text: str = "text",
    source: str | None = "source",
    keep_columns: Sequence[str] = (),
) -> pa.Table:
    """Return a table with the chunks of the documents in ``table``.

    The arguments and columns are those of :func:`chunk_record_batches`.
    """
    batches = chunk_record_batches(
        table.to_batches(), config, text=text, source=source, keep_columns=keep_columns
    )
    schema = _schema(table.schema, text, source, keep_columns)
    return pa.Table.from_batches(batches, schema=schema)


def _schema(
    columns: pa.Schema, text: str, source: str | None, keep_columns: Sequence[str]
) -> pa.Schema:
    """Return the output schema; raise ``ConfigError`` for missing or conflicting columns."""
    names = [("text", text), ("source", source), *(("keep_columns", name) for name in keep_columns)]
    for option, name in names:
        if name is not None and columns.names.count(name) != 1:
            present = ", ".join(map(repr, columns.names)) or "none"
            hint = "; source=None is for documents without names" if option == "source" else ""
            raise ConfigError(option, name, f"must be a column of the batch ({present}){hint}")
        if option == "keep_columns" and name in CHUNK_SCHEMA.names:
            raise ConfigError(option, name, "is a column of the chunks; rename yours")
    return pa.schema([*CHUNK_SCHEMA, *map(columns.field, keep_columns)])


def _rows(
    chunker: Chunker, batch: pa.RecordBatch, number: int, text: str, source: str | None
) -> list[dict[str, Any]]:
    """Return the output rows of one document: its chunks, or a single row with an error."""
    name: str | None = None
    try:
        if source is not None:
            name = _value(batch, number, source, allowed=(str, type(None)))
        value = _value(batch, number, text, allowed=(str,))
        return [chunk_row(chunk) for chunk in chunker.chunk(value, name)]
    except STOPS:
        raise
    except BaseException as error:  # noqa: BLE001 - one bad row must not fail the job
        why = without_surrogates(describe(error))
        return [dict.fromkeys(COLUMNS) | {"source": name, "error": why}]


def _value(batch: pa.RecordBatch, number: int, column: str, allowed: tuple[type, ...]) -> Any:
    # Raises if an engine's string is not UTF-8.
    value = batch.column(column)[number].as_py()
    if not isinstance(value, allowed):
        kind = "null" if value is None else f"of type {batch.schema.field(column).type}"
        raise TypeError(f"{column} is {kind}, not a string")
    return value


def _batch(
    rows: list[dict[str, Any]],
    batch: pa.RecordBatch,
    origins: list[int],
    schema: pa.Schema,
    keep_columns: Sequence[str],
) -> pa.RecordBatch:
    chunks = pa.RecordBatch.from_pylist(rows, schema=CHUNK_SCHEMA)
    taken = pa.array(origins, pa.int64())
    kept = [batch.column(name).take(taken) for name in keep_columns]
    return pa.RecordBatch.from_arrays([*chunks.columns, *kept], schema=schema)
