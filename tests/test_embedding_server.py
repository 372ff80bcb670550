"""Embeddings from a server: asked for once, only where it is named, and never with another's key."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chunkast import ChunkastWarning, ConfigError, StoreError
from chunkast.index import EmbeddingServer, Store, query_vector
from tests.agents import ask
from tests.command import command, environment, errors, posix, run, write
from tests.embedding_server import Served, serving, vector_of
from tests.tables import cases
from tests.test_vectors import CHUNKER, GUIDE, HUTS, assert_complete

TEXTS = ["One.", "Two.", "Three."]


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as each:
        yield each


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHUNKAST_EMBED_URL", raising=False)


def unused() -> str:
    """Return the address of a server that does not exist."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{other.getsockname()[1]}/v1"


# The function


@pytest.mark.parametrize("end", ["", "/", "/embeddings"])
def test_vectors_are_taken_by_their_index(served: Served, end: str) -> None:
    assert EmbeddingServer(served.url + end, "m")(TEXTS) == list(map(vector_of, TEXTS))
    assert (served.texts, served.models, served.keys) == (TEXTS, {"m"}, {None})


def test_a_key_is_sent_and_shown_nowhere(served: Served) -> None:
    server = EmbeddingServer(served.url, "m", "secret-key", pauses=())
    server(TEXTS)
    assert served.keys == {"Bearer secret-key"}
    assert "secret" not in repr(server)
    served.statuses = [401]
    with pytest.raises(StoreError, match=r"HTTP 401: no such thing: Bearer \.\.\.") as caught:
        server(TEXTS)
    assert "secret" not in str(caught.value)
    with pytest.raises(ConfigError) as invalid:
        EmbeddingServer(served.url, "m", "secret\nkey")
    assert "secret" not in str(invalid.value)


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between requests, which take no time."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def test_a_busy_server_is_asked_again(served: Served, paused: list[float]) -> None:
    served.statuses = [429, 500, 503]
    server = EmbeddingServer(served.url, "m", pauses=(1, 2, 4))
    assert server(TEXTS) == list(map(vector_of, TEXTS))
    assert (served.requests, paused) == (4, [1, 2, 4])
    served.statuses = [500] * 4
    with pytest.raises(StoreError, match="cannot embed: HTTP 500"):
        server(TEXTS)
    assert served.requests == 8


@pytest.mark.parametrize("status", [302, 400, 401, 404])
def test_other_errors_end_the_run_at_once(served: Served, status: int) -> None:
    served.statuses = [status]
    with pytest.raises(StoreError, match=f"cannot embed: HTTP {status}"):
        EmbeddingServer(served.url, "m", pauses=(9,))(TEXTS)
    assert served.requests == 1


def test_a_server_that_cannot_be_reached_is_tried_again(paused: list[float]) -> None:
    with pytest.raises(StoreError, match=r"cannot embed: .*refused"):
        EmbeddingServer(unused(), "m", pauses=(1, 2))(TEXTS)
    assert paused == [1, 2]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StoreError, match="cannot embed: timed out"):
            EmbeddingServer(url, "m", pauses=(), timeout=0.1)(TEXTS)


@cases("embeddings", "wrong answers")
def test_a_wrong_answer_is_an_error(served: Served, answer: Any) -> None:
    served.answer = lambda _: answer.encode("latin-1") if isinstance(answer, str) else answer
    with pytest.raises(StoreError, match="the answer has"):
        EmbeddingServer(served.url, "m", pauses=(9,))(TEXTS)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "127.0.0.1:80", "", "ftp://x"])
def test_only_http_addresses_are_servers(url: str) -> None:
    with pytest.raises(ConfigError, match="must begin with http"):
        EmbeddingServer(url, "m")


@pytest.mark.parametrize("url", ["http://a b/", "http://[", "http://127.0.0.1:x"])
def test_invalid_addresses_are_errors(url: str) -> None:
    with pytest.raises(StoreError, match="cannot embed"):
        EmbeddingServer(url, "m", pauses=(99,))(TEXTS)


def test_a_query_is_embedded_or_searched_by_words(served: Served) -> None:
    pytest.importorskip("numpy")
    with Store(":memory:", create=True) as store:
        store.update([("a.md", GUIDE)], CHUNKER)
        with pytest.warns(ChunkastWarning, match="words alone: :memory: has no vectors"):
            assert query_vector(store, "soup", url=served.url) is None
        assert served.requests == 0
        server = EmbeddingServer(served.url, "m")
        store.update([("a.md", GUIDE)], CHUNKER, embed=server, model="m")
        vector = query_vector(store, "soup", url=served.url, key="k")
        assert vector == vector_of("soup")
        assert (served.texts[-1], served.keys) == ("soup", {None, "Bearer k"})
        served.statuses = [500]
        with pytest.warns(ChunkastWarning, match="words alone: http.*HTTP 500"):
            assert query_vector(store, "soup", url=served.url) is None
        served.answer = lambda _: {"data": [{"index": 0, "embedding": [1.0]}]}
        with pytest.warns(ChunkastWarning, match="words alone: .* 1 numbers; the store has 6"):
            assert query_vector(store, "soup", url=served.url) is None


# The command


def test_the_commands_embed_and_search(
    tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    write(tmp_path, {"docs/guide.md": GUIDE, "docs/huts.md": HUTS})
    monkeypatch.setenv("KEY", "secret-key\n")
    index = ("index", "docs", "--db", "a.db")
    server = ("--embed-url", served.url, "--embed-key-env", "KEY")
    done = run(*index, *server, "--embed-model", "m", "--dry-run", cwd=tmp_path)
    assert (done.returncode, served.requests) == (0, 0)
    done = run(*index, *server, "--embed-model", "m", cwd=tmp_path, terminal="stderr")
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[1] == "embed 2, reuse 0, embedded 2"
    assert (len(served.texts), served.keys) == (2, {"Bearer secret-key"})
    # The model is remembered, the server and the key are not.
    done = run(*index, *server, cwd=tmp_path)
    assert b"embed 0, reuse 0, embedded 0\n" in done.stdout
    assert (len(served.texts), served.models) == (2, {"m"})
    data = (tmp_path / "a.db").read_bytes()
    assert b"secret" not in data
    assert b"127.0.0.1" not in data
    write(tmp_path, {"docs/guide.md": GUIDE.replace("two", "three")})
    done = run(*index, cwd=tmp_path)
    assert done.stdout.decode().splitlines()[1] == "embed 1, reuse 0"
    done = run(*index, *server, "--prune-vectors", "--format", "json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (len(report["embed"]), report["embedded"]) == (1, 1)
    assert b"note: a.db: 1 vector deleted" in done.stderr
    with Store(str(tmp_path / "a.db")) as store:
        assert_complete(store)
        text = next(store.chunks("docs/huts.md")).embed_text

    def search(*arguments: str) -> tuple[list[str], str]:
        done = run("search", text, "--db", "a.db", "--format", "json", *arguments, cwd=tmp_path)
        assert done.returncode == 0
        return [hit["source"] for hit in json.loads(done.stdout)["hits"]], done.stderr.decode()

    served.requests = 0
    assert search() == (["docs/huts.md", "docs/guide.md"], "")
    assert served.requests == 0
    assert search("--embed-url", served.url) == (["docs/huts.md", "docs/guide.md"], "")
    assert (served.requests, served.texts[-1]) == (1, text)
    monkeypatch.setenv("CHUNKAST_EMBED_URL", served.url)
    assert search()[1] == ""
    assert served.requests == 2
    monkeypatch.setenv("CHUNKAST_EMBED_URL", unused())
    found, note = search()
    assert found == ["docs/huts.md", "docs/guide.md"]
    assert note.startswith("chunkast: note: searched by words alone: http://127.0.0.1:")


def test_an_index_without_vectors_is_searched_as_before(
    tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.md": GUIDE})
    search = ("search", "soup", "--db", "a.db")
    monkeypatch.setenv("CHUNKAST_EMBED_URL", served.url)
    assert b"embed 1, reuse 0\n" in run("index", "a.md", "--db", "a.db", cwd=tmp_path).stdout
    done = run(*search, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    done = run(*search, "--embed-url", served.url, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == b"chunkast: note: searched by words alone: a.db has no vectors\n"
    assert served.requests == 0


def test_an_index_that_names_a_server_is_not_believed(tmp_path: Path, served: Served) -> None:
    path = tmp_path / "a.db"
    with Store(str(path), create=True) as store:
        store.update(
            [("a.md", GUIDE)], CHUNKER, embed=EmbeddingServer(served.url, "m"), model=served.url
        )
        for name in ("embed_url", "embed_key_env", "url"):
            store._connection.execute("INSERT INTO settings VALUES (?, ?)", (name, served.url))
    served.requests = 0
    assert run("search", "soup", "--db", "a.db", cwd=tmp_path).returncode == 0
    assert run("index", "--db", "a.db", cwd=tmp_path).returncode == 2
    assert served.requests == 0


def test_a_server_that_fails_leaves_the_chunks_and_the_batches_before(
    tmp_path: Path, served: Served
) -> None:
    write(tmp_path, {f"docs/{n:03}.md": f"# {n}\n\nText {n}.\n" for n in range(100)})
    index = ("index", "docs", "--db", "a.db", "--embed-url", served.url, "--embed-model", "m")
    served.statuses = [200, 400]
    done = run(*index, cwd=tmp_path)
    assert done.returncode == 1
    assert "HTTP 400" in errors(done.stderr)[0]
    assert b"added 100" in done.stdout
    assert b"embed 100, reuse 0, embedded 64\n" in done.stdout
    done = run(*index, cwd=tmp_path)
    assert b"embed 36, reuse 0, embedded 36\n" in done.stdout
    assert len(set(served.texts)) == len(served.texts) == 100


def test_agents_search_by_vectors(tmp_path: Path, served: Served) -> None:
    pytest.importorskip("mcp")
    pytest.importorskip("numpy")
    write(tmp_path, {"guide.md": GUIDE, "huts.md": HUTS})
    index = ("index", "guide.md", "huts.md", "--db", "a.db", "--embed-model", "m")
    assert run(*index, "--embed-url", served.url, "-q", cwd=tmp_path).returncode == 0
    with Store(str(tmp_path / "a.db")) as store:
        vector = vector_of(next(store.chunks("huts.md")).embed_text)
    served.answer = lambda _: {"data": [{"index": 0, "embedding": vector}]}

    def found(*arguments: str) -> str:
        call = ("search", {"query": "zebra"})
        _, answer = ask([call], "--db", "a.db", *arguments, cwd=tmp_path)
        return str(answer.content[0].text)

    assert found().startswith("Nothing contains a word")
    asked = served.requests
    assert found("--embed-url", served.url).startswith("huts.md:1-")
    assert served.requests == asked + 1
    assert found("--embed-url", unused()).startswith("Nothing contains a word")


@pytest.mark.slow
@posix
def test_a_killed_run_loses_no_vectors(tmp_path: Path, served: Served) -> None:
    """Kill the indexer at random moments; CHUNKAST_KILLS says how often."""
    kills = int(os.environ.get("CHUNKAST_KILLS", "20"))
    chance = random.Random(kills)
    count = 64 * kills
    write(tmp_path, {f"docs/{n:05}.md": f"Text {n}.\n" for n in range(count)})
    path = tmp_path / "a.db"
    model = ("--embed-url", served.url, "--embed-model", "m")
    words = command("index", "docs", "--db", path, "-q", *model)
    stored: set[str] = set()
    for _ in range(kills):
        asked = len(served.texts)
        with subprocess.Popen(
            words, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL
        ) as process:
            deadline = time.monotonic() + 60
            while len(served.texts) == asked and time.monotonic() < deadline:
                time.sleep(0.002)
                if process.poll() is not None:
                    break
            time.sleep(chance.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
        with Store(str(path), read_only=True) as store:
            found = {text for text, _ in store.vectors()}
        assert stored <= found, "vectors were lost"
        assert len(served.texts) - asked - len(found - stored) <= 2 * 64
        stored = found
    done = run("index", "docs", "--db", "a.db", *model, cwd=tmp_path)
    assert done.returncode == 0
    with Store(str(path)) as store:
        assert len(dict(store.vectors())) == count
        assert_complete(store)
