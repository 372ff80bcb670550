"""Define the schema of the database, and open, create, empty and lock it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chunkast.errors import StoreError
from chunkast.files.database import index_command
from chunkast.index.connection import store_errors
from chunkast.index.rows import COLUMNS, field_column

__all__ = (
    "INSERT_WORDS",
    "VERSION",
    "WORDS_TABLE",
    "connect",
    "difference",
    "empty",
    "lock",
    "outdated",
    "tables",
    "version_of",
)

# SQLite's application id for chunkast files: "chnk".
_APPLICATION_ID: Final = 0x63686E6B
# The number of SQLite's virtual machine instructions between two checks for signals: a few
# milliseconds.
_INSTRUCTIONS_PER_CHECK: Final = 100_000
# Seconds between two attempts to take a lock that another process holds.
_RETRY_DELAY_S: Final = 0.05

# The full-text index does not store a copy of the text: ``terms`` computes the words of a removed
# chunk from its row.
WORDS_TABLE: Final = """CREATE VIRTUAL TABLE search USING fts5 (
            headings, text, content = '',
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'"
        )"""
INSERT_WORDS: Final = "INSERT INTO search (rowid, headings, text) VALUES (?, ?, ?)"
# The fields in the view of chunks that have no column of their own.
_SHOWN: Final = ("start_line", "end_line", "headings")
# The version of the schema. Readers refuse any other version; the next write rebuilds an older one.
VERSION: Final = 11
_SCHEMA: Final = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # ``chunks`` is the number of the document's chunks. ``languages`` has the codes of the languages
    # of its words in the full-text index. ``text`` is NULL only within a rebuild.
    """CREATE TABLE documents (
        number INTEGER PRIMARY KEY,
        source TEXT NOT NULL UNIQUE,
        text_hash TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        chunks INTEGER NOT NULL,
        languages TEXT NOT NULL,
        text TEXT
    )""",
    f"""CREATE TABLE chunks (
        number INTEGER PRIMARY KEY,
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        {", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())}
    )""",
    "CREATE INDEX chunks_by_place ON chunks (document, position)",
    "CREATE INDEX chunks_by_id ON chunks (id)",
    "CREATE INDEX chunks_by_vector ON chunks (embed_hash)",
    WORDS_TABLE,
    # For other programs, which need not know where the text of a chunk is stored.
    f"""CREATE VIEW chunk_texts (
        number, source, position, id, start_index, end_index, {", ".join(_SHOWN)}, text
    ) AS SELECT
        chunks.number, source, position, id, start_index, end_index,
        {", ".join(map(field_column, _SHOWN))},
        coalesce(
            chunks.text, substr(documents.text, start_index + 1, end_index - start_index)
        )
        FROM chunks JOIN documents ON documents.number = chunks.document""",  # noqa: S608
    # What the last run found of its files and folders: see ``freshness``.
    "CREATE TABLE files (name TEXT PRIMARY KEY, stamp TEXT NOT NULL, hash TEXT NOT NULL)",
    """CREATE TABLE text_vectors (
        model TEXT NOT NULL,
        embed_hash TEXT NOT NULL,
        vector BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (model, embed_hash)
    )""",
)
_STATE: Final = """SELECT (SELECT count(*) FROM sqlite_schema), application_id, user_version
    FROM pragma_application_id, pragma_user_version"""
# The tables of the schema, and one of version 8; chunks before the documents that they refer to.
_TABLES: Final = (
    *("search", "chunks", "documents", "settings", "text_vectors", "vector_blocks", "files"),
)
# The tables in which FTS5 stores its index.
_WORDS_TABLES: Final = ("search_data", "search_idx", "search_docsize", "search_config")


def connect(path: str, *, create: bool = False, read_only: bool = False) -> sqlite3.Connection:
    """Open the index at ``path``, and return the connection.

    With ``create``, a missing file is created. The path ":memory:" always starts with an empty
    index, so it requires ``create``. Raises ``StoreError`` if the file is missing, is not an index,
    has an unsupported version, or cannot be read or written. An older version is an error only with
    ``read_only``.
    """
    if path != ":memory:" and not create and not Path(path).exists():
        raise StoreError(path, f"no such file; {index_command(path, 'PATHS')} makes one")
    if Path(path).is_dir():
        raise StoreError(path, "a folder; give the name of a file")
    with store_errors(path):
        connection = _open(path, read_only=read_only)
    try:
        with store_errors(path):
            if _is_new(connection, path, create=create, read_only=read_only):
                _create(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _open(path: str, *, read_only: bool) -> sqlite3.Connection:
    try:
        if path == ":memory:" or not read_only:
            return _set_up(path, patience_ms=500)
    except sqlite3.OperationalError as error:
        # The folder may not be writable, which matters only if something is written.
        if not any(part in str(error) for part in ("unable to open", "readonly")):
            raise
    uri = Path(path).absolute().as_uri()
    try:
        return _set_up(f"{uri}?mode=ro", patience_ms=10_000)
    except sqlite3.OperationalError:
        # The folder may not be writable. Without a write-ahead log beside it, the file is stable.
        if Path(f"{path}-wal").exists():
            raise
    return _set_up(f"{uri}?immutable=1", patience_ms=10_000)


def _set_up(name: str, *, patience_ms: int) -> sqlite3.Connection:
    """Connect to a database, read from it once to detect errors, and return the connection."""
    connection = sqlite3.connect(name, uri=name.startswith("file:"), isolation_level=None)
    try:
        # Python runs the handlers of signals during a query only if SQLite calls back.
        connection.set_progress_handler(lambda: 0, _INSTRUCTIONS_PER_CHECK)
        connection.execute(f"PRAGMA busy_timeout = {patience_ms}")
        connection.execute("PRAGMA foreign_keys = ON")
        # Functions in the schema of a foreign file are not run, and its pages are checked.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        version_of(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of the schema of an open database."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_new(connection: sqlite3.Connection, path: str, *, create: bool, read_only: bool) -> bool:
    """Return whether the file is empty, which requires ``create``.

    Raises ``StoreError`` if it is not an index, or has a version that is not supported.
    """
    # One query reads one state of the file: another process may be creating it.
    tables, application, version = connection.execute(_STATE).fetchone()
    if application == version == tables == 0:
        if not create:
            raise StoreError(path, f"an empty file; {index_command(path, 'PATHS')} fills it")
        return True
    if application != _APPLICATION_ID:
        raise StoreError(path, "not an index of chunkast; give another file")
    if version > VERSION:
        raise StoreError(
            path,
            f"made by a newer chunkast: its schema has version {version}, this one reads "
            f"version {VERSION}; upgrade chunkast, or index into another file",
        )
    if read_only and version < VERSION:
        raise outdated(path, version)
    return False


def tables(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all tables. Views are excluded, because reading one may never end."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table'"
    return {name for (name,) in connection.execute(query)}


def difference(connection: sqlite3.Connection) -> str:
    """Return a description of the missing parts of the schema, or "" if it is complete.

    Raises ``sqlite3.DatabaseError`` for a view in place of a table, because reading it may never
    end.
    """
    stored = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    if any(kind == "view" and name in (*_TABLES, *_WORDS_TABLES) for kind, name, _ in stored):
        raise sqlite3.DatabaseError("malformed: a view is in the place of a table")
    made = "\n".join(sql or "" for _, _, sql in stored)
    # Columns that a user has added follow those of the schema.
    lacking = next((each for each in _SCHEMA if each.rstrip(" \n)") not in made), "")
    return lacking and f"its schema lacks {lacking.partition('(')[0].strip()}"


def outdated(path: str, version: int) -> StoreError:
    """Return the error for readers of an index that an older chunkast made."""
    return StoreError(
        path,
        f"made by an older chunkast: its schema has version {version}, this one reads "
        f"version {VERSION}; {index_command(path, 'PATHS')} rebuilds it",
    )


def _create(connection: sqlite3.Connection) -> None:
    """Create the schema in an empty file, in a single transaction."""
    # SQLite does not wait for other processes when it changes the journal mode.
    _until_free(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone())
    lock(connection)
    # Another process may have created the schema in the meantime.
    if version_of(connection) != VERSION:
        empty(connection)
    connection.execute("COMMIT")


def empty(connection: sqlite3.Connection) -> None:
    """Replace all tables with empty ones, within the open transaction."""
    connection.execute("DROP VIEW IF EXISTS chunk_texts")
    for table in _TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")


def lock(connection: sqlite3.Connection, on_wait: Callable[[], None] = lambda: None) -> None:
    """Begin a write transaction; if another process is writing, wait until it has finished.

    ``on_wait`` is called once if a wait is necessary. The wait can be interrupted, but has no
    time limit, because a lock ends with its process.
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
