"""The index: documents, their chunks and the words in them, in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from chunkast.errors import ConfigError, StoreError
from chunkast.identity import (
    Citation,
    WritePlan,
    config_values,
    fingerprint,
    locate_quote,
    plan_writes,
)
from chunkast.index.schema import connect, lock
from chunkast.index.search import Hit, ranked, within_budget
from chunkast.index.terms import terms
from chunkast.model import Chunk
from chunkast.text.source_map import encode, without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = (
    "IndexReport",
    "IndexedDocument",
    "Store",
    "index_document",
    "own_token_counts",
    "text_hash",
)

# Chunk fields that are columns under their own name, as they are.
_PLAIN: Final = (
    "id",
    "start_index",
    "end_index",
    "start_byte",
    "end_byte",
    "start_line",
    "end_line",
    "token_count",
    "overlap",
    "content_hash",
    "embed_token_count",
    "embed_hash",
)
_COLUMNS: Final = (
    *_PLAIN,
    "position",
    "own_token_count",
    "text",
    "headings",
    "kinds",
    "embed_before",
    "embed_after",
    "oversize",
    "metadata",
)
_INSERT: Final = (
    f"INSERT INTO chunks (document, {', '.join(_COLUMNS)}) "  # noqa: S608  (constants)
    f"VALUES (?, {', '.join('?' * len(_COLUMNS))})"
)
_UPDATE: Final = (
    f"UPDATE chunks SET {', '.join(f'{name} = ?' for name in _COLUMNS)} "  # noqa: S608
    "WHERE number = ?"
)
_SELECT: Final = (
    f"SELECT documents.source, {', '.join(f'chunks.{name}' for name in _COLUMNS)} "  # noqa: S608
    "FROM chunks JOIN documents ON documents.number = chunks.document"
)
_ENTER_WORDS: Final = "INSERT INTO search (rowid, headings, text) VALUES (?, ?, ?)"
_REMOVE_WORDS: Final = (
    "INSERT INTO search (search, rowid, headings, text) VALUES ('delete', ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """What goes into an index of one document.

    ``own_token_counts`` are the chunks' tokens without their overlap.
    """

    source: str
    text_hash: str
    chunks: tuple[Chunk, ...]
    own_token_counts: tuple[int, ...]


def text_hash(data: bytes) -> str:
    """How a document's bytes are known: their SHA-256."""
    return sha256(data).hexdigest()


def index_document(chunker: Chunker, source: str, text: str, language: str = "") -> IndexedDocument:
    """Chunk a document for an index; ``language`` as in :meth:`chunkast.Chunker.analyze`."""
    chunks = tuple(chunker.chunk(text, source, language))
    own = own_token_counts(chunks, chunker.counter.count)
    return IndexedDocument(source, text_hash(encode(text)), chunks, own)


def own_token_counts(chunks: Iterable[Chunk], count: Callable[[str], int]) -> tuple[int, ...]:
    """The tokens of each chunk's text without its overlap."""
    return tuple(
        count(chunk.text[chunk.overlap :]) if chunk.overlap else chunk.token_count
        for chunk in chunks
    )


@dataclass(slots=True)
class IndexReport:
    """What a run did to the index, in ids; ``digest`` is that of the state it left.

    See :class:`chunkast.WritePlan`; unchanged chunks are only counted. Of the
    ``documents`` given, ``written`` were new or had changed.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    embed: list[str] = field(default_factory=list)
    unchanged: int = 0
    documents: int = 0
    written: int = 0
    digest: str = ""

    def add(self, plan: WritePlan) -> None:
        """Take in the plan of one document."""
        self.added += plan.added
        self.changed += plan.changed
        self.removed += plan.removed
        self.embed += plan.embed

    def __str__(self) -> str:
        """The plan in one line."""
        return (
            f"added {len(self.added):,}, changed {len(self.changed):,}, "
            f"unchanged {self.unchanged:,}, removed {len(self.removed):,}"
        )


class _Document(NamedTuple):
    """A stored document."""

    number: int
    text_hash: str
    fingerprint: str


class _Known(NamedTuple):
    """A stored chunk, as plans need it."""

    id: str
    content_hash: str
    embed_hash: str
    number: int
    text: str
    headings: str


class Store:
    """An index on disk (or ":memory:"). Use it with ``with``, or call :meth:`close`.

    Readers see the last state that a writer finished, whatever a writer is doing.
    """

    def __init__(self, path: str, *, create: bool = False, read_only: bool = False) -> None:
        """Open the index at ``path``; with ``create`` a missing one is made.

        Raises ``StoreError`` when that cannot be done; see :func:`connect`.
        """
        self.path = path
        self._connection = connect(path, create=create, read_only=read_only)

    def __enter__(self) -> Store:  # noqa: PYI034  (typing.Self is newer than Python 3.10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # Writing

    def update(
        self, documents: Iterable[tuple[str, str]], chunker: Chunker, *, dry_run: bool = False
    ) -> IndexReport:
        """Make the index hold exactly these ``(source, text)`` documents, each source once.

        Documents that are there with the same text and configuration are not chunked
        again. With ``dry_run`` nothing is kept. Raises ``StoreError`` when the index
        cannot be written, ``ConfigError`` for a source that comes twice; then nothing is
        kept either.
        """
        with self.writing(chunker, dry_run=dry_run) as run:
            for source, text in documents:
                if run.knows(source, text_hash(encode(text))):
                    run.keep(source)
                else:
                    run.put(index_document(chunker, source, text))
            for source in run.absent():
                run.remove(source)
        return run.report

    @contextmanager
    def writing(
        self,
        chunker: Chunker,
        *,
        dry_run: bool = False,
        on_wait: Callable[[], None] = lambda: None,
    ) -> Iterator[Writing]:
        """One transaction: what is done inside is there at the end as a whole, or not at all.

        ``chunker`` is the one in use. Waits for another writer; ``on_wait`` is called if
        there is one.
        """
        connection = self._connection
        try:
            lock(connection, on_wait)
            try:
                run = Writing(connection, chunker)
                yield run
                run.finish()
                connection.execute("ROLLBACK" if dry_run else "COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise StoreError(self.path, str(error)) from error

    # Reading

    def chunks(self, source: str | None = None) -> Iterator[Chunk]:
        """All chunks, or those of one document, in order."""
        where = "" if source is None else "WHERE documents.source = ?"
        order = "ORDER BY documents.source, chunks.position"
        rows = self._rows(f"{_SELECT} {where} {order}", () if source is None else (source,))
        return map(_chunk, rows)

    def settings(self) -> dict[str, str]:
        """What the last writer noted of itself."""
        return dict(self._rows("SELECT name, value FROM settings"))

    def digest(self) -> str:
        """The hash of the state: see :func:`chunkast.digest`."""
        return _digest(self._connection)

    def search(self, query: str, budget: int = 2_000) -> list[Hit]:
        """The best chunks for ``query`` by BM25, best first, as long as ``budget`` lasts.

        ``budget`` counts tokens of the hits' texts, in the encoding that the index was
        made with. A hit whose neighbour before it is a hit too does not repeat its end.
        """
        with self._snapshot():
            return within_budget(ranked(self._connection, query), budget, self._at)

    def quote(self, quote: str) -> list[Citation]:
        """Every place of ``quote``, white space aside: see :func:`chunkast.locate_quote`."""
        return list(locate_quote(quote, self.chunks()))

    def _at(self, numbers: Collection[int]) -> Iterator[tuple[int, int, Chunk]]:
        """The chunks of these rows: row, tokens without the overlap, chunk."""
        marks = ", ".join("?" * len(numbers))
        rows = self._rows(
            f"{_SELECT.replace('SELECT', 'SELECT chunks.number, ', 1)} "
            f"WHERE chunks.number IN ({marks})",
            tuple(numbers),
        )
        own = 2 + _COLUMNS.index("own_token_count")
        return ((row[0], row[own], _chunk(row[1:])) for row in rows)

    def _rows(self, statement: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise StoreError(self.path, str(error)) from error

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """One state of the index for several statements."""
        try:
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreError(self.path, str(error)) from error


class Writing:
    """A transaction under way: see :meth:`Store.writing`."""

    def __init__(self, connection: sqlite3.Connection, chunker: Chunker) -> None:
        self._connection = connection
        encoding = chunker.counter.name
        self._config = config_values(chunker.config, encoding)
        self._fingerprint = fingerprint(chunker.config, encoding)
        self.report = IndexReport()
        self.settings = dict(connection.execute("SELECT name, value FROM settings"))
        self._stored = {
            row[0]: _Document(*row[1:])
            for row in connection.execute(
                "SELECT source, number, text_hash, fingerprint FROM documents"
            )
        }
        self._given: set[str] = set()
        self._chunks_before: int = connection.execute("SELECT count(*) FROM chunks").fetchone()[0]

    def knows(self, source: str, text_hash: str) -> bool:
        """Whether the document is there, from this text and this configuration."""
        known = self._stored.get(without_surrogates(source))
        return known is not None and known[1:] == (text_hash, self._fingerprint)

    def absent(self) -> list[str]:
        """The stored sources that were neither kept nor put, sorted."""
        return sorted(self._stored.keys() - self._given)

    def keep(self, source: str) -> None:
        """Leave a document as it is."""
        self._give(source)

    def put(self, document: IndexedDocument) -> None:
        """Store a document in place of what was stored of its source."""
        source = self._give(document.source)
        values = (document.text_hash, self._fingerprint, source)
        if source in self._stored:
            number = self._stored[source].number
            self._connection.execute(
                "UPDATE documents SET text_hash = ?, fingerprint = ? WHERE source = ?", values
            )
        else:
            number = _inserted(
                self._connection.execute(
                    "INSERT INTO documents (text_hash, fingerprint, source) VALUES (?, ?, ?)",
                    values,
                )
            )
        self.report.written += 1
        self._apply(number, document)

    def _give(self, source: str) -> str:
        """Count a document, each source once; the source as it is stored."""
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
        """Note what the index was made with, and complete the report."""
        self.settings["config"] = json.dumps(self._config, ensure_ascii=False, sort_keys=True)
        self._connection.executemany(
            "INSERT INTO settings VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            self.settings.items(),
        )
        report = self.report
        report.unchanged = self._chunks_before - len(report.changed) - len(report.removed)
        report.digest = _digest(self._connection)

    def _prior(self, document: int) -> list[_Known]:
        rows = self._connection.execute(
            "SELECT id, content_hash, embed_hash, number, text, headings FROM chunks "
            "WHERE document = ? ORDER BY position",
            (document,),
        )
        return [_Known(*row) for row in rows]

    def _apply(self, number: int, document: IndexedDocument | None) -> None:
        """Write the chunks that differ; the words of one only if its text or headings do."""
        current = document.chunks if document else ()
        own = document.own_token_counts if document else ()
        prior = self._prior(number)
        self.report.add(plan_writes(current, prior))
        known = {row.id: row for row in prior}
        execute = self._connection.execute
        for chunk, own_tokens in zip(current, own, strict=True):
            values = _values(chunk, own_tokens)
            words = (_json(chunk.headings), without_surrogates(chunk.text))
            row = known.pop(chunk.id, None)
            if row is None:
                self._enter(_inserted(execute(_INSERT, (number, *values))), words)
                continue
            execute(_UPDATE, (*values, row.number))
            if words != (row.headings, row.text):
                self._leave(row)
                self._enter(row.number, words)
        for row in known.values():
            self._leave(row)
            execute("DELETE FROM chunks WHERE number = ?", (row.number,))

    def _enter(self, number: int, words: tuple[str, str]) -> None:
        """Put headings (JSON) and text of a chunk into the full-text index."""
        self._connection.execute(_ENTER_WORDS, (number, *_words(*words)))

    def _leave(self, row: _Known) -> None:
        self._connection.execute(_REMOVE_WORDS, (row.number, *_words(row.headings, row.text)))


def _inserted(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _words(headings: str, text: str) -> tuple[str, str]:
    return terms(" ".join(json.loads(headings))), terms(text)


def _digest(connection: sqlite3.Connection) -> str:
    state = sha256()
    before = ""
    # Ids are all of one length, so this is the order of the lines as well.
    for id_, content in connection.execute(
        "SELECT id, content_hash FROM chunks ORDER BY id, content_hash"
    ):
        state.update(f"{before}{id_}:{content}".encode())
        before = "\n"
    return state.hexdigest()


def _values(chunk: Chunk, own_tokens: int) -> tuple[Any, ...]:
    """The row of a chunk: the values of ``_COLUMNS``."""
    embed = without_surrogates(chunk.embed_text)
    text = without_surrogates(chunk.text)
    at = embed.index(text)
    return (
        *(getattr(chunk, name) for name in _PLAIN),
        chunk.index,
        own_tokens,
        text,
        _json(chunk.headings),
        _json(chunk.kinds),
        embed[:at],
        embed[at + len(text) :],
        chunk.oversize,
        _json(chunk.metadata),
    )


def _json(value: Any) -> str:
    return without_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _chunk(row: tuple[Any, ...]) -> Chunk:
    source, *values = row
    stored = dict(zip(_COLUMNS, values, strict=True))
    return Chunk(
        **{name: stored[name] for name in _PLAIN},
        source=source,
        index=stored["position"],
        text=stored["text"],
        headings=tuple(json.loads(stored["headings"])),
        kinds=tuple(json.loads(stored["kinds"])),
        embed_text=stored["embed_before"] + stored["text"] + stored["embed_after"],
        oversize=bool(stored["oversize"]),
        metadata=json.loads(stored["metadata"]),
    )
