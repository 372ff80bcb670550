"""Check a database for damage, and recover the contents of one that is damaged or outdated."""

from __future__ import annotations

import importlib.metadata
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import Any, Final, NamedTuple
from zlib import crc32

from chunkast.identity.plans import ChunkRecord
from chunkast.index.connection import DamageError
from chunkast.index.rows import SELECT, checked_text, text_reader
from chunkast.index.schema import VERSION, difference, tables, version_of
from chunkast.index.stored_vectors import SELECT_VECTORS, StoredVector, read_vector
from chunkast.text.source_map import encode

__all__ = (
    "DIGEST",
    "STEMMER",
    "Saved",
    "digest_of",
    "faults",
    "quick_fault",
    "rebuild_reasons",
    "salvage",
    "salvage_vectors",
    "settings_of",
    "text_hash",
)

# The setting with the digest of all chunks. A completed run stores it.
DIGEST: Final = "digest"
# The setting with the version of the package that made the stems, if the index has any.
STEMMER: Final = "snowballstemmer"
_COUNTS: Final = """SELECT (SELECT coalesce(sum(chunks), 0) FROM documents),
    (SELECT count(*) FROM chunks JOIN documents ON documents.number = chunks.document),
    (SELECT count(*) FROM search_docsize)"""
_CHECK_WORDS: Final = "INSERT INTO search (search) VALUES ('integrity-check')"


def text_hash(data: bytes) -> str:
    """Return the SHA-256 hash of a document's bytes, in hexadecimal."""
    return sha256(data).hexdigest()


def quick_fault(connection: sqlite3.Connection) -> str:
    """Return a description of the first fault that a quick check finds, or "".

    The check covers the structure of the file and missing rows, and reads no texts. Raises
    ``sqlite3.DatabaseError`` if a rebuild cannot repair the file.
    """
    return _structure_fault(connection, "quick_check") or _missing_rows(connection)


def _structure_fault(connection: sqlite3.Connection, check: str) -> str:
    (line,) = connection.execute(f"PRAGMA {check}(1)").fetchone()
    fault = "" if line == "ok" else " ".join(str(line).split())
    # From version 3.44 on, SQLite also checks the full-text index, which can be rebuilt.
    if fault and "fts5" not in fault.lower():
        raise sqlite3.DatabaseError(f"malformed: {fault}")
    return fault or difference(connection)


def _missing_rows(connection: sqlite3.Connection) -> str:
    expected, stored, words = connection.execute(_COUNTS).fetchone()
    if stored != expected:
        return f"{stored} of the {expected} chunks of its documents are there"
    if words != expected:
        return f"its full-text index has {words} entries for {expected} chunks"
    return ""


def faults(connection: sqlite3.Connection) -> list[str]:
    """Return a one-line description of each fault of a database.

    This reads the whole file. It does not compare the words of the full-text index with the texts.
    """
    listed: list[str] = []
    with _any_text(connection, listed):
        if fault := _structure_fault(connection, "integrity_check"):
            return [fault]
        listed.extend(_fault_lines(connection))
        settings = settings_of(connection)
        if DIGEST not in settings:
            return listed or ["it was never completed"]
        if not listed and digest_of(connection) != settings[DIGEST]:
            listed.append("its digest does not match its chunks")
    return listed


def _fault_lines(connection: sqlite3.Connection) -> Iterator[str]:
    if fault := _missing_rows(connection):
        yield fault
    try:
        # FTS5 checks its index only in a file that can be written.
        connection.execute(_CHECK_WORDS)
    except sqlite3.DatabaseError as error:
        if not any(part in str(error) for part in ("readonly", "locked", "interrupted")):
            yield "its full-text index is damaged"
    # The chunks of a damaged text are damaged, too.
    damaged: set[int] = set()
    query = "SELECT number, source, text, text_hash FROM documents"
    for number, source, text, stored in connection.execute(query):
        if text_hash(encode(str(text))) != stored:
            damaged.add(number)
            yield f"the text of {source} is damaged"
    text_of = text_reader(connection)
    rows = (row for row in connection.execute(SELECT) if row[1] not in damaged)
    yield from _damage(rows, lambda row: checked_text(row, text_of))
    yield from _damage(connection.execute(SELECT_VECTORS), read_vector)


def _damage(rows: Iterable[Any], read: Callable[[Any], object]) -> Iterator[str]:
    for row in rows:
        try:
            read(row)
        except DamageError as error:
            yield str(error)


def settings_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the settings by name, or an empty dict if their table is missing or damaged."""
    with suppress(sqlite3.DatabaseError):
        if "settings" in tables(connection):
            return dict(connection.execute("SELECT name, value FROM settings"))
    return {}


class Saved(NamedTuple):
    """A document recovered from a database that is damaged or has an older format.

    text: the text, or ``None`` if it is damaged or not stored.
    """

    source: str
    text_hash: str
    text: str | None
    chunks: list[ChunkRecord]


def salvage(connection: sqlite3.Connection) -> list[Saved]:
    """Return the documents of a database that is damaged or has an older format.

    Stops at the first unreadable document. The chunk records show which texts are already embedded.
    """
    saved: dict[int, Saved] = {}
    with suppress(KeyError), _any_text(connection, []):
        rows = connection.execute("SELECT * FROM documents ORDER BY number")
        names = [name for name, *_ in rows.description]
        for row in (dict(zip(names, values, strict=True)) for values in rows):
            source, stored, text = row["source"], row["text_hash"], row.get("text")
            whole = text is not None and text_hash(encode(str(text))) == stored
            saved[row["number"]] = Saved(source, stored, text if whole else None, [])
        query = "SELECT document, id, content_hash, embed_hash FROM chunks ORDER BY number"
        for document, *hashes in connection.execute(query):
            if document in saved:
                saved[document].chunks.append(ChunkRecord(*hashes))
    return [*saved.values()]


def salvage_vectors(connection: sqlite3.Connection) -> list[StoredVector]:
    """Return the undamaged vectors of a database that is damaged or has an older format."""
    saved: list[StoredVector] = []
    with _any_text(connection, []):
        if "vector_blocks" in tables(connection):
            earlier = _vectors_of_version_8(connection)
            saved.extend(vector for vector in earlier if not vector.is_zero())
        for row in connection.execute(SELECT_VECTORS):
            with suppress(DamageError):
                saved.append(read_vector(row))
    return saved


def _vectors_of_version_8(connection: sqlite3.Connection) -> Iterator[StoredVector]:
    """Yield the undamaged vectors of the earlier schema, in which a row has many of them."""
    query = "SELECT model, size, hashes, vectors, checksum FROM vector_blocks"
    for model, size, hashes, data, checksum in connection.execute(query):
        block = model, size, hashes.split()
        if crc32(data, crc32(encode(repr(block)))) == checksum:
            for at, text in enumerate(block[2]):
                yield StoredVector(model, text, data[4 * size * at : 4 * size * (at + 1)])


@contextmanager
def _any_text(connection: sqlite3.Connection, errors: list[str]) -> Iterator[None]:
    """Read text that is not UTF-8 without an error, to find out where it is.

    The first place that SQLite cannot read ends the block, and is appended to ``errors``.
    """
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield
    except sqlite3.DatabaseError as error:
        # A signal has stopped the query.
        if "interrupted" in str(error):
            raise
        errors.append(str(error))
    finally:
        connection.text_factory = str


def rebuild_reasons(connection: sqlite3.Connection) -> list[str]:
    """Return the reasons, if any, why the database must be rebuilt before it is written."""
    _structure_fault(connection, "quick_check")
    version = version_of(connection)
    if version != VERSION:
        return [f"its schema has version {version}, this chunkast writes version {VERSION}"]
    stored = settings_of(connection).get(STEMMER)
    if stored and stored != (current := importlib.metadata.version(STEMMER)):
        return [f"it was made with version {stored} of {STEMMER}, this one is {current}"]
    reasons = faults(connection)
    return [] if reasons == ["it was never completed"] else reasons


def digest_of(connection: sqlite3.Connection) -> str:
    """Return the digest of all stored chunks: see :func:`chunkast.digest`."""
    # All ids have the same length, so this is the order of the lines as well. The sign makes SQLite
    # sort the rows, which is faster than reading them in the order of an index.
    rows = connection.execute("SELECT id, content_hash FROM chunks ORDER BY +id, content_hash")
    return sha256("\n".join(f"{id_}:{content}" for id_, content in rows).encode()).hexdigest()
