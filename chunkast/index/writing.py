"""A transaction that changes the documents of an index."""

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
from chunkast.index.checks import DIGEST, Saved, digest_of, text_hash
from chunkast.index.options import options_of
from chunkast.index.rows import COLUMNS, values_of
from chunkast.index.schema import INSERT_WORDS
from chunkast.index.terms import terms
from chunkast.model import Chunk
from chunkast.sources.notebook import Notebook
from chunkast.text.source_map import encode, without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = (
    "IndexReport",
    "IndexedDocument",
    "Writing",
    "document_hash",
    "index_document",
    "own_token_counts",
    "text_hash",
)

_CHUNK_COLUMNS: Final = ("document", *COLUMNS)
_INSERT_CHUNK: Final = (
    f"INSERT INTO chunks ({', '.join(_CHUNK_COLUMNS)}) "  # noqa: S608  (constants)
    f"VALUES ({', '.join('?' * len(_CHUNK_COLUMNS))})"
)
_UPDATE_CHUNK: Final = (
    f"UPDATE chunks SET {', '.join(f'{name} = ?' for name in COLUMNS)} "  # noqa: S608
    "WHERE number = ?"
)
_SELECT_CHUNKS: Final = (
    f"SELECT number, {', '.join(COLUMNS)} FROM chunks "  # noqa: S608
    "WHERE document = ? ORDER BY position"
)
_INSERT_DOCUMENT: Final = (
    "INSERT INTO documents (source, text_hash, fingerprint, chunks, text) VALUES (?, ?, ?, ?, ?)"
)
_UPDATE_DOCUMENT: Final = (
    "UPDATE documents SET text_hash = ?, fingerprint = ?, chunks = ?, text = ? WHERE number = ?"
)
_DELETE_WORDS: Final = (
    "INSERT INTO search (search, rowid, headings, text) VALUES ('delete', ?, ?, ?)"
)
_ID, _CONTENT_HASH, _EMBED_HASH, _HEADINGS, _TEXT, _EMBED_TEXT, _SECTIONS = map(
    COLUMNS.index,
    ("id", "content_hash", "embed_hash", "headings", "text", "embed_text", "sections"),
)


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
    faults: the reasons why the index was rebuilt, one sentence each: damage, or an older version.
        All documents are chunked again then; chunks that were undamaged can still count as
        unchanged.
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
    """The values of a chunk for ``COLUMNS``, with its row number if it is stored."""

    values: tuple[Any, ...]
    number: int = 0

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


class _Stored(NamedTuple):
    """A document in the database, without its text and chunks."""

    number: int
    text_hash: str
    fingerprint: str


class Writing:
    """An open transaction that changes an index: see :meth:`Store.writing`.

    ``settings`` are the settings that :meth:`finish` stores, by name.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        chunker: Chunker,
        settings: dict[str, str],
        saved: Iterable[Saved] = (),
    ) -> None:
        """Begin with the stored documents, or with those ``saved`` from a database before it.

        Saved documents are chunked again, unless their files cannot be read.
        """
        self._connection = connection
        encoding = chunker.counter.name
        self._config = config_values(chunker.config, encoding)
        self._options = options_of(chunker)
        self._fingerprint = fingerprint(chunker.config, encoding)
        self._before = settings
        self.settings = dict(settings)
        self.report = IndexReport()
        self._given: set[str] = set()
        self._touched = False
        self._vectors: _Vectors | None = None
        self._embedded: dict[str, str] = {}
        for document in saved:
            self._restore(document)
        rows = connection.execute("SELECT source, number, text_hash, fingerprint FROM documents")
        self._stored = {source: _Stored(*values) for source, *values in rows}
        (self._chunks_before,) = connection.execute("SELECT count(*) FROM chunks").fetchone()

    def _restore(self, document: Saved) -> None:
        values = document.source, document.text_hash, "", len(document.rows), document.text
        number = self._connection.execute(_INSERT_DOCUMENT, values).lastrowid
        for row in document.rows:
            self._insert(number, row)

    def knows(self, source: str, text_hash: str) -> bool:
        """Return True if the document is stored with this text hash and configuration."""
        known = self._stored.get(without_surrogates(source))
        found = known and (known.text_hash, known.fingerprint)
        return found == (text_hash, self._fingerprint)

    def absent(self) -> list[str]:
        """Return the sources of stored documents that were neither kept nor put, sorted."""
        return sorted(self._stored.keys() - self._given)

    def keep(self, source: str) -> None:
        """Keep a stored document unchanged."""
        self._count(source)

    def put(self, document: IndexedDocument) -> None:
        """Store a document; replace any stored document that has the same source."""
        source = self._count(document.source)
        text = None if document.text is None else without_surrogates(document.text)
        values = document.text_hash, self._fingerprint, len(document.chunks), text
        known = self._stored.get(source)
        if known is None:
            number = self._connection.execute(_INSERT_DOCUMENT, (source, *values)).lastrowid
        else:
            number = known.number
            self._connection.execute(_UPDATE_DOCUMENT, (*values, number))
        self.report.written += 1
        self._apply(number, document)

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
        number = self._stored[source].number
        self._apply(number, None)
        self._connection.execute("DELETE FROM documents WHERE number = ?", (number,))

    def finish(self) -> None:
        """Store the settings, and complete the report."""
        if self._vectors is not None:
            self._vectors.close()
        settings = self.settings
        if self._touched or DIGEST not in settings:
            settings[DIGEST] = digest_of(self._connection)
        settings["config"] = json.dumps(self._config, sort_keys=True)
        settings["options"] = json.dumps(self._options, sort_keys=True)
        if settings != self._before:
            self._connection.executemany(
                "INSERT INTO settings VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                settings.items(),
            )
        report = self.report
        report.unchanged = self._chunks_before - len(report.changed) - len(report.removed)
        report.digest = settings[DIGEST]

    def _apply(self, document: int | None, given: IndexedDocument | None) -> None:
        """Replace the stored chunks of a document with the ``given`` chunks, or delete them.

        The chunks are deleted if ``given`` is ``None``. Only chunks that differ are written, and
        the full-text index is updated only if their words differ.
        """
        self._touched = True
        if self._vectors is None:
            self._vectors = _Vectors(self._connection)
        pairs = zip(given.chunks, given.own_token_counts, strict=True) if given else ()
        current = [_Row(values_of(chunk, own_tokens)) for chunk, own_tokens in pairs]
        rows = self._connection.execute(_SELECT_CHUNKS, (document,))
        prior = [_Row(tuple(values), number) for number, *values in rows]
        self.report.add(plan_among(current, prior, self._vectors.holder, self._embedded))
        known = {row.id: row for row in prior}
        for row in current:
            before = known.pop(row.id, None)
            if before is None:
                self._insert(document, row.values)
            elif row.values != before.values:
                self._update(row, before)
        for row in known.values():
            self._delete_words(row)
            self._connection.execute("DELETE FROM chunks WHERE number = ?", (row.number,))

    def _insert(self, document: int | None, values: tuple[Any, ...]) -> None:
        number = self._connection.execute(_INSERT_CHUNK, (document, *values)).lastrowid
        self._insert_words(number, _Row(values))

    def _update(self, row: _Row, before: _Row) -> None:
        """Replace the stored chunk ``before`` with another of the same id."""
        self._connection.execute(_UPDATE_CHUNK, (*row.values, before.number))
        if row.words != before.words:
            self._delete_words(before)
            self._insert_words(before.number, row)

    def _insert_words(self, number: int | None, row: _Row) -> None:
        """Add a chunk's headings and text to the full-text index."""
        self._connection.execute(INSERT_WORDS, (number, *row.words))

    def _delete_words(self, row: _Row) -> None:
        self._connection.execute(_DELETE_WORDS, (row.number, *row.words))
