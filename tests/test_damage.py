"""Damaged, half-made and hostile databases: an error that says so, or an index made whole."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chunkast import Chunker, StoreError
from chunkast.index import Store, text_hash
from chunkast.index.connection import store_errors
from chunkast.index.schema import connect
from tests.command import environment, errors, posix, run, write
from tests.tables import cases
from tests.test_index import CORPUS, ISLANDS, state, write_islands

CHUNKER = Chunker(max_tokens=120)
# Every row of it has to be made before the first is known not to be wanted.
ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT other.* FROM n, other WHERE i < 0"
)


# Enough for an index of several pages.
TEXTS = {name: text[:4_000] for name, text in sorted(CORPUS.items())[:6]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "whole.db"
    with Store(str(path), create=True) as store:
        store.update(TEXTS.items(), CHUNKER)
    return path


@pytest.fixture(scope="module")
def before(made: Path) -> Any:
    """The state of an index that is not damaged."""
    with Store(str(made), read_only=True) as store:
        return state(store)


@pytest.fixture
def whole(made: Path, tmp_path: Path) -> Path:
    """A copy of an index, to be damaged."""
    return Path(shutil.copy(made, tmp_path))


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def refused(path: Path) -> Iterator[str]:
    """What reading says: a search that finds every chunk, a quote, all chunks."""
    for read in (
        lambda store: store.search("the a of to and in is", 10**9),
        lambda store: store.quote("the"),
        lambda store: list(store.chunks()),
    ):
        with pytest.raises(StoreError) as caught, Store(str(path), read_only=True) as store:
            read(store)
        yield str(caught.value)


def assert_refused_and_rebuilt(path: Path, before: Any) -> None:
    """Readers refuse the file and name the command; a dry run changes nothing; a run rebuilds."""
    for message in refused(path):
        assert "damaged: " in message
        assert f"'chunkast index --db {path}' rebuilds it" in message
        assert "\n" not in message
    with Store(str(path)) as store:
        report = store.update(TEXTS.items(), CHUNKER)
        assert report.faults
        assert state(store) == before
        assert store.faults() == []
        assert store.update(TEXTS.items(), CHUNKER).written == 0


@cases("damage", "index")
def test_a_damaged_index_is_refused_and_rebuilt(
    whole: Path, before: Any, statements: list[str], fault: str, embed: int
) -> None:
    damaged = before[0][3]
    change(whole, "PRAGMA legacy_alter_table = ON", *statements)
    with Store(str(whole)) as store:
        assert store.faults()
        if fault:
            assert store.faults() == [fault]
            report = store.update(TEXTS.items(), CHUNKER, dry_run=True)
            assert report.embed == [damaged.id] * embed
            assert (report.added, report.changed, report.removed) == ([], [], [])
    assert_refused_and_rebuilt(whole, before)


@pytest.mark.parametrize(
    ("text", "reason"), [("'x'", "the text of .* is damaged"), ("x'ff00'", "damaged")]
)
def test_another_text_and_bytes_are_damage(whole: Path, text: str, reason: str) -> None:
    change(whole, f"UPDATE documents SET text = {text} WHERE number = 1")  # noqa: S608
    with Store(str(whole), read_only=True) as store:
        source = next(iter(TEXTS))
        with pytest.raises(StoreError, match=reason):
            store.outline(source)
        with pytest.raises(StoreError, match="row 1 of its chunks is damaged"):
            list(store.chunks(source))
        assert store.faults() == [f"the text of {source} is damaged"]


def test_another_text_with_its_hash_is_damage(whole: Path, before: Any) -> None:
    """Nothing in the row of the document contradicts it, but the rows of its chunks do."""
    [source, text, *_] = next(iter(TEXTS.items()))
    other = text.replace("e", "a")
    values = (
        f"text = '{other.replace(chr(39), chr(39) * 2)}', text_hash = '{text_hash(other.encode())}'"
    )
    change(whole, f"UPDATE documents SET {values} WHERE source = '{source}'")  # noqa: S608
    assert_refused_and_rebuilt(whole, before)


def test_paths_that_cannot_be_paths_are_not_remembered(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Ferry\n\nIt leaves at nine.\n")
    assert run("index", "a.md", "--db", "a.db", cwd=tmp_path).returncode == 0
    paths = json.dumps({"paths": ["\0"]})
    change(tmp_path / "a.db", f"UPDATE settings SET value = '{paths}' WHERE name = 'run'")  # noqa: S608
    done = run("index", "--db", "a.db", cwd=tmp_path)
    assert (done.returncode, len(errors(done.stderr))) == (2, 1)
    assert "PATHS missing" in errors(done.stderr)[0]


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    docs, other = tmp_path / "docs", tmp_path / "other"
    docs.mkdir()
    other.mkdir()
    (docs / "a.md").write_text("# Ferry\n\nIt leaves at nine.\n")
    assert run("index", "docs", "--root", "docs", "--db", "a.db", cwd=tmp_path).returncode == 0
    docs.rename(tmp_path / "moved")
    done = run("index", "--db", "../a.db", cwd=other)
    assert done.returncode == 1
    assert "docs: no such file or folder" in errors(done.stderr)[0].lower()


@pytest.mark.parametrize("table", ["documents", "chunks", "search_data"])
def test_an_endless_view_is_not_read(whole: Path, table: str) -> None:
    view = f"CREATE VIEW {table} AS {ENDLESS}"
    change(whole, "PRAGMA legacy_alter_table = ON", f"ALTER TABLE {table} RENAME TO other", view)
    for message in refused(whole):
        assert "a view is in the place of a table; delete it" in message
    with Store(str(whole)) as store, pytest.raises(StoreError, match="delete it"):
        store.update(TEXTS.items(), CHUNKER)


@pytest.mark.parametrize("damage", ["half", "pages", "page"])
def test_a_damaged_file_is_refused_until_it_is_deleted(
    whole: Path, before: Any, damage: str
) -> None:
    data = whole.read_bytes()
    cut = {
        "half": data[: len(data) // 2],
        "pages": data[:4096] + b"\xa5" * (len(data) - 4096),
        "page": data[:8192] + b"\xa5" * 4096 + data[12288:],
    }
    whole.write_bytes(cut[damage])
    message = rf"damaged: .*; delete it, and 'chunkast index PATHS --db {whole}' makes it again"
    with pytest.raises(StoreError, match=message), Store(str(whole)) as store:
        store.update(TEXTS.items(), CHUNKER)
    assert whole.read_bytes() == cut[damage]
    for refusal in refused(whole):
        assert "damaged: " in refusal
    whole.unlink()
    with Store(str(whole), create=True) as store:
        store.update(TEXTS.items(), CHUNKER)
        assert state(store) == before


def test_a_file_that_is_not_an_index_is_never_touched(tmp_path: Path, whole: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    for data in (b"text " * 2_000, b"\0" * 100 + whole.read_bytes()[100:]):
        whole.write_bytes(data)
        done = run("index", "a.md", "--db", whole, cwd=tmp_path)
        assert done.returncode == 1
        assert "not an index of chunkast" in errors(done.stderr)[0]
        assert whole.read_bytes() == data


def test_tables_columns_and_views_of_others_may_stand_beside(whole: Path) -> None:
    change(
        whole,
        "CREATE TABLE vectors (chunk TEXT, vector BLOB)",
        "CREATE VIEW search_texts AS SELECT id, fields FROM chunks",
        *(f"ALTER TABLE {name} ADD COLUMN more TEXT" for name in ("chunks", "documents")),
        *(f"UPDATE {name} SET more = 'x'" for name in ("chunks", "documents")),  # noqa: S608
    )
    with Store(str(whole)) as store:
        assert store.faults() == []
        assert store.update(TEXTS.items(), CHUNKER).written == 0
        assert store.search("the")
        edited = {name: f"{text}\n\nMore.\n" for name, text in [*TEXTS.items()][:1]}
        assert store.update(edited.items(), CHUNKER, remove_missing=False).written == 1
        assert store.faults() == []
    with closing(sqlite3.connect(whole)) as connection:
        left = "SELECT count(*) FROM chunks JOIN documents ON documents.number = document"
        (kept,) = connection.execute(f"{left} WHERE chunks.more = 'x'").fetchone()
        (others,) = connection.execute(f"{left} WHERE source NOT IN (?)", [*edited]).fetchone()
        assert kept == others > 0
        counted = "SELECT count(*) FROM documents WHERE more = 'x'"
        assert connection.execute(counted).fetchone() == (len(TEXTS),)


def test_nothing_is_removed_from_a_damaged_index(whole: Path, before: Any) -> None:
    change(whole, "UPDATE chunks SET own_token_count = own_token_count + 1 WHERE number = 4")
    with Store(str(whole)) as store:
        with pytest.raises(StoreError, match=r"row 4 of .* is damaged; .* rebuilds it"):
            store.remove([*TEXTS][:1])
        assert store.update(TEXTS.items(), CHUNKER).removed == []
        assert state(store) == before


def test_rows_of_other_fields_are_rebuilt(
    whole: Path, before: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkast.index.rows._FIELDS_CHECKSUM", 1)
    assert_refused_and_rebuilt(whole, before)


def test_a_damaged_full_text_index_is_rebuilt(whole: Path, before: Any) -> None:
    change(whole, "UPDATE search_data SET block = x'00ffff1234ffff' WHERE id > 10")
    # Before Python 3.11, an error has no name.
    advice = "rebuilds it" if sys.version_info >= (3, 11) else ""
    with Store(str(whole)) as store:
        with pytest.raises(StoreError, match=f"damaged: .*{advice}"):
            store.search("the a of to and in is", 10**9)
        assert len(store.update(TEXTS.items(), CHUNKER).faults) == 1
        assert state(store) == before
        assert store.faults() == []


def test_verify_prints_every_fault(tmp_path: Path, whole: Path) -> None:
    done = run("index", "--verify", "--db", whole, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode() == f"{whole}: 0 faults\n"
    change(whole, "UPDATE chunks SET fields = 'x' WHERE number IN (4, 5)")
    before = whole.read_bytes()
    done = run("index", "--verify", "--db", whole, "-q", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.decode().splitlines() == [
        f"{whole}: row {number} of its chunks is damaged" for number in (4, 5)
    ]
    assert whole.read_bytes() == before
    assert run("index", ".", "--verify", "--db", whole, cwd=tmp_path).returncode == 2


# Runs that do not come to an end


def test_an_index_that_no_run_completed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(connect(str(path), create=True)):
        pass
    for arguments in (("search", "soup"), ("quote", "soup")):
        done = run(*arguments, "--db", "a.db", cwd=tmp_path)
        assert done.returncode == 2
        assert "no run has completed it" in errors(done.stderr)[0]
    done = run("index", "--verify", "--db", "a.db", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"a.db: it was never completed\n")
    with Store(str(path)) as store:
        store.update(ISLANDS.items(), CHUNKER)
        assert store.search("soup")
        assert store.faults() == []


LIMITED = """
import resource, signal, sys
sys.dont_write_bytecode = True
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from chunkast.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def errors_on_a_full_disk(size: int, *arguments: object, cwd: Path) -> list[str]:
    """Run the command where no file may be larger than ``size`` bytes."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *map(str, (size, *arguments))],
        capture_output=True,
        env=environment(),
        check=False,
        cwd=cwd,
        timeout=600,
    )
    assert done.returncode == 1
    return errors(done.stderr)


@posix
def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Ferry\n\nIt leaves at nine.\n" * 200)
    told = errors_on_a_full_disk(5_000, "chunk", "a.md", "-o", "out.jsonl", cwd=tmp_path)
    assert told == ["chunkast: error: --output out.jsonl: File too large"]
    assert os.listdir(tmp_path) == ["a.md"]  # noqa: PTH208


@pytest.mark.slow
@posix
def test_a_full_disk_leaves_an_index_as_it_was(tmp_path: Path) -> None:
    docs, path = tmp_path / "docs", tmp_path / "a.db"
    docs.mkdir()
    (docs / "a.md").write_text("# Ferry\n\nIt leaves at nine.\n")
    assert run("index", docs, "--db", path, cwd=tmp_path).returncode == 0
    with Store(str(path), read_only=True) as store:
        before = state(store)
    write(docs, CORPUS)
    assert len(errors_on_a_full_disk(60_000, "index", docs, "--db", path, cwd=tmp_path)) == 1
    with Store(str(path), read_only=True) as store:
        assert state(store) == before
        assert store.faults() == []


def test_a_signal_ends_a_long_query() -> None:
    """Without a handler of SQLite's own this never ends."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    endless = (
        "WITH RECURSIVE n(i) AS (SELECT begun() UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
    )
    before = signal.signal(signal.SIGINT, stop)
    try:
        with closing(connect(":memory:", create=True)) as connection:
            # The query sends the signal itself; Python handles it while the query runs.
            connection.create_function("begun", 0, interrupt_main)
            for _ in range(3):
                with pytest.raises(KeyboardInterrupt), store_errors("a.db"):
                    connection.execute(endless)
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_command_mends_and_says_so(tmp_path: Path) -> None:
    write_islands(tmp_path / "docs")
    assert run("index", "docs", "--db", "a.db", cwd=tmp_path).returncode == 0
    shutil.copyfile(tmp_path / "a.db", tmp_path / "whole.db")
    change(tmp_path / "a.db", "UPDATE chunks SET fields = '{'")
    done = run("search", "soup", "--db", "a.db", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = errors(done.stderr)
    assert line.endswith("is damaged; 'chunkast index --db a.db' rebuilds it")
    done = run("index", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 0
    assert b"note: a.db: rebuilt, because row 1 of its chunks is damaged, ..." in done.stderr
    asked = [run("search", "soup", "--db", name, cwd=tmp_path) for name in ("a.db", "whole.db")]
    assert asked[0].stdout == asked[1].stdout != b""


@pytest.mark.slow
def test_commands_read_what_another_writes_meanwhile(tmp_path: Path) -> None:
    """Checks belong to one state, whatever a writer finishes in between."""
    path = tmp_path / "a.db"
    with Store(str(path), create=True) as store:
        store.update(ISLANDS.items(), CHUNKER)
    code = (
        "import sys; from chunkast import Chunker; from chunkast.index import Store\n"
        "chunker = Chunker(max_tokens=120)\n"
        "with Store(sys.argv[1]) as store:\n"
        "    for n in range(15):\n"
        "        store.update([(f'{i}.md', f'# Soup\\n\\nPart {n}.') for i in range(n)], chunker)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], env=environment()) as writer:
        while writer.poll() is None:
            with Store(str(path), read_only=True) as store:
                store.search("soup")
                store.quote("part")
                list(store.chunks())
                assert store.faults() == []
    assert writer.returncode == 0
