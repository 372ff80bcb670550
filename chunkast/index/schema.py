"""The database: opening it, its schema, and the steps from one version to the next."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from chunkast.errors import StoreError

__all__ = ("STEPS", "connect", "lock", "migrate")

# Says whose file it is: "chnk".
_APPLICATION: Final = 0x63686E6B
# How long to sleep between two attempts for a lock that another process holds.
_PATIENCE_S: Final = 0.05

# Step n leads from version n to version n + 1, by one statement after the other. A step
# that was released is never changed: what comes later is a step of its own.
STEPS: Final[Sequence[Sequence[str]]] = (
    (
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE documents (
            number INTEGER PRIMARY KEY,
            source TEXT NOT NULL UNIQUE,
            text_hash TEXT NOT NULL,
            fingerprint TEXT NOT NULL
        )""",
        # What ``embed_text`` has before and behind ``text`` is kept, not the text again.
        """CREATE TABLE chunks (
            number INTEGER PRIMARY KEY,
            document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
            id TEXT NOT NULL,
            position INTEGER NOT NULL,
            text TEXT NOT NULL,
            start_index INTEGER NOT NULL,
            end_index INTEGER NOT NULL,
            start_byte INTEGER NOT NULL,
            end_byte INTEGER NOT NULL,
            start_line INTEGER NOT NULL,
            end_line INTEGER NOT NULL,
            token_count INTEGER NOT NULL,
            own_token_count INTEGER NOT NULL,
            overlap INTEGER NOT NULL,
            headings TEXT NOT NULL,
            kinds TEXT NOT NULL,
            content_hash TEXT NOT NULL,
            embed_before TEXT NOT NULL,
            embed_after TEXT NOT NULL,
            embed_token_count INTEGER NOT NULL,
            embed_hash TEXT NOT NULL,
            oversize INTEGER NOT NULL,
            metadata TEXT NOT NULL
        )""",
        "CREATE INDEX chunks_by_place ON chunks (document, position)",
        "CREATE INDEX chunks_by_id ON chunks (id, content_hash)",
        # The index alone: the words that went in are made again from the chunk's row, by
        # ``terms``, when they have to be taken out.
        """CREATE VIRTUAL TABLE search USING fts5 (
            headings, text, content = '',
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'"
        )""",
    ),
)


def connect(path: str, *, create: bool = False, read_only: bool = False) -> sqlite3.Connection:
    """Open the index at ``path`` and bring its schema up to date.

    With ``create`` a missing file is made; ":memory:" is always new. Raises
    ``StoreError`` when there is none, when the file is something else, when it was
    written by a newer chunkast, and when it cannot be read or written.
    """
    if path != ":memory:" and not create and not Path(path).exists():
        raise StoreError(path, "no such file; 'chunkast index DIR --db FILE' makes one")
    if Path(path).is_dir():
        raise StoreError(path, "a folder; give the name of a file")
    try:
        connection = _open(path, read_only=read_only)
    except sqlite3.Error as error:
        raise StoreError(path, str(error)) from None
    try:
        _check(connection, path, empty_allowed=create)
        if not read_only:
            _prepare(connection)
        elif _version(connection) != len(STEPS):
            # An old version: only a writer may change it, and this is one for a moment.
            with closing(connect(path)):
                pass
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(path, str(error)) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _open(path: str, *, read_only: bool) -> sqlite3.Connection:
    if path == ":memory:" or not read_only:
        return _set_up(sqlite3.connect(path, isolation_level=None), patience_ms=500)
    uri = Path(path).absolute().as_uri()
    try:
        reading = sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None)
        return _set_up(reading, patience_ms=10_000)
    except sqlite3.OperationalError:
        # A folder that cannot be written to: without anybody's log beside it, the file
        # is as it stays.
        if Path(f"{path}-wal").exists():
            raise
    fixed = sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None)
    return _set_up(fixed, patience_ms=10_000)


def _set_up(connection: sqlite3.Connection, *, patience_ms: int) -> sqlite3.Connection:
    """The connection, once something could be read; closed where that fails."""
    try:
        connection.execute(f"PRAGMA busy_timeout = {patience_ms}")
        connection.execute("PRAGMA foreign_keys = ON")
        _version(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check(connection: sqlite3.Connection, path: str, *, empty_allowed: bool) -> None:
    """Raise ``StoreError`` unless this is an index that this version can read."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = _version(connection)
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application == version == tables == 0:
        if not empty_allowed:
            raise StoreError(path, "an empty file; 'chunkast index DIR --db FILE' fills it")
    elif application != _APPLICATION:
        raise StoreError(path, "a database of something else; give another file")
    elif version > len(STEPS):
        raise StoreError(
            path,
            f"its schema has version {version}, this chunkast knows those up to {len(STEPS)}; "
            "use the newer chunkast that wrote it, or index into another file",
        )


def _prepare(connection: sqlite3.Connection) -> None:
    if _version(connection) != len(STEPS):
        # A change of the journal's kind does not wait for others by itself.
        _until_free(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone())
        migrate(connection, STEPS)


def migrate(connection: sqlite3.Connection, steps: Sequence[Sequence[str]]) -> None:
    """Take the steps that the database has not taken yet, all or none of them."""
    lock(connection)
    try:
        # Another process may have taken them meanwhile.
        for step in steps[_version(connection) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def lock(connection: sqlite3.Connection, on_wait: Callable[[], None] = lambda: None) -> None:
    """Begin a transaction that writes, once no other process is in one.

    ``on_wait`` is called once if there is one. Another process's lock ends with it, so
    this waits without a limit; it can be interrupted.
    """
    _until_free(lambda: connection.execute("BEGIN IMMEDIATE"), on_wait)


def _until_free(action: Callable[[], object], on_wait: Callable[[], None] = lambda: None) -> None:
    waiting = False
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) and "busy" not in str(error):
                raise
            if not waiting:
                waiting = True
                on_wait()
            time.sleep(_PATIENCE_S)
        else:
            return
