"""Tables of PostgreSQL: names, transactions, indexes, and what other programs have in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from chunkast import ConfigError
from chunkast.stores import PgvectorTarget, SyncError, SyncReport, sync
from tests.embedding_server import Embed
from tests.test_stores import assert_same, chunked, fresh
from tests.vector_stores import postgres, read_table

psycopg = pytest.importorskip("psycopg", reason="needs chunkast[pgvector]")

ONE = chunked({"a.md": "# A\n\nOne.\n"})
TWO = chunked({"a.md": "# A\n\nOther.\n\n# B\n\nNew.\n"})
Run = Callable[[str], list[Any]]


@pytest.fixture
def connection() -> Iterator[Any]:
    """A connection to a server; a test has its own schema, which is the first to be searched."""
    schema = f"s{uuid4().hex}"
    with psycopg.connect(postgres()) as connection:
        connection.execute("create extension if not exists vector")
        connection.execute(f"create schema {schema}; set search_path to {schema}, public")
        connection.commit()
        yield connection


@pytest.fixture
def run(connection: Any) -> Run:
    """A function that runs queries, and returns the first value of each row."""

    def run(query: str) -> list[Any]:
        with connection.transaction():
            cursor = connection.execute(query)
            return [row[0] for row in cursor.fetchall()] if cursor.description else []

    return run


def test_connections_and_names() -> None:
    connection = psycopg.Connection(psycopg.pq.PGconn())
    for name in ("", "a.b.c", "docs.", ".docs", "x" * 64, "100%"):
        with pytest.raises(ConfigError, match=f"name='{name}': must be table or schema.table"):
            PgvectorTarget(connection, name)
    with pytest.raises(ConfigError, match="must be a Connection, which is not async"):
        PgvectorTarget(psycopg.AsyncConnection(psycopg.pq.PGconn()), "docs")


@pytest.mark.parametrize("autocommit", [True, False])
def test_names_are_quoted_and_connections_have_rows_of_their_own(
    connection: Any, run: Run, *, autocommit: bool
) -> None:
    run('create schema "Odd ""schema"" {0}"')
    connection.autocommit = autocommit
    connection.row_factory = psycopg.rows.dict_row
    connection.cursor_factory = psycopg.RawCursor
    target = PgvectorTarget(connection, 'Odd "schema" {0}.of; {table}')
    sync(target, ONE, Embed())
    assert_same(read_table(connection, target.name), fresh(ONE))
    assert sync(target, ONE, Embed(), remove_missing=True) == SyncReport(unchanged=1)
    connection.row_factory, connection.cursor_factory = psycopg.rows.tuple_row, psycopg.Cursor
    run('drop schema "Odd ""schema"" {0}" cascade')


def test_an_index_is_built_at_the_end(connection: Any, run: Run) -> None:
    target = PgvectorTarget(connection, "docs", hnsw=True)
    indexes = "select indexdef from pg_indexes where schemaname = current_schema"
    sync(target, ONE, Embed(), dry_run=True)
    assert run(indexes) == []
    embed = Embed()

    def fails_later(texts: list[str]) -> list[list[float]]:
        return embed([]) if embed.batches else embed(texts)

    with pytest.raises(SyncError):
        sync(target, TWO, fails_later, batch_size=1)
    assert len(run(indexes)) == 3
    for _ in range(2):
        sync(target, ONE, Embed())
        assert sum("USING hnsw (embedding vector_cosine_ops)" in each for each in run(indexes)) == 1


def test_rows_columns_and_tables_of_other_programs_are_left_alone(
    connection: Any, run: Run
) -> None:
    target = PgvectorTarget(connection, "docs")
    sync(target, ONE, Embed())
    run("alter table docs add stars integer default 5")
    run("insert into docs (chunk_id, document, stars) values ('own', 'a.md', 3)")
    sync(target, TWO, Embed(), remove_missing=True)
    assert run("select stars from docs where chunk_id <> 'own'") == [5, 5]
    sync(target, [("a.md", [])], Embed())
    assert run("select stars from docs") == [3]
    run("drop table docs; create table docs (chunk_id text, embedding vector(3))")
    with pytest.raises(SyncError, match="another program: it has no column document, embed_hash"):
        sync(target, ONE, Embed())


def test_a_transaction_of_the_user_is_not_used(connection: Any, run: Run) -> None:
    """Else nothing would be stored before it ends."""
    target = PgvectorTarget(connection, "docs")
    connection.execute("select 1")
    with pytest.raises(SyncError, match="the connection is in a transaction"):
        sync(target, ONE, Embed())
    connection.rollback()

    def embed(texts: list[str]) -> list[list[float]]:
        with psycopg.connect(postgres()) as other:
            seen.append(len(read_table(other, f"{schema}.docs")))
        return Embed()(texts)

    seen: list[int] = []
    [schema] = run("select current_schema")
    sync(target, TWO, embed, batch_size=1)
    assert seen == [0, 1]
