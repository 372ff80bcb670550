"""The schema of the database, and functions to open, create, upgrade and lock it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from chunkast.errors import StoreError
from chunkast.index.connection import Connection, store_errors

__all__ = ("SCHEMA", "VERSION", "WORDS_TABLE", "connect", "discard", "lock", "upgrade")

# SQLite's application id for chunkast files: "chnk".
_APPLICATION_ID: Final = 0x63686E6B
# Seconds between two attempts to take a lock that another process holds.
_RETRY_DELAY_S: Final = 0.05

# The suffixes of a database's files: the database itself, and those that SQLite adds.
_SUFFIXES: Final = ("", "-wal", "-shm", "-journal")


# The full-text index does not store a copy of the text: ``terms`` computes the words of a removed
# chunk from its row.
WORDS_TABLE: Final = """CREATE VIRTUAL TABLE search USING fts5 (
            headings, text, content = '',
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'"
        )"""
INSERT_WORDS: Final = "INSERT INTO search (rowid, headings, text) VALUES (?, ?, ?)"
# The version of the schema that this package writes, and the columns that this version added. The
# previous version can also be read; the next write adds the columns.
VERSION: Final = 5
_ADDED: Final = {"chunks": "sections", "documents": "text"}
# The number of a document's chunks and the checksums of rows are checked by ``checks``.
SCHEMA: Final = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE documents (
        number INTEGER PRIMARY KEY,
        source TEXT NOT NULL UNIQUE,
        text_hash TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        chunks INTEGER NOT NULL DEFAULT 0,
        checksum INTEGER NOT NULL DEFAULT 0,
        text TEXT
    )""",
    # Only the parts of ``embed_text`` before and after ``text`` are stored if it contains
    # ``text``; the column ``embed_text`` is NULL then.
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
        metadata TEXT NOT NULL,
        checksum INTEGER NOT NULL DEFAULT 0,
        embed_text TEXT,
        pages TEXT,
        sections TEXT
    )""",
    "CREATE INDEX chunks_by_place ON chunks (document, position)",
    "CREATE INDEX chunks_by_id ON chunks (id, content_hash)",
    WORDS_TABLE,
)


def connect(path: str, *, create: bool = False, read_only: bool = False) -> Connection:
    """Open the index at ``path``, and return the connection.

    With ``create``, a missing file is created. The path ":memory:" always starts with an empty
    index, so it requires ``create``. Raises ``StoreError`` if the file is missing, is damaged, is
    not an index, has an unsupported version, or cannot be read or written.
    """
    if path != ":memory:" and not create and not Path(path).exists():
        raise StoreError(path, "no such file; 'chunkast index DIR --db FILE' makes one")
    if Path(path).is_dir():
        raise StoreError(path, "a folder; give the name of a file")
    with store_errors(path):
        connection = _open(path, read_only=read_only)
    try:
        with store_errors(path, connection):
            _check(connection, path, empty_allowed=create)
            version = _version(connection)
            if not version:
                _create(connection)
            older = version == VERSION - 1
            _check_tables(connection, path, {*_ADDED.items()} if older else set())
            if older:
                _hide_old_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def discard(path: str) -> None:
    """Remove the files of an index that no run has completed, unless another run is in progress."""
    if not Path(path).exists():
        return
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
            settings = "SELECT count(*) FROM settings"
            if ("settings",) in tables and connection.execute(settings).fetchone() != (0,):
                return
            connection.execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        # On a full disk even reading may fail.
        if not any(part in str(error) for part in ("full", "disk I/O", "unable to open")):
            return
    for suffix in _SUFFIXES:
        with suppress(OSError):
            Path(f"{path}{suffix}").unlink()


def _open(path: str, *, read_only: bool) -> Connection:
    if path == ":memory:" or not read_only:
        return _set_up(path, patience_ms=500)
    uri = Path(path).absolute().as_uri()
    try:
        return _set_up(f"{uri}?mode=ro", patience_ms=10_000)
    except sqlite3.OperationalError:
        # The folder may not be writable. Without a write-ahead log beside it, the file is stable.
        if Path(f"{path}-wal").exists():
            raise
    return _set_up(f"{uri}?immutable=1", patience_ms=10_000)


def _set_up(name: str, *, patience_ms: int) -> Connection:
    """Connect to a database, read from it once to detect errors, and return the connection."""
    connection = sqlite3.connect(
        name, uri=name.startswith("file:"), isolation_level=None, factory=Connection
    )
    try:
        connection.execute(f"PRAGMA busy_timeout = {patience_ms}")
        connection.execute("PRAGMA foreign_keys = ON")
        # Functions in the schema of a foreign file are not run, and its pages are checked.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        _version(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check(connection: sqlite3.Connection, path: str, *, empty_allowed: bool) -> None:
    """Raise ``StoreError`` unless the file is an index that this version of chunkast can read.

    An empty file is accepted if ``empty_allowed`` is true.
    """
    # Read one state of the file: another process may be creating it.
    connection.execute("BEGIN")
    try:
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = _version(connection)
    finally:
        connection.execute("COMMIT")
    if application == version == tables == 0:
        if not empty_allowed:
            raise StoreError(path, "an empty file; 'chunkast index DIR --db FILE' fills it")
    elif application != _APPLICATION_ID:
        raise StoreError(path, "not an index of chunkast; give another file")
    elif version not in (VERSION, VERSION - 1):
        raise StoreError(
            path,
            f"its schema has version {version}, this chunkast reads version {VERSION}; "
            "use the chunkast that wrote it, or index into another file",
        )


def _hide_old_tables(connection: sqlite3.Connection) -> None:
    """Hide the tables of the previous version behind temporary views that have all columns.

    This also works in a read-only file.
    """
    for table, column in _ADDED.items():
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT *, NULL AS {column} FROM main.{table}"  # noqa: S608
        )


def upgrade(connection: sqlite3.Connection) -> bool:
    """Add the columns that a database of the previous version lacks, within the open transaction.

    Returns True if columns were added; in that case, the full-text index must be rebuilt.
    """
    for table in _ADDED:
        connection.execute(f"DROP VIEW IF EXISTS temp.{table}")
    if _version(connection) == VERSION:
        return False
    for table, column in _ADDED.items():
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} TEXT")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    return True


class _Table(NamedTuple):
    """A table or an index in the schema of a database.

    kind: "table" or "index".
    of: the name of the table; for an index, of the table to which it belongs.
    made: the CREATE statement of a virtual table, without white space; else empty.
    """

    kind: str
    of: str
    made: str


def _check_tables(
    connection: sqlite3.Connection, path: str, lacking: AbstractSet[tuple[str, str]]
) -> None:
    """Raise ``StoreError`` if a table or an index is missing or differs from the schema.

    Additional tables and columns are allowed. ``lacking`` contains the table and name of each
    column that may be missing.
    """
    tables, columns = _expected()
    there = _tables(connection)
    # This comes before any use of the full-text index, which reads its own tables.
    for name, wanted in tables.items():
        if name not in there:
            raise _damaged(path, f"its {wanted.kind} {name} is missing")
        if there[name] != wanted:
            raise _damaged(path, f"its {wanted.kind} {name} differs from the schema")
    for name, wanted_columns in columns.items():
        needed = {column for column in wanted_columns if (name, column[0]) not in lacking}
        if not _columns(connection, name) >= needed:
            raise _damaged(path, f"its table {name} lacks columns")


def _damaged(path: str, reason: str) -> StoreError:
    return StoreError(
        path,
        f"damaged: {reason}; remove the file, and 'chunkast index DIR --db FILE' creates it again",
    )


_Column = tuple[str, int]


@lru_cache(maxsize=1)
def _expected() -> tuple[Mapping[str, _Table], Mapping[str, frozenset[_Column]]]:
    """Return the schema's tables and indexes, and the columns of each table that stores rows."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in SCHEMA:
            connection.execute(statement)
        tables = _tables(connection)
        plain = [name for name, found in tables.items() if found.kind == "table" and not found.made]
        return tables, {name: _columns(connection, name) for name in plain}


def _tables(connection: sqlite3.Connection) -> dict[str, _Table]:
    rows = connection.execute("SELECT name, type, tbl_name, sql FROM sqlite_schema").fetchall()
    return {
        name: _Table(
            kind, of, "".join(made.split()) if str(made).startswith("CREATE VIRTUAL") else ""
        )
        for name, kind, of, made in rows
    }


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[_Column]:
    """Return the name of each column in a table, with its position in the primary key or 0."""
    rows = connection.execute("SELECT name, pk FROM pragma_table_xinfo(?)", (table,))
    return frozenset(rows.fetchall())


def _create(connection: sqlite3.Connection) -> None:
    """Create the schema in an empty file, in a single transaction."""
    # SQLite does not wait for other processes when it changes the journal mode.
    _until_free(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone())
    lock(connection)
    try:
        # Another process may have created the schema in the meantime.
        if _version(connection) != VERSION:
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        # Some errors, such as a full disk, have already rolled the transaction back.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def lock(connection: sqlite3.Connection, on_wait: Callable[[], None] = lambda: None) -> None:
    """Begin a write transaction; if another process is writing, wait until it has finished.

    ``on_wait`` is called once if a wait is necessary. There is no time limit, because a lock ends
    with the process that holds it, but the wait can be interrupted.
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
            time.sleep(_RETRY_DELAY_S)
        else:
            return
