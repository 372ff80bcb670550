"""Sync from an index: the store ends as one that was embedded anew, and nothing is embedded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from chunkast import ConfigError, StoreError
from chunkast.index import Store
from chunkast.sources.documents import iter_document
from chunkast.sources.jupyter import notebook_in
from chunkast.stores import SyncReport, sync
from tests.command import run, write
from tests.embedding_server import Embed, serving
from tests.tables import cases
from tests.test_stores import CHUNKER, EDITS, FILES, Documents, assert_same, fresh
from tests.vector_stores import STORES

CHANGES = [edit["changes"] for edit in EDITS if edit["name"][:3] not in ("(g)", "(j)")]


@pytest.fixture
def index() -> Iterator[Store]:
    with Store(":memory:", create=True) as store:
        yield store


@pytest.mark.parametrize("kind", STORES)
def test_a_store_follows_an_index_without_embedding(index: Store, kind: str) -> None:
    store = STORES[kind]("")
    for changes in CHANGES:
        texts = {name: text for name, text in (FILES | changes).items() if text}
        read = [(name, notebook_in(text) or text) for name, text in texts.items()]
        index.update(read, CHUNKER, embed=Embed(), model="words")
        dry = sync(store.target, index, dry_run=True)
        report = sync(store.target, index)
        assert (report.embedded, dry) == (0, report)
        passed: Documents = [(name, [*iter_document(CHUNKER, each, name)]) for name, each in read]
        assert_same(store.read(), fresh(passed, "words"))
        assert sync(store.target, index) == SyncReport(unchanged=len(store.read()))
    store.close()


def test_texts_without_a_vector_are_named_before_anything_is_written(index: Store) -> None:
    store = STORES["qdrant"]("")
    pages = [(f"{name}.md", f"# {name}\n\nSome words of {name}.\n") for name in "ab"]
    for first in (None, Embed()):
        index.update(pages[:1], CHUNKER, embed=first, model="words" if first else None)
        index.update(pages[1:], CHUNKER, remove_missing=False)
        with pytest.raises(StoreError, match="no vector; 'chunkast index --embed-url"):
            sync(store.target, index)
        assert store.read() == {}


def test_wrong_arguments_and_vectors_of_another_size(index: Store) -> None:
    store = STORES["qdrant"]("")
    index.update([("a.md", "# A\n")], CHUNKER, embed=Embed(), model="words")
    for options in ({"embed": Embed()}, {"model": "words"}):
        with pytest.raises(ConfigError, match="an index has its own vectors"):
            sync(store.target, index, **options)
    sync(store.target, [("b.md", CHUNKER.chunk("# B\n", "b.md"))], lambda _: [[1.0, 0.0]])
    with pytest.raises(StoreError, match="has vectors of 2 numbers, the index of 6"):
        sync(store.target, index)


def test_the_command_syncs_a_collection(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_client", reason="needs chunkast[qdrant]")
    write(tmp_path, FILES)
    with serving() as served:
        given = ("--embed-url", served.url, "--embed-model", "words")
        done = run("index", "docs", "-q", *given, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    to = ("sync", "--to", "qdrant:vectors#docs")
    first = run(*to, cwd=tmp_path)
    assert first.stdout.decode().startswith("embedded 0 texts; wrote "), first.stderr
    again = json.loads(run(*to, "--format", "json", cwd=tmp_path).stdout)
    assert again == dict.fromkeys(again, 0) | {"unchanged": again["unchanged"]}
    assert again["unchanged"] > 0


def test_a_store_that_cannot_be_opened_is_an_error_without_its_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="needs chunkast[pgvector]")
    write(tmp_path, {"a.md": "# A\n"})
    run("index", "a.md", "-q", cwd=tmp_path)
    done = run("sync", "--to", "pgvector:postgresql://me:secret@127.0.0.1:1/x#docs", cwd=tmp_path)
    assert done.returncode == 1
    assert b"docs: " in done.stderr
    assert b"secret" not in done.stderr


@cases("usage", "stores")
def test_another_form_of_a_store_is_an_error(tmp_path: Path, to: str) -> None:
    write(tmp_path, {"a.md": "# A\n"})
    run("index", "a.md", "-q", cwd=tmp_path)
    done = run("sync", "--to", to, cwd=tmp_path)
    assert done.returncode == 2
    assert b"must be KIND:PLACE#NAME, " in done.stderr
