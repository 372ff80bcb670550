"""The index: documents, their chunks and the words in them, in one SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from chunkast.errors import StoreError
from chunkast.identity import Citation, locate_quote
from chunkast.index.checks import (
    check_rows,
    check_settings,
    check_words,
    digest_of,
    document_named,
    faults,
)
from chunkast.index.connection import store_errors
from chunkast.index.rows import SELECT, DamageError, read_row
from chunkast.index.schema import connect, discard, lock
from chunkast.index.search import Hit, ranked, within_budget
from chunkast.index.writing import IndexReport, Writing, document_hash, index_document
from chunkast.model import Chunk
from chunkast.notebook import Notebook
from chunkast.text.source_map import without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = ("Store",)

_JOINED: Final = f"{SELECT} JOIN documents ON documents.number = chunks.document"
# Where a row of ``SELECT`` has its checksum.
_CHECKSUM: Final = 1


class Store:
    """An index on disk (or ":memory:"). Use it with ``with``, or call :meth:`close`.

    Readers see the last state that a writer finished, whatever a writer is doing.
    """

    def __init__(self, path: str, *, create: bool = False, read_only: bool = False) -> None:
        """Open the index at ``path``; with ``create`` a missing one is made.

        One that was made here and into which nothing was written is removed by
        :meth:`close`. Raises ``StoreError`` when it cannot be opened; see :func:`connect`.
        """
        self.path = path
        self._made = create and path != ":memory:" and not Path(path).exists()
        self._writing = False
        # The state in which the full-text index was last found whole.
        self._words_whole: int | None = None
        try:
            self._connect(create=create, read_only=read_only)
        except BaseException:
            if self._made:
                discard(path)
            raise

    def _connect(self, *, create: bool, read_only: bool = False) -> None:
        self._connection = connect(self.path, create=create, read_only=read_only)
        self._file = self._file_there()

    def _file_there(self) -> tuple[int, int] | None:
        """Which file has the name now; nothing for ":memory:"."""
        if self.path == ":memory:":
            return None
        try:
            found = Path(self.path).stat()
        except FileNotFoundError:
            return 0, 0
        return found.st_dev, found.st_ino

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
        """Close the file."""
        self._connection.close()
        if self._made:
            self._made = False
            discard(self.path)

    # Writing

    def update(
        self,
        documents: Iterable[tuple[str, str | Notebook]],
        chunker: Chunker,
        *,
        dry_run: bool = False,
    ) -> IndexReport:
        """Make the index hold exactly these ``(source, text)`` documents, each source once.

        A notebook (:func:`chunkast.notebook.read_notebook`) may stand in place of a text.

        Documents that are there with the same text and configuration are not chunked
        again. With ``dry_run`` nothing is kept. Raises ``StoreError`` when the index
        cannot be written, ``ConfigError`` for a source that comes twice; then nothing is
        kept either.
        """
        with self.writing(chunker, dry_run=dry_run) as run:
            for source, document in documents:
                if run.knows(source, document_hash(document)):
                    run.keep(source)
                else:
                    run.put(index_document(chunker, source, document))
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
        with store_errors(self.path, self._connection):
            self._lock(on_wait)
        connection = self._connection
        self._writing = True
        self._words_whole = None
        try:
            with store_errors(self.path, connection):
                run = Writing(connection, chunker)
                yield run
                run.finish()
                connection.execute("ROLLBACK" if dry_run else "COMMIT")
        finally:
            self._writing = False
            if connection.in_transaction:
                with store_errors(self.path, connection):
                    connection.execute("ROLLBACK")
        if self._file != self._file_there():
            raise StoreError(self.path, "was removed while it was written; run this again")

    def _lock(self, on_wait: Callable[[], None]) -> None:
        """Begin a transaction in the file that has the name now.

        A first run that fails removes the file that it made, also where this one has opened
        it and waits.
        """
        lock(self._connection, on_wait)
        while self._file != self._file_there():
            self._connection.execute("ROLLBACK")
            self._connection.close()
            self._connect(create=True)
            lock(self._connection, on_wait)

    def faults(self) -> list[str]:
        """Everything that is damaged, a sentence each, after all of it was read and compared.

        None: the index is what the last run left. :meth:`update` mends what can be mended.
        """
        with self._snapshot():
            return faults(self._connection)

    # Reading

    # What a damaged file gives in place of what was stored is a ``StoreError`` that says so.

    def chunks(self, source: str | None = None) -> Iterator[Chunk]:
        """All chunks, or those of one document, in order."""
        with store_errors(self.path, self._connection):
            yield from self._all() if source is None else self._of(source)

    def settings(self) -> dict[str, str]:
        """What the last writer noted of itself; empty if no run was completed."""
        with store_errors(self.path, self._connection):
            found = dict(self._connection.execute("SELECT name, value FROM settings"))
            if found:
                check_settings(found)
            return found

    def digest(self) -> str:
        """The hash of the state: see :func:`chunkast.digest`."""
        with store_errors(self.path, self._connection):
            return digest_of(self._connection)

    def search(self, query: str, budget: int = 2_000) -> list[Hit]:
        """The best chunks for ``query`` by BM25, best first, as long as ``budget`` lasts.

        ``budget`` counts tokens of the hits' texts, in the encoding that the index was
        made with. A hit whose neighbour before it is a hit too does not repeat its end.
        """
        with self._snapshot():
            self._check_words()
            return within_budget(ranked(self._connection, query), budget, self._at)

    def quote(self, quote: str) -> list[Citation]:
        """Every place of ``quote``, white space aside: see :func:`chunkast.locate_quote`."""
        with self._snapshot():
            self._completed()
            return list(locate_quote(quote, self._all()))

    def _completed(self) -> dict[str, str]:
        """The settings of an index that a run has completed."""
        settings = self.settings()
        if not settings:
            raise StoreError(
                self.path, "no run has completed it; 'chunkast index DIR --db FILE' does"
            )
        return settings

    def _check_words(self) -> None:
        """The full-text index as a whole: what is damaged in it may hide any chunk.

        Once for a state of the file, so that further searches cost nothing more.
        """
        settings = self._completed()
        (state,) = self._connection.execute("PRAGMA data_version").fetchone()
        if state != self._words_whole:
            check_words(self._connection, settings)
            self._words_whole = state

    def _all(self) -> Iterator[Chunk]:
        rows = self._connection.execute(f"{_JOINED} ORDER BY documents.source, chunks.position")
        # As long as a statement is under way, others read the same state.
        settings = {} if self._writing else self.settings()
        count = total = 0
        for row in rows:
            _, _, chunk = read_row(row)
            count += 1
            total += row[_CHECKSUM]
            yield chunk
        check_rows(settings, count, total)

    def _of(self, source: str) -> Iterator[Chunk]:
        stored = without_surrogates(source)
        rows = self._connection.execute(
            f"{_JOINED} WHERE documents.source = ? ORDER BY chunks.position", (stored,)
        )
        expected = document_named(
            self._connection, stored, {} if self._writing else self.settings()
        )
        count = 0
        for row in rows:
            count += 1
            yield read_row(row)[2]
        if count != expected:
            raise DamageError(f"{source}: {count} of {expected} chunks are there")

    def _at(self, numbers: Collection[int]) -> Iterator[tuple[int, int, Chunk]]:
        """The chunks of these rows: row, tokens without the overlap, chunk."""
        marks = ", ".join("?" * len(numbers))
        rows = self._connection.execute(
            f"{_JOINED} WHERE chunks.number IN ({marks})", tuple(numbers)
        )
        return map(read_row, rows)

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """One state of the index for several statements."""
        with store_errors(self.path, self._connection):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("COMMIT")
