"""``chunkast index --watch``: the index follows the documents, whatever happens to either."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from chunkast.index import Store
from tests import agents
from tests.command import errors, posix, refused, run, started, wait_until, write

pytest.importorskip("watchfiles")

LINE = re.compile(
    r"added [\d,]+, changed [\d,]+, unchanged [\d,]+, removed [\d,]+, moved [\d,]+; "
    r"embed [\d,]+, reuse [\d,]+"
)
FILES = {f"docs/{number}.md": f"# {number}\n\nText {number}.\n" for number in range(8)}


class Watching(NamedTuple):
    folder: Path
    process: subprocess.Popen[bytes]

    def printed(self) -> list[str]:
        return (self.folder / "out.txt").read_text().splitlines()

    def said(self) -> str:
        return (self.folder / "err.txt").read_text()

    def wait_until_fresh(self) -> None:
        """Wait until the index equals one that is made now."""
        wanted = fresh(self.folder)
        wait_until(lambda: state(self.folder / ".chunkast.db") == wanted)


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[Watching]:
    """A process that watches a folder, after its first update."""
    with (
        (folder / "out.txt").open("wb") as out,
        (folder / "err.txt").open("wb") as err,
        started("index", "docs", "--watch", *arguments, cwd=folder, stdout=out, stderr=err) as one,
    ):
        watched = Watching(folder, one)
        wait_until(lambda: " new or changed, " in watched.said() or one.poll() is not None)
        assert one.poll() is None, watched.said()
        yield watched


def state(path: Path) -> dict[str, list[tuple[str, int, str]]]:
    """The chunks of each document of an index."""
    with Store(str(path), read_only=True) as store:
        found: dict[str, list[tuple[str, int, str]]] = {name: [] for name in store.outline()}
        for chunk in store.chunks():
            found[chunk.source or ""].append((chunk.id, chunk.start_index, chunk.text))
    return found


def fresh(folder: Path) -> dict[str, list[tuple[str, int, str]]]:
    for path in folder.glob("fresh.db*"):
        path.unlink()
    run("index", "docs", "--db", "fresh.db", "-q", cwd=folder)
    return state(folder / "fresh.db")


def edit(docs: Path, chance: random.Random, number: int) -> None:
    """Edit a random document, or the folder."""
    known = sorted(path for path in docs.rglob("*.md") if path.is_file())
    path, text = chance.choice(known), f"# {number}\n\nEdit {number}.\n" * chance.randint(1, 5)
    kind = chance.choice(
        ["new", "write", "swap", "append", "halves", "move", "gone", "folder", "rule"]
    )
    if kind == "gone" and len(known) > 3:
        path.unlink()
    elif kind == "write":
        path.write_text(text)
    elif kind == "swap":
        # As editors save.
        (docs / ".swap").write_text(text)
        (docs / ".swap").replace(path)
    elif kind == "append":
        with path.open("a") as file:
            file.write(text)
    elif kind == "halves":
        with path.open("wb") as file:
            for half in (text.encode()[:9], b"\xe2\x82", b"\xac\n"):
                file.write(half)
                file.flush()
    elif kind == "move":
        path.rename(docs / f"moved-{number}.md")
    elif kind == "folder":
        inside = docs / "in"
        if inside.exists():
            inside.rename(docs / f"out-{number}")
        else:
            write(inside, {f"{number}.md": text, "deep/er.md": text})
    elif kind == "rule":
        (docs / ".gitignore").write_text(chance.choice(["", "moved-*\n", "out-*\n"]))
    else:
        (docs / f"new-{number}.md").write_text(text)


@pytest.mark.parametrize("pause", [0.0, pytest.param(0.2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_after_fifty_edits_the_index_equals_a_fresh_one(
    tmp_path: Path, seed: int, pause: float
) -> None:
    write(tmp_path, FILES)
    chance = random.Random(seed)
    with watching(tmp_path) as watched:
        for number in range(50):
            edit(tmp_path / "docs", chance, number)
            time.sleep(pause)
        watched.wait_until_fresh()
        assert watched.process.poll() is None
        assert all(map(LINE.fullmatch, watched.printed()))
    assert "Traceback" not in watched.said()


@posix
@pytest.mark.slow
def test_a_kill_leaves_an_index_that_the_next_run_completes(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    chance = random.Random(3)
    for turn in range(4):
        with watching(tmp_path) as watched:
            for number in range(20 * turn, 20 * turn + 20):
                edit(tmp_path / "docs", chance, number)
            write(tmp_path, {f"docs/big-{n}.md": f"# Big {turn}\n\nA.\n\n" * 400 for n in range(9)})
            time.sleep(chance.random())
            watched.process.kill()
            watched.process.wait()
        assert run("index", "--verify", "--db", ".chunkast.db", cwd=tmp_path).returncode == 0
    with watching(tmp_path) as watched:
        watched.wait_until_fresh()


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_it(tmp_path: Path, name: str) -> None:
    write(tmp_path, FILES)
    number = getattr(signal, name)
    with watching(tmp_path) as watched:
        watched.process.send_signal(number)
        assert watched.process.wait(120) == 128 + number
    assert len(watched.printed()) == 1
    assert errors(watched.said().encode()) == []
    assert state(tmp_path / ".chunkast.db") == fresh(tmp_path)


def test_an_update_prints_a_line(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    with watching(tmp_path, "--format", "json") as watched:
        (tmp_path / "docs" / "0.md").write_text("# Other\n")
        wait_until(lambda: len(watched.printed()) == 2)
        first, second = map(json.loads, watched.printed())
    assert [len(report["added"]) for report in (first, second)] == [8, 1]
    assert len(second["removed"]) == 1
    # Nothing has changed since, so nothing is printed.
    with watching(tmp_path) as watched:
        (tmp_path / "docs" / "1.md").write_text("# Other\n")
        watched.wait_until_fresh()
        wait_until(lambda: len(watched.printed()) == 1)
        assert LINE.fullmatch(watched.printed()[0])


def test_a_file_that_cannot_be_read_is_read_again_later(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    with watching(tmp_path) as watched:
        (tmp_path / "docs" / "0.md").write_bytes(b"# Half \xe2\x82")
        wait_until(lambda: "is not valid UTF-8" in watched.said())
        # The other documents are updated, and the earlier text stays.
        (tmp_path / "docs" / "1.md").write_text("# Other\n")
        wait_until(lambda: "Other" in str(state(tmp_path / ".chunkast.db")))
        assert "Text 0." in str(state(tmp_path / ".chunkast.db"))
        (tmp_path / "docs" / "0.md").write_text("# Half €\n")
        watched.wait_until_fresh()


def test_a_server_that_refreshes_does_not_get_in_its_way(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    write(tmp_path, FILES)
    database = tmp_path / ".chunkast.db"
    with watching(tmp_path) as watched:
        for number in range(5):
            (tmp_path / "docs" / "0.md").write_text(f"# Zebra{number}\n\nZebras run.\n")
            calls: list[agents.Call] = [("search", {"query": f"zebra{number}"})] * 2
            for answer in agents.ask(calls, "--db", database, "--refresh", cwd=tmp_path)[1:]:
                assert not answer.is_error
        watched.wait_until_fresh()
        assert watched.process.poll() is None
        assert errors(watched.said().encode()) == []


def test_single_files_are_watched_through_their_folder(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "a.md": "# A\n", "b.md": "# B\n"})
    with watching(tmp_path, "a.md") as watched:
        (tmp_path / "new.md").write_text("# New\n")
        (tmp_path / "new.md").replace(tmp_path / "a.md")
        wait_until(lambda: "# New" in str(state(tmp_path / ".chunkast.db")))
        assert "b.md" not in state(tmp_path / ".chunkast.db")
        assert len(watched.printed()) >= 1


def test_what_cannot_be_watched_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    assert "--watch stores" in refused("index", "docs", "--watch", "--dry-run", cwd=tmp_path)
    assert run("index", "no", "--watch", cwd=tmp_path).returncode == 1
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    done = run("index", "docs", "--watch", cwd=tmp_path)
    assert done.returncode == 1
    assert errors(done.stderr) == [
        "chunkast: error: needs watchfiles: pip install 'chunkast[watch]'"
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]
