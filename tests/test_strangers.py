"""Files and servers of strangers: indexes, ignore files, embedding servers, and calls of agents."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from chunkast import ChunkastWarning, Chunker, ConfigError, StoreError
from chunkast.index import EmbeddingServer, Store
from tests.command import errors, posix, run, write

BOATS = {"a.md": "# A\n\nA boat.\n", "b.md": "# B\n\nA bus.\n"}


def filled(path: Path | str, vectors: bool = False) -> Store:
    store = Store(str(path), create=True)
    given: dict[str, Any] = {}
    if vectors:
        given = {"embed": lambda texts: [[1.0, 2.0] for _ in texts], "model": "m"}
    store.update(BOATS.items(), Chunker(max_tokens=256, overlap=0), **given)
    return store


# Indexes


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder below one with an index, and what that index remembers to index."""
    monkeypatch.delenv("CHUNKAST_DB", raising=False)
    write(tmp_path, {"private/keys.md": "# Keys\n", "top/project/a.md": "# Mine\n"})
    database = tmp_path / "top" / ".chunkast.db"
    filled(database).close()
    settings = {"root": str(tmp_path), "paths": [str(tmp_path / "private")], "include": []}
    with closing(sqlite3.connect(database)) as connection:
        change = "INSERT OR REPLACE INTO settings VALUES ('run', ?)"
        connection.execute(change, [json.dumps(settings)])
        connection.commit()
    return tmp_path / "top" / "project"


def test_an_index_above_is_only_used_in_a_repository_or_the_home_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert b"boat" not in run("search", "boat", cwd=project).stdout
    for name in (project.parent, project):
        (name / ".git").mkdir()
        done = run("search", "boat", cwd=project)
        assert (b"boat" in done.stdout) == (name == project.parent)
        (name / ".git").rmdir()
    monkeypatch.setenv("HOME", str(project.parent))
    assert b"boat" in run("search", "boat", cwd=project).stdout


def test_an_index_that_was_found_reads_nothing_outside_its_folder(project: Path) -> None:
    (project.parent / ".git").touch()
    done = run("index", cwd=project)
    assert done.returncode == 2
    assert "remembers" in errors(done.stderr)[0]
    database = project.parent / ".chunkast.db"
    done = run("index", ".", "--replace", cwd=project)
    assert f"note: updated {database}\n" in done.stderr.decode()
    # The user's own choice.
    done = run("index", project, "--db", database, cwd=project)
    assert done.returncode == 0


@posix
def test_links_and_files_of_other_users_are_not_used(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.parent / ".git").touch()
    own = project / ".chunkast.db"
    own.symlink_to(project.parent / ".chunkast.db")
    done = run("index", ".", cwd=project)
    assert (done.returncode, "it is a link" in errors(done.stderr)[0]) == (2, True)
    own.unlink()
    owner = project.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    done = run("search", "boat", cwd=project)
    assert b"boat" not in done.stdout
    assert b"belongs to another user" in done.stderr


# Ignore files


@pytest.mark.parametrize("pattern", ["*" * 300 + "x", "*a" * 12 + "*b", "**/x/" * 12 + "b"])
def test_a_pattern_with_many_stars_is_left_out(tmp_path: Path, pattern: str) -> None:
    write(
        tmp_path, {".gitignore": f"b.md\n{pattern}\n", "a" * 60 + ".md": "# A\n", "b.md": "# B\n"}
    )
    with pytest.warns(
        ChunkastWarning, match=r"\.gitignore:2: left out, because a pattern has more"
    ):
        [(source, _)] = Chunker().chunk_folder(tmp_path)
    assert source.startswith("aaa")
    with pytest.raises(ConfigError, match=r"include=.* more than 8 stars"):
        list(Chunker().chunk_folder(tmp_path, include=[pattern]))


def test_repeated_folders_are_read_as_one(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "**/" * 40 + "x.md\n", "a/b/x.md": "# A\n", "a/y.md": "# B\n"})
    assert [source for source, _ in Chunker().chunk_folder(tmp_path)] == ["a/y.md"]


# Embedding servers


@contextmanager
def served(pieces: Callable[[], Iterator[bytes]], status: int = 200) -> Iterator[str]:
    """Serve the pieces as the body of every answer, and return the address."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            self.send_response(status)
            self.end_headers()
            try:
                for piece in pieces():
                    self.wfile.write(piece)
            except OSError:
                pass  # the reader has gone

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def dripping() -> Iterator[bytes]:
    for _ in range(600):
        time.sleep(0.1)
        yield b" "


def test_an_error_that_drips_ends_at_the_limit_of_time() -> None:
    with served(dripping, 400) as url, pytest.raises(StoreError, match="HTTP 400: Bad Request"):
        EmbeddingServer(url, "m", pauses=(), timeout=0.3)(["boat"])


def test_an_answer_that_drips_ends_at_the_limit_of_time() -> None:
    with served(dripping) as url, pytest.raises(StoreError, match=r"not complete after 0\.3 s"):
        EmbeddingServer(url, "m", pauses=(), timeout=0.3)(["boat"])


@pytest.mark.parametrize(("size", "most"), [(2, "65,664"), (0, "1,065,536")])
def test_an_answer_without_end_ends_at_the_limit_of_size(size: int, most: str) -> None:
    endless = served(lambda: (b" " * 2**16 for _ in count()))
    with endless as url, pytest.raises(StoreError, match=f"exceeds {most} bytes"):
        EmbeddingServer(url, "m", pauses=(), size=size)(["boat"])


@pytest.mark.parametrize("vector", [[0.0, 0.0], [1e-50, 0.0], [float("nan"), 1.0], [3.5e38, 1.0]])
def test_a_vector_without_direction_is_refused(vector: list[float]) -> None:
    with filled(":memory:") as store, pytest.raises(StoreError, match="embed returned a vector"):
        store.update([], Chunker(), remove_missing=False, embed=lambda _: [vector] * 2, model="m")


@pytest.mark.parametrize("value", [1e39, 3.39e38, 1e-30])
def test_a_query_vector_of_any_length_finds_the_nearest(value: float) -> None:
    with Store(":memory:", create=True) as store:
        vectors = iter([[3.39e38] * 64, [1.0, -1.0] * 32])
        given: dict[str, Any] = {
            "embed": lambda texts: [next(vectors) for _ in texts],
            "model": "m",
        }
        store.update(BOATS.items(), Chunker(max_tokens=256, overlap=0), **given)
        assert store.search("nothing", vector=[value] * 64)[0].source == "a.md"


def test_a_stored_vector_of_zeros_is_dropped_and_made_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    filled(path, vectors=True).close()
    with closing(sqlite3.connect(path)) as connection:
        for model, text in connection.execute(
            "SELECT model, embed_hash FROM text_vectors"
        ).fetchall():
            values = bytes(8), crc32(bytes(8), crc32(f"{model} {text}".encode())), text
            change = "UPDATE text_vectors SET vector = ?, checksum = ? WHERE embed_hash = ?"
            connection.execute(change, values)
            break
        connection.commit()
    with Store(str(path), create=True) as store:
        with pytest.raises(StoreError, match=r"zeros; .* rebuilds it"):
            store.search("boat", vector=[1.0, 2.0])
        report = store.update(BOATS.items(), Chunker(max_tokens=256, overlap=0))
        assert (len(report.embed), len(report.faults)) == (1, 1)
        assert "zeros" in report.faults[0]


# Agents


def test_numbers_and_names_of_agents_have_any_value() -> None:
    answers = pytest.importorskip("chunkast.mcp.index_answers", exc_type=ImportError)
    with filled(":memory:") as store:
        served = answers.Answers(store, Chunker(max_tokens=100, overlap=0))
        for depth in (-1, 10**30):
            assert "A" in asyncio.run(served.outline(source="a.md", depth=depth))
        assert "boat" in asyncio.run(served.search("boat", skip=-1))
        assert "No more" in asyncio.run(served.search("boat", skip=10**30))
        assert store.search("boat", within="\ud800") == []
