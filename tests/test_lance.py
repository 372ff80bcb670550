"""Tables of LanceDB: what other programs have in them, and the files that are left."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from chunkast import ConfigError
from chunkast.stores import LanceTarget, SyncError, SyncReport, sync
from tests.embedding_server import Embed
from tests.test_stores import assert_same, chunked, fresh
from tests.vector_stores import STORES

lancedb = pytest.importorskip("lancedb", reason="needs chunkast[lancedb]")

ONE = chunked({"a's.md": "# A\n\nOne.\n"})
TWO = chunked({"a's.md": "# A\n\nOther.\n\n# B\n\nNew.\n"})


def test_an_async_connection_is_refused(tmp_path: Path) -> None:
    connection = asyncio.run(lancedb.connect_async(str(tmp_path)))
    with pytest.raises(ConfigError, match="must be a DBConnection, which is not async"):
        LanceTarget(connection, "docs")


def test_a_table_in_a_folder_is_found_again_and_has_few_files(tmp_path: Path) -> None:
    many = chunked({f"{n}.md": f"# Part {n}\n\nWords.\n" for n in range(40)})
    sync(STORES["lancedb"](str(tmp_path)).target, many, Embed(), batch_size=1)
    store = STORES["lancedb"](str(tmp_path))
    assert_same(store.read(), fresh(many))
    assert sync(store.target, many, Embed()) == SyncReport(unchanged=40)
    table = lancedb.connect(str(tmp_path)).open_table("docs")
    assert table.stats()["fragment_stats"]["num_fragments"] == 1


def test_an_id_may_be_any_string() -> None:
    """Chunks that were read from a file may have other ids."""
    store = STORES["lancedb"]("")
    chunks = [replace(chunk, id=f"{chunk.id}' or \"x\\") for chunk in TWO[0][1] or ()]
    sync(store.target, [("a's.md", chunks)], Embed())
    assert sync(store.target, [("b.md", []), ("a's.md", [])], Embed()) == SyncReport(deleted=2)
    assert store.read() == {}


def test_rows_columns_and_tables_of_other_programs_are_left_alone() -> None:
    store = STORES["lancedb"]("")
    assert isinstance(store.target, LanceTarget)
    connection = store.target._connection

    def rows() -> list[dict[str, Any]]:
        return list(connection.open_table("docs").to_arrow().to_pylist())

    sync(store.target, ONE, Embed())
    table = connection.open_table("docs")
    table.add_columns(pa.field("stars", pa.int32()))
    table.add([{"chunk_id": "own", "document": "a's.md", "stars": 3, "vector": [1.0] * 6}])
    sync(store.target, TWO, Embed(), remove_missing=True)
    assert {row["chunk_id"]: row for row in rows()}["own"]["stars"] == 3
    sync(store.target, [("a's.md", [])], Embed())
    assert [row["stars"] for row in rows()] == [3]
    connection.create_table("docs", [{"chunk_id": "x", "vector": [1.0] * 6}], mode="overwrite")
    with pytest.raises(SyncError, match="another program: it has no column document, embed_hash"):
        sync(store.target, ONE, Embed())
