"""Checks a database for damage in its rows, its full-text index and its settings."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, NamedTuple
from zlib import crc32

from chunkast.index.rows import COLUMNS, DamageError, checksum, faults_of
from chunkast.text.source_map import encode

__all__ = (
    "DIGEST",
    "StoredDocument",
    "Survey",
    "check_all_pages",
    "check_rows",
    "check_settings",
    "check_structure",
    "check_words",
    "digest_of",
    "document_named",
    "faults",
    "seal",
    "survey",
)

# The names of the settings that describe the state after the last completed run.
DIGEST: Final = "digest"
_WORDS: Final = "words"
_ROWS: Final = "rows"
_DOCUMENTS: Final = "documents"
_SEAL: Final = "checksum"
_TABLES: Final = (
    "sqlite_schema",
    "settings",
    "documents",
    "chunks",
    "search_data",
    "search_idx",
    "search_docsize",
    "search_config",
)

# The key and the value of each row in FTS5's own tables. Types are included, because any SQLite
# column accepts values of any type. ``search_docsize`` has one small row for each chunk, so its
# rows are concatenated.
_WORD_TABLES: Final = (
    "SELECT id || typeof(block), CAST(block AS BLOB) FROM search_data ORDER BY id",
    """SELECT quote(segid) || quote(pgno) || typeof(term), CAST(term AS BLOB) FROM search_idx
    ORDER BY segid, term""",
    "SELECT quote(k) || typeof(v), CAST(v AS BLOB) FROM search_config ORDER BY k",
    """SELECT count(*), CAST(group_concat(id || quote(sz)) AS BLOB)
    FROM (SELECT id, sz FROM search_docsize ORDER BY id)""",
)


class StoredDocument(NamedTuple):
    """A document's row in the database, without the text; ``chunks`` is its number of chunks."""

    number: int
    source: str
    text_hash: str
    fingerprint: str
    chunks: int

    def checksum(self) -> int:
        """Return the checksum that the document's row has if it is undamaged."""
        return checksum(*self)


@dataclass(slots=True)
class Survey:
    """The contents of a database and the damage found in it.

    settings: the stored settings by name; empty if they are damaged or missing.
    documents: the documents whose rows are undamaged, by source.
    incomplete: the sources of documents with a damaged text or with damaged or missing chunks, each
        with the number of its undamaged chunks.
    damaged: the row numbers of chunks that are damaged or whose document's row is damaged or
        missing.
    damaged_documents: the row numbers of damaged documents.
    chunks: the number of undamaged chunks.
    total: the sum of the checksums of the undamaged chunks.
    last_chunk: the highest row number of an undamaged chunk, or 0.
    last_document: the highest row number of an undamaged document row, or 0.
    faults: a description of each fault.
    """

    settings: dict[str, str] = field(default_factory=dict)
    documents: dict[str, StoredDocument] = field(default_factory=dict)
    incomplete: dict[str, int] = field(default_factory=dict)
    damaged: list[int] = field(default_factory=list)
    damaged_documents: list[int] = field(default_factory=list)
    chunks: int = 0
    total: int = 0
    last_chunk: int = 0
    last_document: int = 0
    faults: list[str] = field(default_factory=list)


def survey(connection: sqlite3.Connection) -> Survey:
    """Read all rows of a database, verify their checksums, and return a survey."""
    try:
        return _survey(connection)
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
    # Some text is not UTF-8: read it nevertheless, to find out where.
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        return _survey(connection)
    finally:
        connection.text_factory = str


def _survey(connection: sqlite3.Connection) -> Survey:
    found = Survey()
    sources: dict[int, str] = {}
    damaged_texts: set[str] = set()
    for stored, text, *values in connection.execute(
        "SELECT checksum, text, number, source, text_hash, fingerprint, chunks FROM documents"
    ):
        document = StoredDocument(*values)
        if text is not None and sha256(encode(str(text))).hexdigest() != document.text_hash:
            damaged_texts.add(document.source)
        if stored == document.checksum():
            found.last_document = max(found.last_document, document.number)
            found.documents[document.source] = document
            sources[document.number] = document.source
        else:
            found.damaged_documents.append(document.number)
            found.faults.append(f"row {document.number} of its documents is damaged")
    counts = Counter[int]()
    # The same as ``checksum``, inlined: this loop runs for every chunk.
    for number, document_, stored, *values in connection.execute(
        f"SELECT number, document, checksum, {', '.join(COLUMNS)} FROM chunks"  # noqa: S608
    ):
        source = sources.get(document_)
        known = [str(value) for value in values if value is not None]
        text = "\0".join((str(number), str(source), *known))
        if source is not None and crc32(text.encode("utf-8", "surrogatepass")) == stored:
            counts[document_] += 1
            found.total += stored
            found.last_chunk = max(found.last_chunk, number)
        else:
            found.damaged.append(number)
            found.faults.append(f"row {number} of its chunks is damaged")
    found.chunks = counts.total()
    for source, document in found.documents.items():
        whole = counts[document.number]
        if source in damaged_texts:
            found.incomplete[source] = whole
            found.faults.append(f"the text of {source} is damaged")
        elif whole != document.chunks:
            found.incomplete[source] = whole
            found.faults.append(f"{source}: {whole} of {document.chunks} chunks are intact")
    _survey_settings(connection, found)
    return found


def _survey_settings(connection: sqlite3.Connection, found: Survey) -> None:
    settings = dict(connection.execute("SELECT name, value FROM settings"))
    if settings:
        try:
            check_settings(settings)
        except DamageError as error:
            found.faults.append(str(error))
            settings = {}
        else:
            there = len(found.documents) + len(found.damaged_documents)
            if there != int(settings[_DOCUMENTS]):
                found.faults.append(f"{there} of {settings[_DOCUMENTS]} documents are present")
            if _words_checksum(connection) != settings[_WORDS]:
                found.faults.append("its full-text index is damaged")
            if not found.faults and _rows(found.chunks, found.total) != settings[_ROWS]:
                found.faults.append("its chunks differ from those that the last run stored")
    elif found.documents or found.damaged_documents or found.chunks or found.damaged:
        found.faults.append("its settings are missing")
    found.settings = settings


def _words_checksum(connection: sqlite3.Connection) -> str:
    """Return a checksum of the full-text index, as it is stored in the file."""
    state = 0
    for statement in _WORD_TABLES:
        for key, value in connection.execute(statement):
            state = crc32(value or b"", crc32(str(key).encode("utf-8", "surrogatepass"), state))
    return str(state)


def seal(
    connection: sqlite3.Connection, settings: dict[str, str], *, rows: tuple[int, int]
) -> None:
    """Add checksums and counts of the stored data to ``settings``, for later damage checks.

    ``rows`` is the number of chunks and the sum of their checksums.
    """
    # Makes FTS5 write its data from memory to its tables.
    connection.execute("SAVEPOINT written")
    connection.execute("RELEASE written")
    (documents,) = connection.execute("SELECT count(*) FROM documents").fetchone()
    settings[_WORDS] = _words_checksum(connection)
    settings[_ROWS] = _rows(*rows)
    settings[_DOCUMENTS] = str(documents)
    settings[_SEAL] = _settings_checksum(settings)


def check_settings(settings: Mapping[str, str]) -> None:
    """Raise ``DamageError`` if the settings do not match their checksum."""
    if settings.get(_SEAL) != _settings_checksum(settings):
        raise DamageError("its settings are damaged")


def check_rows(settings: Mapping[str, str], count: int, total: int) -> None:
    """Raise ``DamageError`` if the chunks do not match the values in ``settings``.

    ``count`` is the number of chunks, and ``total`` the sum of their checksums. Nothing is checked
    if ``settings`` is empty.
    """
    if settings and _rows(count, total) != settings[_ROWS]:
        raise DamageError("some of its chunks are missing")


def check_words(connection: sqlite3.Connection, settings: Mapping[str, str]) -> None:
    """Raise ``DamageError`` if the full-text index does not match its checksum in ``settings``."""
    if _words_checksum(connection) != settings[_WORDS]:
        raise DamageError("its full-text index is damaged")


def document_named(connection: sqlite3.Connection, source: str, settings: Mapping[str, str]) -> int:
    """Return the number of chunks of the document ``source``, or 0 if it is not stored.

    Raises ``DamageError`` if the document's row is damaged, or if the document is not found and the
    number of stored documents is wrong.
    """
    row = connection.execute(
        "SELECT checksum, number, source, text_hash, fingerprint, chunks FROM documents "
        "WHERE source = ?",
        (source,),
    ).fetchone()
    if row is None:
        (count,) = connection.execute("SELECT count(*) FROM documents").fetchone()
        if settings and str(count) != settings[_DOCUMENTS]:
            raise DamageError(f"{count} of {settings[_DOCUMENTS]} documents are present")
        return 0
    document = StoredDocument(*row[1:])
    if row[0] != document.checksum():
        raise DamageError(f"row {document.number} of its documents is damaged")
    return document.chunks


def _rows(count: int, total: int) -> str:
    return f"{count} {total}"


def _settings_checksum(settings: Mapping[str, object]) -> str:
    items = sorted((str(name), value) for name, value in settings.items() if name != _SEAL)
    return str(checksum(*(part for item in items for part in item)))


def digest_of(connection: sqlite3.Connection) -> str:
    """Return the digest of all stored chunks: see :func:`chunkast.digest`."""
    state = sha256()
    before = ""
    # All ids have the same length, so this is the order of the lines as well.
    for id_, content in connection.execute(
        "SELECT id, content_hash FROM chunks ORDER BY id, content_hash"
    ):
        state.update(f"{before}{id_}:{content}".encode())
        before = "\n"
    return state.hexdigest()


def check_structure(connection: sqlite3.Connection) -> None:
    """Raise ``sqlite3.DatabaseError`` if a row cannot be found by its key.

    Reading a whole table does not reveal such a fault. If there is one, the SQL indexes are rebuilt
    and checked again before the error is raised; this requires a write transaction.
    """
    if any(True for _ in _structure(connection)):
        connection.execute("REINDEX")
        for fault in _structure(connection):
            raise _malformed(fault)


def check_all_pages(connection: sqlite3.Connection) -> None:
    """Raise ``sqlite3.DatabaseError`` if any page of the file, even an unused page, is malformed.

    Writing to such a file is not safe. Rows and SQL indexes are not compared:
    :func:`check_structure` does that.
    """
    (fault,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if fault != "ok":
        raise _malformed(fault)


def _malformed(fault: str) -> sqlite3.DatabaseError:
    return sqlite3.DatabaseError(f"database disk image is malformed ({' '.join(fault.split())})")


def _structure(connection: sqlite3.Connection) -> Iterator[str]:
    for table in _TABLES:
        for (line,) in connection.execute(f"PRAGMA integrity_check({table})"):
            if line != "ok":
                yield str(line)


def faults(connection: sqlite3.Connection) -> list[str]:
    """Return a list of all faults of a database, each described in one line.

    The list includes the faults that :func:`survey` and SQLite find, chunks whose hashes do not
    match their text, and a digest that does not match the chunks.
    """
    lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check")]
    seen = survey(connection)
    found = [" ".join(line.split()) for line in lines if line != "ok"] + seen.faults
    if not seen.settings and not seen.faults:
        return [*found, "it was never completed"]
    damaged = set(seen.damaged)
    sources = {document.number: source for source, document in seen.documents.items()}
    for number, document, *values in connection.execute(
        f"SELECT number, document, {', '.join(COLUMNS)} FROM chunks WHERE number NOT IN "  # noqa: S608
        f"({', '.join(map(str, damaged))})"
    ):
        if fault := faults_of(sources[document], values):
            found.append(f"row {number} of its chunks: {fault}")
    if not seen.faults and digest_of(connection) != seen.settings[DIGEST]:
        found.append("its digest does not match its chunks")
    return found
