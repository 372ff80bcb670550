"""Documents that have changed since an index was made: the note, the marks and what is no change."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from chunkast import Chunker
from chunkast.index import Store
from tests import agents
from tests.command import run, write

LIONS = "# Lions\n\nLions sleep.\n"
FILES = {
    "docs/a.md": LIONS,
    "docs/in/b.md": "# Bears\n\nBears eat.\n",
    "docs/c.py": "x = 1\n",
    "docs/.gitignore": "ignored*\n",
}


def aged(folder: Path) -> None:
    """Give all files and folders a time at which nothing is in doubt."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            os.utime(path, ns=(10**18, 10**18))


def indexed(folder: Path, *arguments: str) -> None:
    write(folder, FILES)
    aged(folder)
    assert run("index", *(arguments or ["docs"]), "-q", cwd=folder).returncode == 0


def said(folder: Path) -> str:
    """The note of a search."""
    done = run("search", "lions", cwd=folder)
    line, *_ = (*done.stderr.decode().splitlines(), "")
    return line.removeprefix("chunkast: note: ").removesuffix(": chunkast index")


def stale(folder: Path) -> dict[str, str]:
    with Store(str(folder / ".chunkast.db"), read_only=True) as store:
        return store.stale()


def rewrite(path: Path, text: str, time_ns: int | None = None) -> None:
    """Change a file, and let it keep its size, and its time unless one is given."""
    before = path.stat()
    path.write_text(text.ljust(before.st_size)[: before.st_size])
    os.utime(path, ns=(before.st_atime_ns, time_ns or before.st_mtime_ns))


CHANGES: dict[str, tuple[Callable[[Path], object], dict[str, str]]] = {
    "an edit": (lambda docs: (docs / "a.md").write_text("# Zebras\n"), {"docs/a.md": "changed"}),
    "a time alone": (lambda docs: rewrite(docs / "a.md", LIONS, 9**18), {}),
    "an edit with the clock set back": (
        lambda docs: rewrite(docs / "a.md", "# Zebras\n", 10**17),
        {"docs/a.md": "changed"},
    ),
    "a deletion": (lambda docs: (docs / "a.md").unlink(), {"docs/a.md": "gone"}),
    "a deleted folder": (lambda docs: shutil.rmtree(docs / "in"), {"docs/in/b.md": "gone"}),
    "a new name": (
        lambda docs: (docs / "a.md").rename(docs / "z.md"),
        {"docs/a.md": "gone", "docs/z.md": "new"},
    ),
    "a new folder": (
        lambda docs: write(docs, {"new/deep/n.md": LIONS}),
        {"docs/new/deep/n.md": "new"},
    ),
    "a new file in an old folder": (
        lambda docs: write(docs, {"in/n.md": LIONS}),
        {"docs/in/n.md": "new"},
    ),
    "new files that are not selected": (
        lambda docs: write(docs, {"n.py": "", ".h.md": "", "ignored.md": "", "venv/v.md": ""}),
        {},
    ),
    "an ignored document": (
        lambda docs: (docs / ".gitignore").write_text("a.md\n"),
        {"docs/a.md": "gone"},
    ),
    "a document that is ignored above it": (
        lambda docs: (docs.parent / ".gitignore").write_text("in/\n"),
        {"docs/in/b.md": "gone"},
    ),
    "a document that is no longer text": (
        lambda docs: (docs / "a.md").write_bytes(b"\xff\xff"),
        {"docs/a.md": "changed"},
    ),
    "all is gone": (
        shutil.rmtree,
        {"docs/a.md": "gone", "docs/in/b.md": "gone"},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_is_found(tmp_path: Path, name: str) -> None:
    change, expected = CHANGES[name]
    indexed(tmp_path)
    assert stale(tmp_path) == {}
    change(tmp_path / "docs")
    assert stale(tmp_path) == expected
    # A run brings the index up to date, except for what it cannot read.
    unread = name in ("a document that is no longer text", "all is gone")
    run("index", cwd=tmp_path)
    assert stale(tmp_path) == (expected if unread else {})


def test_a_time_proves_nothing_shortly_before_a_run(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert run("index", "docs", "-q", cwd=tmp_path).returncode == 0
    assert said(tmp_path) == ""
    rewrite(tmp_path / "docs" / "a.md", "# Zebras\n")
    assert said(tmp_path) == "1 document has changed since it was indexed (docs/a.md)"


def test_the_selection_of_the_index_is_used(tmp_path: Path) -> None:
    indexed(tmp_path, "docs/in", "--include", "*.py", "--include", "b.md")
    write(tmp_path, {"docs/in/n.py": "y = 1\n", "docs/in/n.md": LIONS, "docs/n.py": "z = 1\n"})
    assert stale(tmp_path) == {"docs/in/n.py": "new"}


def test_sources_that_were_no_files_are_never_stale(tmp_path: Path) -> None:
    indexed(tmp_path)
    with Store(str(tmp_path / ".chunkast.db")) as store:
        documents = [("docs/a.md", "# Other\n"), ("docs/nowhere.md", LIONS)]
        store.update(documents, Chunker(), remove_missing=False)
        assert store.stale() == {}
    write(tmp_path, {"docs/n.md": LIONS})
    assert stale(tmp_path) == {"docs/n.md": "new"}


def test_an_index_is_compared_from_any_folder_and_without_its_root(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    indexed(here)
    (here / "docs" / "a.md").write_text("# Zebras\n")
    shutil.copyfile(here / ".chunkast.db", there / "copy.db")
    found = run("search", "lions", "--db", "copy.db", cwd=there).stderr.decode()
    note = "1 document has changed since it was indexed (docs/a.md): chunkast index --db copy.db"
    assert found == f"chunkast: note: {note}\n"
    shutil.rmtree(here)
    done = run("search", "lions", "--db", "copy.db", cwd=there)
    assert (done.returncode, done.stderr) == (0, b"")


def test_links_are_followed(tmp_path: Path) -> None:
    write(tmp_path, {"real/r.md": LIONS, **FILES})
    (tmp_path / "docs" / "link").symlink_to(tmp_path / "real")
    (tmp_path / "docs" / "l.md").symlink_to(tmp_path / "docs" / "a.md")
    aged(tmp_path)
    assert run("index", "docs", "--follow-links", "-q", cwd=tmp_path).returncode == 0
    assert stale(tmp_path) == {}
    write(tmp_path, {"real/r.md": "# Zebras\n", "docs/a.md": "# Zebras\n", "real/n.md": LIONS})
    assert stale(tmp_path) == {"docs/a.md": "changed", "real/n.md": "new", "real/r.md": "changed"}


@pytest.mark.parametrize("run_setting", ["", "[]", '{"root": 3}', '{"root": "/\\u0000"}', "{"])
def test_a_made_up_setting_is_no_error(tmp_path: Path, run_setting: str) -> None:
    indexed(tmp_path)
    with Store(str(tmp_path / ".chunkast.db")) as store:
        store._connection.execute("UPDATE settings SET value = ? WHERE name = 'run'", [run_setting])
    (tmp_path / "docs" / "a.md").write_text("# Zebras\n")
    assert stale(tmp_path) == {}


def test_the_commands_mark_what_has_changed(tmp_path: Path) -> None:
    indexed(tmp_path)
    write(tmp_path, {"docs/a.md": "# Zebras\n\nRun.\n", "docs/n.md": "# New\n"})
    note = b"chunkast: note: 2 documents have changed since they were indexed (docs/a.md, 1 more): "
    database = ("--db", ".chunkast.db")
    for words in (
        ("search", "lions", "bears"),
        ("read", "docs/a.md", *database),
        ("quote", "Lions sleep"),
    ):
        done = run(*words, "--format", "json", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, note + b"chunkast index\n")
        found = json.loads(done.stdout)
        listed = found if isinstance(found, list) else found.get("hits", [found])
        assert [at["stale"] for at in listed] == [at["source"] == "docs/a.md" for at in listed]
        done = run(*words, "--no-check", "--format", "json", cwd=tmp_path)
        assert (done.stderr, b'"stale": true' in done.stdout) == (b"", False)
    assert b"docs/a.md:1-3  (file has changed)  " in run("search", "lions", cwd=tmp_path).stdout
    assert b"docs/a.md:3-3  (file has changed)  " in run("quote", "Lions", cwd=tmp_path).stdout
    assert run("outline", cwd=tmp_path).stderr.startswith(note)
    assert b"indexed (docs/n.md is new)" in _after_an_update(tmp_path)


def _after_an_update(folder: Path) -> bytes:
    """The note after a run, and then a new file."""
    run("index", "-q", cwd=folder)
    (folder / "docs" / "n.md").rename(folder / "n.md")
    run("index", "-q", cwd=folder)
    (folder / "n.md").rename(folder / "docs" / "n.md")
    return run("search", "zebras", cwd=folder).stderr


def test_refresh_updates_before_the_answer(tmp_path: Path) -> None:
    indexed(tmp_path, "docs", "--max-tokens", "99")
    write(tmp_path, {"docs/a.md": "# Zebras\n\nRun.\n", "docs/n.md": "# New\n\nZebras.\n"})
    (tmp_path / "docs" / "in" / "b.md").unlink()
    done = run("search", "zebras", "--refresh", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"docs/a.md:1-3  " in done.stdout
    assert b"docs/n.md:1-3  " in done.stdout
    with Store(str(tmp_path / ".chunkast.db"), read_only=True) as store:
        assert sorted(store.outline()) == ["docs/a.md", "docs/n.md"]
        assert store.chunker().config.max_tokens == 99
    (tmp_path / "docs" / "a.md").write_text("# Lynx\n\nWalk.\n")
    assert run("read", "docs/a.md", "--db", ".chunkast.db", "--refresh", cwd=tmp_path).stdout == (
        b"# Lynx\n\nWalk.\n"
    )
    # A file that cannot be read.
    (tmp_path / "docs" / "a.md").write_bytes(b"\xff")
    done = run("search", "lynx", "--refresh", cwd=tmp_path)
    assert done.returncode == 0
    assert b"not UTF-8" in done.stderr or b"invalid" in done.stderr
    assert b"1 document has changed" in done.stderr


def test_refresh_does_not_wait_for_another_run(tmp_path: Path) -> None:
    indexed(tmp_path)
    (tmp_path / "docs" / "a.md").write_text("# Zebras\n")
    with Store(str(tmp_path / ".chunkast.db")) as store, store.writing(Chunker()):
        done = run("search", "lions", "--refresh", cwd=tmp_path)
    assert (done.returncode, b"docs/a.md:1-3  (file has changed)" in done.stdout) == (0, True)
    first, second = done.stderr.decode().splitlines()
    assert first == "chunkast: note: not updated: .chunkast.db: another run is writing to it"
    assert second.startswith("chunkast: note: 1 document has changed ")


def test_a_server_refreshes_before_an_answer(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    indexed(tmp_path)
    (tmp_path / "docs" / "a.md").write_text("# Zebras\n\nRun.\n")
    calls: list[agents.Call] = [("search", {"query": "zebras"}), ("outline", {})]
    database = tmp_path / ".chunkast.db"
    found, _ = agents.ask(calls, "--db", database, "--refresh", cwd=tmp_path)[1:]
    assert found.content[0].text.startswith("docs/a.md:1-3  Zebras  id=")


def test_agents_are_told(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    indexed(tmp_path)
    database = tmp_path / ".chunkast.db"
    (tmp_path / "docs" / "a.md").write_text("# Zebras\n")
    calls: list[agents.Call] = [
        ("search", {"query": "lions bears"}),
        ("search", {"query": "zebras", "max_tokens": 100}),
        ("outline", {}),
        ("read", {"source": "docs/a.md"}),
        ("quote", {"text": "Lions sleep"}),
    ]
    told = agents.ask(calls, "--db", database, cwd=tmp_path)[1:]
    for answer in told:
        first, rest = answer.content[0].text.split("\n", 1)
        assert first.startswith("note: 1 document has changed since it was indexed (docs/a.md): ")
        assert rest
        assert str(tmp_path) not in first
    search = told[0].content[0].text
    assert "docs/a.md:1-3  Lions  (file has changed)  id=" in search
    assert "docs/in/b.md:1-3  Bears  id=" in search
    assert told[4].content[0].text.endswith("  Lions  (file has changed)")
    for answer in agents.ask(calls, "--db", database, "--no-check", cwd=tmp_path)[1:]:
        assert "changed" not in answer.content[0].text
