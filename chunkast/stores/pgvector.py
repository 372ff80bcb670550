"""The target for PostgreSQL. Requires the ``pgvector`` extra: ``pip install 'chunkast[pgvector]'``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from chunkast.errors import ConfigError, StoreError
from chunkast.stores.target import COLUMNS, RECORD, Record, Row, Vector, check_own, module_of

__all__ = ("PgvectorTarget",)

_TYPES: Final = {str: "text", int: "integer", list: "text[]", dict: "jsonb"}
_FIND: Final = """select attname, atttypmod from pg_attribute
    where attrelid = to_regclass({quoted}) and attnum > 0 and not attisdropped"""
_CREATE: Final = f"""create extension if not exists vector;
    create table {{table}} ({", ".join(f"{name} {_TYPES[kind]}" for name, kind in COLUMNS.items())},
        embedding vector({{size}}), primary key (chunk_id));
    create index on {{table}} using hash (document); create index on {{table}} (embed_hash)"""
_RECORDS: Final = f"""select {", ".join(RECORD)} from {{table}}
    where embed_hash is not null and (%s::text[] is null or document = any(%s))"""  # noqa: S608
_VECTORS: Final = """select distinct on (embed_hash) embed_hash, embedding::real[] from {table}
    where embed_hash = any(%s) and model = %s and embedding is not null"""
_NAMES: Final = ", ".join((*COLUMNS, "embedding"))
_WRITE: Final = f"""insert into {{table}} as old ({_NAMES})
    select {_NAMES} from json_populate_recordset(null::{{table}}, %s::json)
    on conflict (chunk_id) do update set {", ".join(f"{name} = excluded.{name}" for name in COLUMNS)},
        embedding = coalesce(excluded.embedding, old.embedding)"""  # noqa: S608
_HNSW: Final = """select from pg_index
    where indrelid = to_regclass({quoted}) and pg_get_indexdef(indexrelid) ~ 'USING hnsw'"""


class PgvectorTarget:
    """A PostgreSQL table with a pgvector column, created with its first row.

    connection: a ``psycopg.Connection``, which must not be in a transaction during a sync.
    name: the name of the table, or of a schema and a table in it: "docs" or "search.docs".
    hnsw: at the end of a sync, create an HNSW index for cosine distances if the table has none.

    The table has a column for each value of a row, and the column ``embedding`` for the vector.
    Raises ``ConfigError`` for any other connection or an invalid name, and
    ``MissingPackageError`` if psycopg is not installed.
    """

    def __init__(self, connection: Any, name: str, *, hnsw: bool = False) -> None:
        self._psycopg = module_of(connection, "connection", "psycopg.Connection", "pgvector")
        parts = name.split(".")
        # PostgreSQL cuts off longer names, and psycopg looks for placeholders in names, too.
        if len(parts) > 2 or "%" in name or not all(0 < len(part.encode()) < 64 for part in parts):
            raise ConfigError("name", name, "must be table or schema.table, 1 to 63 bytes, no %")
        self.name = name
        self._connection, self._hnsw, self._exists = connection, hnsw, False
        self._table = self._psycopg.sql.Identifier(*parts)

    def start(self) -> int | None:
        """Check the table, and return the size of its vectors, or None if there is no table."""
        found = dict(self._run(_FIND))
        self._exists = bool(found)
        if found:
            check_own(self.name, found)
        return found.get("embedding")

    def records(self, documents: Sequence[str] | None) -> Iterable[Record]:
        """Return the records of these documents, or of all documents if ``documents`` is None."""
        names = None if documents is None else list(documents)
        rows = self._run(_RECORDS, names, names) if self._exists else []
        return [Record.of(dict(zip(RECORD, row, strict=True))) for row in rows]

    def vectors(self, embed_hashes: Sequence[str], model: str) -> Mapping[str, Vector]:
        """Return a stored vector of ``model`` for each hash, if there is one."""
        return dict(self._run(_VECTORS, list(embed_hashes), model) if self._exists else ())

    def write(self, rows: Sequence[Row], vectors: Sequence[Vector]) -> None:
        """Insert or replace rows; create the table and its indexes if they are missing."""
        if not self._exists:
            self._run(_CREATE, size=len(vectors[0]))
            self._exists = True
        pairs = zip(rows, vectors, strict=True)
        self.update([{**row, "embedding": [*vector]} for row, vector in pairs])

    def update(self, rows: Sequence[Row]) -> None:
        """Replace all columns of rows. A row without an "embedding" keeps its vector."""
        self._run(_WRITE, json.dumps([*rows]))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows."""
        self._run("delete from {table} where chunk_id = any(%s)", list(ids))

    def finish(self) -> None:
        """Create the HNSW index if ``hnsw`` is true and the table has none."""
        if self._hnsw and self._exists and not self._run(_HNSW):
            self._run("create index on {table} using hnsw (embedding vector_cosine_ops)")

    def _run(self, query: str, *values: Any, size: int = 0) -> list[Any]:
        """Run a query in a transaction of its own, and return its rows."""
        psycopg, connection = self._psycopg, self._connection
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            reason = "the connection is in a transaction: end it, or connect with autocommit=True"
            raise StoreError(self.name, reason)
        quoted = self._table.as_string(connection)
        sql = psycopg.sql.SQL(query).format(table=self._table, quoted=quoted, size=size)
        # The user's cursors may return other rows, and a pooler may not know prepared statements.
        cursor = psycopg.Cursor(connection, row_factory=psycopg.rows.tuple_row)
        with connection.transaction():
            cursor.execute(sql, values or None, prepare=False)
            return cursor.fetchall() if cursor.description is not None else []
