"""A transaction that changes the documents of an index and repairs damage in the index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chunkast.errors import ConfigError
from chunkast.identity import WritePlan, config_values, fingerprint, plan_among
from chunkast.index.checks import (
    DIGEST,
    StoredDocument,
    check_all_pages,
    check_structure,
    digest_of,
    seal,
    survey,
)
from chunkast.index.rows import COLUMNS, checksum, values_of
from chunkast.index.schema import INSERT_WORDS, WORDS_TABLE
from chunkast.index.terms import terms
from chunkast.model import Chunk
from chunkast.sources.notebook import Notebook
from chunkast.text.source_map import encode, without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.index.checks import Survey

__all__ = (
    "IndexReport",
    "IndexedDocument",
    "Writing",
    "document_hash",
    "index_document",
    "own_token_counts",
    "text_hash",
)

_CHUNK_COLUMNS: Final = ("document", "checksum", *COLUMNS)
_INSERT_CHUNK: Final = (
    f"INSERT INTO chunks (number, {', '.join(_CHUNK_COLUMNS)}) "  # noqa: S608  (constants)
    f"VALUES (?, {', '.join('?' * len(_CHUNK_COLUMNS))})"
)
_UPDATE_CHUNK: Final = (
    f"UPDATE chunks SET {', '.join(f'{name} = ?' for name in _CHUNK_COLUMNS)} "  # noqa: S608
    "WHERE number = ?"
)
_SELECT_ROWS: Final = f"SELECT number, checksum, {', '.join(COLUMNS)} FROM chunks"  # noqa: S608
_PUT_DOCUMENT: Final = (
    "INSERT INTO documents (number, source, text_hash, fingerprint, chunks, checksum, text) "
    "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET "
    "text_hash = excluded.text_hash, fingerprint = excluded.fingerprint, chunks = excluded.chunks, "
    "checksum = excluded.checksum, text = excluded.text"
)
_DELETE_WORDS: Final = (
    "INSERT INTO search (search, rowid, headings, text) VALUES ('delete', ?, ?, ?)"
)
_ID, _CONTENT_HASH, _EMBED_HASH, _HEADINGS, _TEXT, _EMBED_TEXT, _SECTIONS = map(
    COLUMNS.index,
    ("id", "content_hash", "embed_hash", "headings", "text", "embed_text", "sections"),
)
# A hash that no text has, so that the document is chunked again.
_NO_HASH: Final = ""


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document as an index stores it, with its chunks.

    source: the document's name.
    text_hash: the hash of the document's bytes; see :func:`text_hash`.
    chunks: the document's chunks, in order.
    own_token_counts: the token count of each chunk without its overlap.
    text: the document's text, or ``None`` if it is not known.
    """

    source: str
    text_hash: str
    chunks: tuple[Chunk, ...]
    own_token_counts: tuple[int, ...]
    text: str | None = None


def text_hash(data: bytes) -> str:
    """Return the SHA-256 hash of a document's bytes, in hexadecimal."""
    return sha256(data).hexdigest()


def index_document(chunker: Chunker, source: str, document: str | Notebook) -> IndexedDocument:
    """Chunk a text or a notebook, and return it as a document for an index."""
    from chunkast.sources.documents import iter_document

    chunks = tuple(iter_document(chunker, document, source))
    own = own_token_counts(chunks, chunker.counter.count)
    text = document if isinstance(document, str) else document.text
    return IndexedDocument(source, document_hash(document), chunks, own, text)


def document_hash(document: str | Notebook) -> str:
    """Return the hash of a document's text; for a notebook, return the hash of its JSON."""
    return text_hash(encode(document if isinstance(document, str) else document.text))


def own_token_counts(chunks: Iterable[Chunk], count: Callable[[str], int]) -> tuple[int, ...]:
    """Return the token count of each chunk without its overlap."""
    return tuple(
        count(chunk.text[chunk.overlap :]) if chunk.overlap else chunk.token_count
        for chunk in chunks
    )


@dataclass(slots=True)
class IndexReport:
    """The changes that a run made to the index.

    added, changed, removed, embed, moved, reuse, repeats: as in :class:`chunkast.WritePlan`, but
        for all documents together; vectors are reused across the whole index.
    unchanged: the number of unchanged chunks.
    documents: the number of documents in the run.
    written: the number of documents that were new or had changed.
    digest: the digest of the index after the run.
    faults: the damage found before the run, one sentence per fault. In a damaged document,
        undamaged chunks count as unchanged, and the other chunks as added.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    embed: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    reuse: dict[str, str] = field(default_factory=dict)
    repeats: list[str] = field(default_factory=list)
    unchanged: int = 0
    documents: int = 0
    written: int = 0
    digest: str = ""
    faults: list[str] = field(default_factory=list)

    def add(self, plan: WritePlan) -> None:
        """Add the changes in the plan of one document to the report."""
        for name in ("added", "changed", "removed", "embed", "moved", "repeats"):
            getattr(self, name).extend(getattr(plan, name))
        self.reuse.update(plan.reuse)

    def __repr__(self) -> str:
        return f"<IndexReport: {self}, embed {len(self.embed):,}, reuse {len(self.reuse):,}>"

    def __str__(self) -> str:
        """Return the number of changes of each kind; moved chunks also count as unchanged."""
        return (
            f"added {len(self.added):,}, changed {len(self.changed):,}, "
            f"unchanged {self.unchanged:,}, removed {len(self.removed):,}, moved {len(self.moved):,}"
        )


class _Row(NamedTuple):
    """The values of a chunk for ``COLUMNS``, with its row number and checksum if it is stored."""

    values: tuple[Any, ...]
    number: int = 0
    checksum: int = 0

    @property
    def id(self) -> str:
        return str(self.values[_ID])

    @property
    def content_hash(self) -> str:
        return str(self.values[_CONTENT_HASH])

    @property
    def embed_hash(self) -> str:
        return str(self.values[_EMBED_HASH])

    @property
    def state_hash(self) -> str:
        return sha256(encode(repr(self.values[:_SECTIONS]))).hexdigest()

    @property
    def words(self) -> tuple[str, str]:
        """The titles and the text of the chunk in the form in which they are indexed.

        If the embedded text does not contain the chunk's text, the embedded text is indexed
        instead. The titles of the chunk's own sections are included twice.
        """
        text = self.values[_EMBED_TEXT] or self.values[_TEXT]
        sections = json.loads(self.values[_SECTIONS] or "[]")
        paths = [path for _, path in sections] or [json.loads(self.values[_HEADINGS])]
        titles = [*dict.fromkeys(chain(*paths)), *(path[-1] for path in paths if path)]
        return terms(" ".join(titles)), terms(text)


class _Vectors:
    """The vectors before the run, each identified by the hash of its embedded text."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute(
            "CREATE TEMP TABLE vectors (embed_hash TEXT PRIMARY KEY, id TEXT) WITHOUT ROWID"
        )
        connection.execute(
            "INSERT OR IGNORE INTO temp.vectors SELECT embed_hash, id FROM chunks ORDER BY number"
        )

    def holder(self, embed_hash: str) -> str | None:
        """Return the id of the chunk whose embedded text has this hash, or ``None``."""
        found = self._connection.execute(
            "SELECT id FROM temp.vectors WHERE embed_hash = ?", (embed_hash,)
        ).fetchone()
        return found and str(found[0])

    def close(self) -> None:
        self._connection.execute("DROP TABLE temp.vectors")


class Writing:
    """An open transaction that changes an index: see :meth:`Store.writing`."""

    def __init__(
        self, connection: sqlite3.Connection, chunker: Chunker, *, new_words: bool = False
    ) -> None:
        """Survey the index and repair damage; with ``new_words``, rebuild the full-text index."""
        self._connection = connection
        encoding = chunker.counter.name
        self._config = config_values(chunker.config, encoding)
        self._fingerprint = fingerprint(chunker.config, encoding)
        self.report = IndexReport()
        check_structure(connection)
        found = survey(connection)
        self.settings = found.settings
        self._stored = found.documents
        self._given: set[str] = set()
        self._chunks_before = self._chunks = found.chunks
        self._total = found.total
        self._last_chunk = found.last_chunk
        self._last_document = found.last_document
        # Documents that an earlier version stored without their texts and sections.
        older = "SELECT number FROM documents WHERE text IS NULL"
        self._older = {number for (number,) in connection.execute(older)}
        self._touched = False
        self._vectors: _Vectors | None = None
        self._embedded: dict[str, str] = {}
        if found.faults:
            self._repair(found)
        if found.faults or new_words:
            self._index_words()

    def knows(self, source: str, text_hash: str) -> bool:
        """Return True if the complete document is stored with this text hash and configuration."""
        known = self._stored.get(without_surrogates(source))
        if known is None or known.number in self._older:
            return False
        return (known.text_hash, known.fingerprint) == (text_hash, self._fingerprint)

    def absent(self) -> list[str]:
        """Return the sources of stored documents that were neither kept nor put, sorted."""
        return sorted(self._stored.keys() - self._given)

    def keep(self, source: str) -> None:
        """Keep a stored document unchanged."""
        self._count(source)

    def put(self, document: IndexedDocument) -> None:
        """Store a document; replace any stored document that has the same source."""
        source = self._count(document.source)
        self._touch()
        if source in self._stored:
            number = self._stored[source].number
        else:
            number = self._last_document = self._last_document + 1
        self._put_row(
            StoredDocument(
                number, source, document.text_hash, self._fingerprint, len(document.chunks)
            ),
            document.text,
        )
        self.report.written += 1
        self._apply(number, source, document)

    def _count(self, source: str) -> str:
        """Count a document of the run, and return its source as it is stored.

        Raises ``ConfigError`` if the source has already been counted.
        """
        stored = without_surrogates(source)
        if stored in self._given:
            raise ConfigError("source", source, "is given twice; an index has each source once")
        self._given.add(stored)
        self.report.documents += 1
        return stored

    def remove(self, source: str) -> None:
        """Remove a stored document and its chunks."""
        self._touch()
        number = self._stored[source].number
        self._apply(number, source, None)
        self._connection.execute("DELETE FROM documents WHERE number = ?", (number,))

    def finish(self) -> None:
        """Store the configuration and the checksums, and complete the report."""
        before = dict(self.settings)
        if self._vectors is not None:
            self._vectors.close()
        if self._touched or DIGEST not in self.settings:
            self.settings[DIGEST] = digest_of(self._connection)
        self.settings["config"] = json.dumps(self._config, ensure_ascii=False, sort_keys=True)
        seal(self._connection, self.settings, rows=(self._chunks, self._total))
        if self.settings != before:
            self._connection.executemany(
                "INSERT INTO settings VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                self.settings.items(),
            )
        report = self.report
        report.unchanged = self._chunks_before - len(report.changed) - len(report.removed)
        report.digest = self.settings[DIGEST]

    def _touch(self) -> None:
        """Check all pages of the file before the first write."""
        if not self._touched:
            self._touched = True
            check_all_pages(self._connection)

    def _put_row(self, document: StoredDocument, text: str | None = None) -> None:
        stored = None if text is None else without_surrogates(text)
        self._connection.execute(_PUT_DOCUMENT, (*document, document.checksum(), stored))

    def _repair(self, found: Survey) -> None:
        """Remove damaged data, so that the run restores it in the same way as missing data."""
        self._touch()
        self.report.faults = found.faults
        execute, executemany = self._connection.execute, self._connection.executemany
        executemany("DELETE FROM chunks WHERE number = ?", ((n,) for n in found.damaged))
        executemany(
            "DELETE FROM documents WHERE number = ?", ((n,) for n in found.damaged_documents)
        )
        for source, chunks in found.incomplete.items():
            document = self._stored[source]._replace(text_hash=_NO_HASH, chunks=chunks)
            self._stored[source] = document
            self._put_row(document)
        if not found.settings:
            execute("DELETE FROM settings")

    def _index_words(self) -> None:
        """Rebuild the full-text index.

        The indexed words of a damaged row, or of a row from an earlier version, are unknown, so
        they cannot be removed individually. The table's own settings may also be damaged.
        """
        self._touch()
        execute = self._connection.execute
        execute("DROP TABLE search")
        execute(WORDS_TABLE)
        for number, stored, *values in execute(_SELECT_ROWS):
            self._insert_words(_Row(tuple(values), number, stored))

    def _prior(self, document: int) -> list[_Row]:
        rows = self._connection.execute(
            f"{_SELECT_ROWS} WHERE document = ? ORDER BY position", (document,)
        )
        return [_Row(tuple(values), number, stored) for number, stored, *values in rows]

    def _apply(self, document: int, source: str, given: IndexedDocument | None) -> None:
        """Replace the stored chunks of a document with the ``given`` chunks, or delete them.

        The chunks are deleted if ``given`` is ``None``. Only chunks that differ are written, and
        the full-text index is updated only if their words differ.
        """
        if self._vectors is None:
            self._vectors = _Vectors(self._connection)
        pairs = zip(given.chunks, given.own_token_counts, strict=True) if given else ()
        current = [_Row(values_of(chunk, own_tokens)) for chunk, own_tokens in pairs]
        prior = self._prior(document)
        plan = plan_among(current, prior, self._vectors.holder, self._embedded)
        self.report.add(plan)
        self._chunks += len(current) - len(prior)
        known = {row.id: row for row in prior}
        same = {*plan.unchanged} - {*plan.moved}
        for row in current:
            before = known.pop(row.id, None)
            # An earlier version did not write sections.
            if row.id not in same or before is None or row.values != before.values:
                self._write(document, source, row.values, before)
        for row in known.values():
            self._total -= row.checksum
            self._delete_words(row)
            self._connection.execute("DELETE FROM chunks WHERE number = ?", (row.number,))

    def _write(
        self, document: int, source: str, values: tuple[Any, ...], before: _Row | None
    ) -> None:
        """Insert a chunk, or replace the stored chunk ``before`` with it."""
        if before is None:
            number = self._last_chunk = self._last_chunk + 1
        else:
            number = before.number
            self._total -= before.checksum
        row = _Row(values, number, checksum(number, source, *values))
        self._total += row.checksum
        written = (document, row.checksum, *values)
        if before is None:
            self._connection.execute(_INSERT_CHUNK, (number, *written))
            self._insert_words(row)
            return
        self._connection.execute(_UPDATE_CHUNK, (*written, number))
        if row.words != before.words:
            self._delete_words(before)
            self._insert_words(row)

    def _insert_words(self, row: _Row) -> None:
        """Add a chunk's headings and text to the full-text index."""
        self._connection.execute(INSERT_WORDS, (row.number, *row.words))

    def _delete_words(self, row: _Row) -> None:
        self._connection.execute(_DELETE_WORDS, (row.number, *row.words))
