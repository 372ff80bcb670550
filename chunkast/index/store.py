"""The index: one SQLite file that stores documents, their chunks and a full-text index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from chunkast.errors import ConfigError, StoreError
from chunkast.identity import Citation, locate_quote
from chunkast.index import checks, schema
from chunkast.index.connection import DamagedFileError, DamageError, store_errors
from chunkast.index.parts import Span
from chunkast.index.ranking import ranked
from chunkast.index.rows import JOINED, read_row
from chunkast.index.search import ExpandedChunks, Hit, WholeChunks, hits, take_best
from chunkast.index.stored_documents import StoredDocuments
from chunkast.index.writing import IndexReport, Writing, document_hash, index_document
from chunkast.model import Chunk
from chunkast.sources.jupyter import Notebook
from chunkast.text.source_map import without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.reading import Outline, Passage

__all__ = ("Store",)


class Store:
    """An index of documents in a file, or in memory if the path is ":memory:".

    Use it in a ``with`` statement, or call :meth:`close`. Readers see the last state that a writer
    completed.
    """

    def __init__(self, path: str, *, create: bool = False, read_only: bool = False) -> None:
        """Open the index at ``path``; with ``create``, create it if it is missing.

        :meth:`close` removes a newly created index if nothing was written to it. Raises
        ``StoreError`` if the index cannot be opened; see :func:`connect`.
        """
        self.path = path
        self._made = create and path != ":memory:" and not Path(path).exists()
        self._writing = False
        # The state of the file that was last checked, and the last outline in that state.
        self._checked_state: int | None = None
        self._outlines: dict[tuple[str, Chunker | None], Outline] = {}
        # The error of a file that SQLite cannot open; the next write creates it again.
        self._damage: DamagedFileError | None = None
        try:
            self._connect(create=create, read_only=read_only)
        except DamagedFileError as error:
            if read_only or not schema.is_index(path):
                raise
            self._damage = error
            self._connection = schema.connect(":memory:", create=True)
        except BaseException:
            if self._made:
                schema.discard(path)
            raise

    def _connect(self, *, create: bool, read_only: bool = False) -> None:
        self._connection = schema.connect(self.path, create=create, read_only=read_only)
        self._file = self._file_there()

    def _file_there(self) -> tuple[int, int]:
        """Return the device and inode numbers of the file at ``path``, or 0 if there is none."""
        try:
            status = Path(self.path).stat()
        except FileNotFoundError:
            return 0, 0
        return status.st_dev, status.st_ino

    def __enter__(self) -> Store:  # noqa: PYI034  (typing.Self is newer than Python 3.10)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; remove it if it was newly created and nothing was written to it."""
        self._connection.close()
        if self._made:
            self._made = False
            schema.discard(self.path)

    # Writing

    def update(
        self,
        documents: Iterable[tuple[str, str | Notebook]],
        chunker: Chunker,
        *,
        dry_run: bool = False,
    ) -> IndexReport:
        """Make the index contain exactly the given documents, and return a report of the changes.

        ``documents`` are ``(source, text)`` pairs. A notebook may be used instead of a text; see
        :func:`chunkast.notebook.read_notebook`. Documents that are already stored with the
        same text and configuration are not chunked again. With ``dry_run``, nothing is stored.

        Raises ``StoreError`` if the index cannot be written, and ``ConfigError`` if a source occurs
        twice; in both cases, nothing is stored.
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
        """Run a transaction in a ``with`` block: store all its changes at the end, or none of them.

        ``chunker`` is the chunker that makes the chunks. If another process is writing, ``on_wait``
        is called, and the transaction waits. Raises ``StoreError`` if the index cannot be written.
        """
        self._writing = True
        self._checked_state = None
        try:
            with store_errors(self.path, self._connection):
                run = self._begin(chunker, on_wait, dry_run=dry_run)
            with store_errors(self.path, self._connection):
                yield run
                run.finish()
                self._connection.execute("ROLLBACK" if dry_run else "COMMIT")
        finally:
            self._writing = False
            if self._connection.in_transaction:
                with store_errors(self.path, self._connection):
                    self._connection.execute("ROLLBACK")
        if self._file != self._file_there():
            raise StoreError(self.path, "was removed while it was written; run this again")

    def _begin(self, chunker: Chunker, on_wait: Callable[[], None], *, dry_run: bool) -> Writing:
        """Begin a write transaction; empty a damaged or older index, but keep what can be read."""
        reasons: list[str] = []
        saved: list[checks.Saved] = []
        settings: dict[str, str] = {}
        whole = self._damage is None
        if whole:
            self._lock(on_wait)
            reasons = checks.rebuild_reasons(self._connection)
            settings = checks.settings_of(self._connection)
            if reasons:
                saved = checks.salvage(self._connection)
                settings.pop(checks.DIGEST, None)
                whole = schema.empty(self._connection)
        if not whole:
            self._replace_file(on_wait, dry_run=dry_run)
            reasons = reasons or ["SQLite cannot read it"]
        run = Writing(self._connection, chunker, settings, saved)
        run.report.faults = reasons
        return run

    def _replace_file(self, on_wait: Callable[[], None], *, dry_run: bool) -> None:
        """Create a file again that is too damaged to be written safely."""
        if dry_run:
            raise self._damage or DamageError("SQLite cannot write it safely")
        self._connection.close()
        schema.remove_files(self.path)
        self._damage = None
        self._connect(create=True)
        self._lock(on_wait)

    def _lock(self, on_wait: Callable[[], None]) -> None:
        """Begin a write transaction in the file that is currently at ``path``.

        If another process removes the opened file during the wait, because its own first run has
        failed, the index is created again.
        """
        schema.lock(self._connection, on_wait)
        while self._file != self._file_there():
            self._connection.close()
            self._connect(create=True)
            schema.lock(self._connection, on_wait)

    def faults(self) -> list[str]:
        """Check the whole index and return a list of its faults, one sentence each.

        The list is empty if the index is as the last run stored it. :meth:`update` rebuilds a
        damaged index.
        """
        with self._snapshot(check=False):
            return checks.faults(self._connection)

    # Reading

    # All these methods raise ``StoreError`` for a file that is damaged or cannot be read.

    def chunks(self, source: str | None = None) -> Iterator[Chunk]:
        """Yield all chunks in order, or only the chunks of the document ``source``."""
        self._check_version()
        with store_errors(self.path, self._connection):
            self._check()
            names = [] if source is None else [without_surrogates(source)]
            query = f"{JOINED} {'WHERE source = ?' if names else ''} ORDER BY source, position"
            for row in self._connection.execute(query, names):
                yield read_row(row)[2]

    def chunk(self, chunk_id: str) -> Chunk:
        """Return the chunk with this id; raises ``StoreError`` if there is none."""
        with self._snapshot():
            return self._documents().chunk(chunk_id)

    def settings(self) -> dict[str, str]:
        """Return the configuration and the digest of the last run, or an empty dict."""
        with self._snapshot():
            return dict(self._connection.execute("SELECT name, value FROM settings"))

    def remembered(self) -> dict[str, str]:
        """Return the settings that can be read, even from a damaged or older index."""
        return {} if self._damage else checks.settings_of(self._connection)

    def digest(self) -> str:
        """Return the digest of all stored chunks: see :func:`chunkast.digest`."""
        with self._snapshot():
            return checks.digest_of(self._connection)

    def search(
        self,
        query: str,
        budget: int = 2_000,
        *,
        limit: int | None = None,
        within: str | None = None,
        expand: int | None = None,
        chunker: Chunker | None = None,
    ) -> list[Hit]:
        """Return the best hits for ``query`` that fit a token budget, best first.

        Chunks are ranked by BM25, and titles have more weight than text. A hit omits its overlap if
        the previous chunk is also a hit. Of a chunk that exceeds the remaining budget, the part
        around the best match is returned: see :attr:`Hit.part`.

        query: the words to search for.
        budget: the maximum number of tokens in all hits together, in the encoding of the index.
        limit: the maximum number of hits; ``None`` for any number.
        within: a glob pattern for the sources to search, such as "docs/*".
        expand: the maximum number of tokens to which each hit is expanded, without text that a
            better hit contains; see :meth:`Outline.expand`.
        chunker: the chunker that counts the tokens of expanded hits and of parts; by default
            :meth:`chunker`. An index made with a counter in Python has no parts without it.
        """
        with self._snapshot():
            stored = self._documents()
            find_parts = partial(stored.parts, query, chunker)
            selection = WholeChunks(find_parts)
            if expand is not None:
                outline_of = partial(stored.outline, chunker=chunker or stored.chunker())
                selection = ExpandedChunks(find_parts, outline_of, expand)
            take_best(ranked(self._connection, query, within), budget, limit, selection)
            return list(hits(selection, query, stored.anchor))

    def part(
        self, chunk: Chunk, query: str, max_tokens: int, *, chunker: Chunker | None = None
    ) -> Passage | None:
        """Return the part of a stored chunk that matches ``query`` best, as :meth:`search` does.

        The part has at most ``max_tokens`` tokens, counted by ``chunker`` or as in the index.
        Returns ``None`` if no whole block or sentence fits, or if the index was made with a counter
        in Python and there is no ``chunker``.
        """
        with self._snapshot():
            parts = self._documents().parts(query, chunker)
            own = Span(chunk.start_index + chunk.overlap, chunk.end_index)
            return None if parts is None else parts.best(chunk, own, max_tokens)

    def chunker(self, **options: Any) -> Chunker:
        """Return a chunker that parses documents and counts tokens in the same way as the index.

        ``options`` override the index's configuration. If the index was made with a counter other
        than tiktoken's, ``encoding`` is required. Raises ``ConfigError`` for invalid values.
        """
        with self._snapshot():
            return self._documents().chunker(**options)

    @overload
    def outline(self) -> dict[str, int]: ...

    @overload
    def outline(
        self, source: str, depth: int | None = None, *, chunker: Chunker | None = None
    ) -> Outline: ...

    def outline(
        self,
        source: str | None = None,
        depth: int | None = None,
        *,
        chunker: Chunker | None = None,
    ) -> Outline | dict[str, int]:
        """Return the outline of a stored document, which can read sections and expand hits.

        Without ``source``, return a mapping from each document's source to its token count.
        ``depth`` is the deepest heading level to include. ``chunker`` parses the document and
        counts its tokens; the default is :meth:`chunker`. Raises ``StoreError`` if the document or
        its text is not stored, or if the document is a notebook.
        """
        with self._snapshot():
            stored = self._documents()
            if source is None:
                return stored.costs()
            if (source, chunker) not in self._outlines:
                text = stored.text(source)
                outline = (chunker or stored.chunker()).outline(text, source)
                self._outlines = {(source, chunker): outline}
            return self._outlines[source, chunker].down_to(depth)

    def text(self, source: str) -> str:
        """Return the text of a stored document; raises ``StoreError`` like :meth:`outline`."""
        with self._snapshot():
            return self._documents().text(source)

    def read(
        self,
        source: str | None = None,
        section: str | int | Sequence[str] | None = None,
        *,
        lines: tuple[int, int] | None = None,
        chunk_id: str | None = None,
        max_tokens: int | None = None,
        chunker: Chunker | None = None,
    ) -> Passage:
        """Return a section or a range of lines of a stored document: see :meth:`Outline.read`.

        With ``chunk_id``, return that chunk instead, expanded to at most ``max_tokens`` tokens: see
        :meth:`Outline.expand`.
        """
        if chunk_id is None:
            if source is None:
                raise ConfigError("source", source, "must be a document's name, or give chunk_id")
            outline = self.outline(source, chunker=chunker)
            return outline.read(section, lines=lines, max_tokens=max_tokens)
        chunk = self.chunk(chunk_id)
        outline = self.outline(chunk.source or "", chunker=chunker)
        return outline.expand(chunk, chunk.token_count if max_tokens is None else max_tokens)

    def _documents(self) -> StoredDocuments:
        return StoredDocuments(self.path, self._connection, self._completed())

    def quote(self, quote: str) -> list[Citation]:
        """Return a citation of each occurrence of ``quote``: see :func:`chunkast.locate_quote`."""
        with self._snapshot():
            marks = checks.json_setting(self._completed(), "config").get("page_markers")
            return list(locate_quote(quote, self.chunks(), page_markers=marks))

    def _completed(self) -> dict[str, str]:
        """Return the stored settings, or raise ``StoreError`` if no run has completed the index."""
        settings = dict(self._connection.execute("SELECT name, value FROM settings"))
        if checks.DIGEST not in settings:
            raise StoreError(
                self.path,
                f"no run has completed it; 'chunkast index PATHS --db {self.path}' completes it",
            )
        return settings

    def _check_version(self) -> None:
        if self._damage is not None:
            raise self._damage
        version = schema.version_of(self._connection)
        if version != schema.VERSION:
            raise schema.outdated(self.path, version)

    def _check(self) -> None:
        """Raise an error unless the index can be read.

        Each state of the file is checked only once, so that further calls are fast.
        """
        (state,) = self._connection.execute("PRAGMA data_version").fetchone()
        if state == self._checked_state or self._writing:
            return
        if fault := checks.quick_fault(self._connection):
            raise DamageError(fault)
        self._checked_state = state
        self._outlines.clear()

    @contextmanager
    def _snapshot(self, *, check: bool = True) -> Iterator[None]:
        """Let all statements in a ``with`` block read the same state of the index."""
        self._check_version()
        with store_errors(self.path, self._connection):
            self._connection.execute("BEGIN")
            try:
                if check:
                    self._check()
                yield
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("COMMIT")
