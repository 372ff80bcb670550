"""The target for LanceDB. Requires the ``lancedb`` extra: ``pip install 'chunkast[lancedb]'``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chunkast.stores.known_rows import KnownRows
from chunkast.stores.target import COLUMNS, RECORD, Record, Row, Vector, check_own, flat, module_of

__all__ = ("LanceTarget",)


class LanceTarget:
    """A LanceDB table, created with its first row.

    connection: a synchronous connection, such as ``lancedb.connect("folder")``.
    name: the name of the table.

    The table has a column for each value of a row, with ``metadata`` as JSON, and the column
    ``vector``. During a sync, the ids and hashes of all rows are in memory. Raises ``ConfigError``
    for any other connection, such as an ``AsyncConnection``, and ``MissingPackageError`` if lancedb
    is not installed.
    """

    def __init__(self, connection: Any, name: str) -> None:
        module_of(connection, "connection", "lancedb.DBConnection", "lancedb")
        self.name = name
        self._connection, self._known = connection, KnownRows(())
        self._table: Any = None

    def start(self) -> int | None:
        """Check the table, and return the size of its vectors, or None if there is no table."""
        self._table, self._known = None, KnownRows(())
        try:
            self._table = self._connection.open_table(self.name)
        except ValueError:  # there is none
            return None
        check_own(self.name, self._table.schema.names)
        self._known = KnownRows(map(Record.of, self._select(RECORD, "embed_hash is not null")))
        return int(self._table.schema.field("vector").type.list_size)

    def records(self, documents: Sequence[str] | None) -> Iterable[Record]:
        """Return the records of these documents, or of all documents if ``documents`` is None."""
        return self._known.records(documents)

    def vectors(self, embed_hashes: Sequence[str], model: str) -> Mapping[str, Vector]:
        """Return a stored vector of ``model`` for each hash, if there is one."""
        ids = self._known.holders(embed_hashes, model)
        found = self._select(("embed_hash", "vector"), _among(ids)) if ids else ()
        return {row["embed_hash"]: row["vector"] for row in found}

    def write(self, rows: Sequence[Row], vectors: Sequence[Vector]) -> None:
        """Insert or replace rows; create the table if it is missing."""
        if self._table is None:
            self._table = self._connection.create_table(self.name, schema=_schema(len(vectors[0])))
        pairs = zip(rows, vectors, strict=True)
        values = [{**flat(row), "vector": vector} for row, vector in pairs]
        # Adding rows is faster than merging, which reads the ids of the whole table.
        merged = any(row["chunk_id"] in self._known for row in rows)
        (self._merge if merged else self._table.add)(values)
        self._known.put(*map(Record.of, rows))

    def update(self, rows: Sequence[Row]) -> None:
        """Replace all columns but the vectors."""
        self._merge([flat(row) for row in rows])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows."""
        self._table.delete(_among(ids))

    def finish(self) -> None:
        """Merge the small files that were written, and free the records in memory."""
        if self._table is not None:
            self._table.optimize()
        self._known = KnownRows(())

    def _select(self, names: Sequence[str], where: str) -> Iterable[Row]:
        return list(self._table.search().where(where).select([*names]).limit(None).to_list())

    def _merge(self, rows: Sequence[Row]) -> None:
        merge = self._table.merge_insert("chunk_id").when_matched_update_all()
        merge.when_not_matched_insert_all().execute([*rows])


def _among(ids: Sequence[str]) -> str:
    quoted = "', '".join(each.replace("'", "''") for each in ids)
    return f"chunk_id in ('{quoted}')"


def _schema(size: int) -> Any:
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int64(), list: pa.list_(pa.string()), dict: pa.string()}
    fields = [(name, types[kind]) for name, kind in COLUMNS.items()]
    return pa.schema([*fields, ("vector", pa.list_(pa.float32(), size))])
