"""The index: documents, their chunks and the words in them, in one SQLite file."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from chunkast.config import ChunkConfig
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
from chunkast.index.schema import connect, discard, lock, upgrade
from chunkast.index.search import Hit, ranked, within_budget
from chunkast.index.writing import IndexReport, Writing, document_hash, index_document, text_hash
from chunkast.model import Chunk
from chunkast.sources.notebook import Notebook, is_notebook
from chunkast.text.source_map import encode, without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.reading import Outline, Passage

__all__ = ("Store",)

_JOINED: Final = f"{SELECT} JOIN documents ON documents.number = chunks.document"
# The options of an index that decide how a document is read and counted.
_READING: Final = (
    "encoding",
    "extensions",
    "pseudo_headings",
    "heading_levels",
    "page_markers",
)
# The place of the checksum in a row of ``SELECT``.
_CHECKSUM_COLUMN: Final = 1


class Store:
    """An index on disk (or ":memory:"). Use it with ``with``, or call :meth:`close`.

    Readers see the last state that a writer completed.
    """

    def __init__(self, path: str, *, create: bool = False, read_only: bool = False) -> None:
        """Open the index at ``path``; with ``create`` a missing one is created.

        If it was created here and nothing was written to it, :meth:`close` removes it. Raises
        ``StoreError`` when it cannot be opened; see :func:`connect`.
        """
        self.path = path
        self._made = create and path != ":memory:" and not Path(path).exists()
        self._writing = False
        # The state in which the full-text index was last checked.
        self._checked_state: int | None = None
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
        """Identify the file that has the name now; ``None`` for ":memory:"."""
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
        """Make the index contain exactly these ``(source, text)`` documents.

        A notebook (:func:`chunkast.sources.notebook.read_notebook`) may be used instead of a text.

        Documents that are stored with the same text and configuration are not chunked again.
        With ``dry_run`` nothing is stored. Raises ``StoreError`` when the index cannot be
        written, ``ConfigError`` for a source that occurs twice; then nothing is stored either.
        """
        with self.writing(chunker, dry_run=dry_run) as run:
            for source, document in documents:
                if run.knows(source, document_hash(document)):
                    run.keep(source)
                    continue
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
        """Run one transaction: all changes inside are stored at the end, or nothing.

        ``chunker`` is the one that makes the chunks. Waits for another writer; ``on_wait`` is
        called if there is one. Raises ``StoreError`` when the index cannot be written.
        """
        with store_errors(self.path, self._connection):
            self._lock(on_wait)
        connection = self._connection
        self._writing = True
        self._checked_state = None
        try:
            with store_errors(self.path, connection):
                upgraded = upgrade(connection)
                run = Writing(connection, chunker, new_words=upgraded)
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

        A first run that fails removes the file that it created, even if another process has
        opened it and waits.
        """
        lock(self._connection, on_wait)
        while self._file != self._file_there():
            self._connection.execute("ROLLBACK")
            self._connection.close()
            self._connect(create=True)
            lock(self._connection, on_wait)

    def faults(self) -> list[str]:
        """Everything that is damaged, a sentence each, after reading and comparing all of it.

        Empty if the index is what the last run stored. :meth:`update` repairs what can be
        repaired.
        """
        with self._snapshot():
            return faults(self._connection)

    # Reading

    # All of these raise ``StoreError`` for a file that is damaged or cannot be read.

    def chunks(self, source: str | None = None) -> Iterator[Chunk]:
        """All chunks, or those of one document, in order."""
        with store_errors(self.path, self._connection):
            yield from self._all() if source is None else self._of(source)

    def settings(self) -> dict[str, str]:
        """The configuration and checksums of the last run; empty if no run was completed."""
        with store_errors(self.path, self._connection):
            found = dict(self._connection.execute("SELECT name, value FROM settings"))
            if found:
                check_settings(found)
            return found

    def digest(self) -> str:
        """The hash of the state: see :func:`chunkast.digest`."""
        with store_errors(self.path, self._connection):
            return digest_of(self._connection)

    def search(
        self,
        query: str,
        budget: int = 2_000,
        *,
        limit: int | None = None,
        within: str | None = None,
    ) -> list[Hit]:
        """Return the best chunks for ``query``, best first, within ``budget``.

        They are ranked by BM25; titles weigh more than text. ``budget`` is the most tokens of the
        hits' texts together, in the encoding of the index, ``limit`` the most hits, ``within`` a
        glob for the sources to search, such as "docs/*". A hit whose previous chunk is a hit too
        does not repeat its end.
        """
        with self._snapshot():
            self._check_words()
            found = ranked(self._connection, query, within)
            return within_budget(query, found, budget, limit, self._at)

    def documents(self) -> dict[str, int]:
        """Return the source of each document with the tokens of its chunks, overlap aside."""
        with self._snapshot():
            self._completed()
            rows = self._connection.execute(
                "SELECT source, coalesce(sum(own_token_count), 0) FROM documents "
                "LEFT JOIN chunks ON chunks.document = documents.number "
                "GROUP BY documents.number ORDER BY source"
            )
            return dict(rows.fetchall())

    def outline(self, source: str, chunker: Chunker | None = None) -> Outline:
        """Return the outline of a stored document, to read it and to expand hits.

        ``chunker`` counts and parses; by default one with the options of the index, which needs a
        tiktoken encoding. Raises ``StoreError`` if the document is not stored, or without its text,
        and for a notebook.
        """
        from chunkast.chunker import Chunker

        text = self._text_of(source)
        if chunker is None:
            config = json.loads(self._completed()["config"])
            chunker = Chunker(ChunkConfig.of({name: config[name] for name in _READING}))
        return chunker.outline(text, source)

    def read(
        self,
        source: str,
        section: str | int | Sequence[str] | None = None,
        *,
        lines: tuple[int, int] | None = None,
        max_tokens: int | None = None,
        chunker: Chunker | None = None,
    ) -> Passage:
        """Return a section of a stored document, or some lines: see :meth:`Outline.read`."""
        outline = self.outline(source, chunker)
        return outline.read(section, lines=lines, max_tokens=max_tokens)

    def _text_of(self, source: str) -> str:
        stored = without_surrogates(source)
        with self._snapshot():
            self._completed()
            row = self._connection.execute(
                "SELECT text, text_hash FROM documents WHERE source = ?", (stored,)
            ).fetchone()
            if row is not None and row[0] is not None and text_hash(encode(row[0])) != row[1]:
                raise DamageError(f"the text of {source} is damaged")
        if row is None:
            near = get_close_matches(stored, self.documents(), n=3)
            raise StoreError(
                self.path,
                f"has no document {source!r}{'; nearest: ' if near else ''}{', '.join(near)}",
            )
        if row[0] is None:
            raise StoreError(
                self.path, f"has no text of {source!r} yet; the next 'chunkast index' stores it"
            )
        if is_notebook(source):
            raise StoreError(self.path, f"{source} is a notebook, which has no outline")
        return str(row[0])

    def quote(self, quote: str) -> list[Citation]:
        """Every place of ``quote``, apart from white space: see :func:`chunkast.locate_quote`."""
        with self._snapshot():
            config = json.loads(self._completed()["config"])
            marks = config.get("page_markers")
            return list(locate_quote(quote, self._all(), page_markers=marks))

    def _completed(self) -> dict[str, str]:
        """The settings of an index that a run has completed."""
        settings = self.settings()
        if not settings:
            raise StoreError(
                self.path, "no run has completed it; 'chunkast index DIR --db FILE' does"
            )
        return settings

    def _check_words(self) -> None:
        """Check the whole full-text index: damage in it may hide any chunk.

        Once for a state of the file, so that further searches take no longer.
        """
        settings = self._completed()
        (state,) = self._connection.execute("PRAGMA data_version").fetchone()
        if state != self._checked_state:
            check_words(self._connection, settings)
            self._checked_state = state

    def _all(self) -> Iterator[Chunk]:
        rows = self._connection.execute(f"{_JOINED} ORDER BY documents.source, chunks.position")
        # While a statement is running, others read the same state.
        settings = {} if self._writing else self.settings()
        count = total = 0
        for row in rows:
            _, _, chunk = read_row(row)
            count += 1
            total += row[_CHECKSUM_COLUMN]
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
