"""Collections of Chroma: pages, distances, and what other programs have in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from chunkast import ConfigError
from chunkast.stores import ChromaTarget, SyncError, SyncReport, sync
from chunkast.testing.contract import check_target
from tests.embedding_server import Embed
from tests.test_stores import assert_same, chunked, fresh
from tests.vector_stores import read_collection

chromadb = pytest.importorskip("chromadb", reason="needs chunkast[chroma]")

ONE = chunked({"a.md": "# A\n\nOne.\n"})
TWO = chunked({"a.md": "# A\n\nOther.\n\n# B\n\nNew.\n"})


@pytest.fixture
def client(tmp_path: Path) -> Any:
    return chromadb.PersistentClient(str(tmp_path))


def test_wrong_targets(client: Any) -> None:
    with pytest.raises(ConfigError, match="distance='far': must be one of cosine, l2, ip"):
        ChromaTarget(client, "docs", distance="far")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="must be a ClientAPI, which is not async"):
        ChromaTarget(object(), "docs")


@pytest.mark.parametrize("distance", ["cosine", "l2", "ip"])
def test_rows_are_read_in_pages(
    client: Any, monkeypatch: pytest.MonkeyPatch, distance: Literal["cosine", "l2", "ip"]
) -> None:
    monkeypatch.setattr("chunkast.stores.chroma._PAGE", 3)
    target = ChromaTarget(client, "docs", distance=distance)
    check_target(target, lambda: read_collection(client, "docs"))
    collection = client.get_collection("docs", embedding_function=None)
    assert collection._model.configuration_json["hnsw"]["space"] == distance


def test_rows_and_collections_of_other_programs_are_left_alone(client: Any) -> None:
    """A collection with Chroma's own embedding, which would be downloaded, is not used to embed."""
    collection = client.create_collection("docs")
    sync(ChromaTarget(client, "docs"), ONE, Embed())
    collection.add(["own"], embeddings=[[1.0] * 6], metadatas=[{"document": "a.md"}])
    collection.add(["bare"], embeddings=[[1.0] * 6])
    sync(ChromaTarget(client, "docs"), TWO, Embed(), remove_missing=True)
    assert sync(ChromaTarget(client, "docs"), TWO, Embed()) == SyncReport(unchanged=2)
    sync(ChromaTarget(client, "docs"), [("a.md", [])], Embed())
    assert collection.get()["ids"] == ["own", "bare"]
    with pytest.raises(SyncError, match="docs: belongs to another program"):
        sync(ChromaTarget(client, "docs"), ONE, Embed())
    client.create_collection("empty")
    sync(ChromaTarget(client, "empty"), ONE, Embed())
    assert_same(read_collection(client, "empty"), fresh(ONE))


def test_a_vector_survives_many_updates(client: Any) -> None:
    """It is written again with each of them."""
    for number in range(30):
        text = "\n" * number + "# A\n\nOne.\n"
        documents = chunked({"a.md": text})
        sync(ChromaTarget(client, "docs"), documents, Embed())
    assert_same(read_collection(client, "docs"), fresh(documents))
