"""The index: one SQLite file that stores documents, their chunks and a full-text index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from struct import unpack
from typing import TYPE_CHECKING, Any, overload

from chunkast.errors import ConfigError, StoreError, check_count
from chunkast.files.database import index_command
from chunkast.identity import Citation, locate_quote
from chunkast.index import checks, schema, stored_vectors
from chunkast.index.connection import DamageError, store_errors
from chunkast.index.embedding import Embed, embedded
from chunkast.index.nearest import Matrix, fused
from chunkast.index.ranking import Candidate, ranked
from chunkast.index.rows import read_rows
from chunkast.index.search import ExpandedChunks, Hit, WholeChunks, hits, take_best
from chunkast.index.stored_documents import StoredDocuments
from chunkast.index.stored_vectors import MODEL, size_of
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

        Raises ``StoreError`` if the index cannot be opened; see :func:`connect`.
        """
        self.path = path
        # The state of the file that was last checked, and the last outline in that state.
        self._checked_state: int | None = None
        self._outlines: dict[tuple[str, Chunker | None], Outline] = {}
        # The vectors in that state, once a search has read them.
        self._matrix: Matrix | None = None
        self._connection = schema.connect(path, create=create, read_only=read_only)

    def __enter__(self) -> Store:  # noqa: PYI034  (typing.Self is newer than Python 3.10)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        self._connection.close()

    # Writing

    def update(
        self,
        documents: Iterable[tuple[str, str | Notebook]],
        chunker: Chunker,
        *,
        dry_run: bool = False,
        remove_missing: bool = True,
        embed: Embed | None = None,
        model: str | None = None,
    ) -> IndexReport:
        """Make the index contain exactly the given documents, and return a report of the changes.

        documents: ``(source, text)`` pairs. A notebook may be used instead of a text; see
            :func:`chunkast.notebook.read_notebook`. Documents that are already stored with the same
            text and configuration are not chunked again.
        dry_run: store nothing, and do not call ``embed``.
        remove_missing: remove all other documents; if false, leave them alone.
        embed: a function that embeds texts: see :meth:`embed_missing`. It is called once all
            documents are stored.
        model: the name of the embedding model, which the index remembers; by default the
            remembered one. A model that is new to the index has no vectors yet.

        Raises ``StoreError`` if the index cannot be written, and ``ConfigError`` if a source occurs
        twice; in both cases, nothing is stored. Raises ``ConfigError`` for ``embed`` without a
        model. Raises ``StoreError`` if ``embed`` fails; the documents are stored then.
        """
        self._check_model(embed, model)
        with self.writing(chunker, dry_run=dry_run, model=model) as run:
            for source, document in documents:
                if run.knows(source, document_hash(document)):
                    run.keep(source)
                    continue
                run.put(index_document(chunker, source, document))
            for source in run.absent() if remove_missing else ():
                run.remove(source)
        if embed is not None and not dry_run:
            run.report.embedded = self.embed_missing(embed)
        return run.report

    def remove(self, sources: Iterable[str]) -> IndexReport:
        """Remove documents, and return a report of the changes.

        Raises ``StoreError`` if a document is not in the index, or if the index is damaged; in both
        cases, nothing is removed.
        """
        if isinstance(sources, str):
            raise ConfigError("sources", sources, "must be a list of sources")
        removed = dict.fromkeys(map(without_surrogates, sources))
        with self._snapshot():
            self._completed()
        with self.writing(None) as run:
            known = set(run.absent())
            for source in removed:
                if source not in known:
                    raise StoreError(self.path, f"has no document {source!r}")
                run.remove(source)
        return run.report

    def embed_missing(
        self,
        embed: Embed,
        *,
        batch_size: int = 64,
        on_batch: Callable[[int], object] = lambda _: None,
    ) -> int:
        """Embed all texts that have no vector of the index's model; return their number.

        embed: a function that takes a list of 1 to ``batch_size`` different texts, and returns as
            many vectors, in order: lists, tuples or the rows of an array.
        batch_size: the maximum number of texts to embed at once.
        on_batch: called with the number of texts in a batch, once their vectors are stored.

        Each batch is stored before the next is embedded. Raises ``StoreError`` if ``embed`` fails,
        or returns anything but vectors of the index's size; that batch is not stored.
        """
        check_count("batch_size", batch_size)
        self._check_model(embed, None)
        with self._snapshot():
            model = self._completed()[MODEL]
            numbers = [*stored_vectors.missing(self._connection, model).values()]
        count = 0
        for start in range(0, len(numbers), batch_size):
            texts, size = self._texts(numbers[start : start + batch_size], model)
            if not texts:
                continue
            results = embedded(embed, [*texts.values()], size, self.path)
            with self._changing():
                stored_vectors.add(self._connection, model, dict(zip(texts, results, strict=True)))
            count += len(texts)
            on_batch(len(texts))
        return count

    def _texts(self, numbers: Sequence[int], model: str) -> tuple[dict[str, str], int]:
        """Return the texts of some chunks without a vector, by hash, and the size of vectors.

        Another process may have changed, removed or embedded the chunks.
        """
        marks = ", ".join("?" * len(numbers))
        query = (
            f"WHERE chunks.number IN ({marks}) AND NOT EXISTS (SELECT 1 FROM text_vectors "  # noqa: S608
            "WHERE model = ? AND embed_hash = chunks.embed_hash) ORDER BY chunks.number"
        )
        # Each row is checked as it is read; checking the whole file for each batch takes too long.
        with self._snapshot(check=False):
            rows = read_rows(self._connection, query, (*numbers, model))
            chunks = [chunk for _, _, chunk in rows]
            size = size_of(self._connection, model)
        return {each.embed_hash: each.embed_text for each in chunks}, size

    def prune_vectors(self) -> int:
        """Delete the vectors of removed texts and of other models, and return their number."""
        with self._snapshot():
            model = self._completed().get(MODEL, "")
        with self._changing():
            return stored_vectors.prune(self._connection, model)

    def _check_model(self, embed: Embed | None, model: str | None) -> None:
        """Raise ``ConfigError`` for an invalid model, and for ``embed`` without a known model."""
        if embed is not None and not callable(embed):
            raise ConfigError("embed", embed, "must be a function that takes a list of texts")
        known = model or (None if embed is None else self.remembered().get(MODEL))
        if not isinstance(known, str) and (embed or model is not None):
            raise ConfigError("model", model, "must be the name of the embedding model")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Run a transaction that changes vectors in a ``with`` block."""
        self._matrix = None
        with store_errors(self.path):
            schema.lock(self._connection)
            with self._connection:
                yield

    @contextmanager
    def writing(
        self,
        chunker: Chunker | None,
        *,
        dry_run: bool = False,
        model: str | None = None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> Iterator[Writing]:
        """Run a transaction in a ``with`` block: store all its changes at the end, or none of them.

        ``chunker`` is the chunker that makes the chunks; without one, documents can only be
        removed. ``model`` is the name of the embedding model, if it changes. If another process is
        writing, ``on_wait`` is called, and the transaction waits. Raises ``StoreError`` if the index
        cannot be written.
        """
        self._checked_state = None
        try:
            with store_errors(self.path):
                run = self._begin(chunker, on_wait)
                if model:
                    run.settings[MODEL] = without_surrogates(model)
                yield run
                run.finish()
                if not dry_run:
                    self._connection.commit()
        finally:
            self._connection.rollback()

    def _begin(self, chunker: Chunker | None, on_wait: Callable[[], None]) -> Writing:
        """Begin a write transaction; empty a damaged or older index, but keep what can be read.

        Raises ``DamageError`` for such an index without a chunker, which has to chunk it again.
        """
        schema.lock(self._connection, on_wait)
        reasons = checks.rebuild_reasons(self._connection)
        if reasons and chunker is None:
            raise DamageError(reasons[0])
        settings = checks.settings_of(self._connection)
        saved: list[checks.Saved] = []
        if reasons:
            saved = checks.salvage(self._connection)
            vectors = checks.salvage_vectors(self._connection)
            settings.pop(checks.DIGEST, None)
            schema.empty(self._connection)
            stored_vectors.put(self._connection, vectors)
        run = Writing(self._connection, chunker, settings, saved)
        run.report.faults = reasons
        return run

    def faults(self) -> list[str]:
        """Check the whole index and return a list of its faults, one sentence each.

        The list is empty if the index is as the last run stored it. :meth:`update` rebuilds a
        damaged index. With SQLite before 3.44, the full-text index is only checked if the file can
        be written and no other process is writing.
        """
        with self._snapshot(check=False):
            return checks.faults(self._connection)

    # Reading

    # All these methods raise ``StoreError`` for a file that is damaged or cannot be read.

    def chunks(self, source: str | None = None) -> Iterator[Chunk]:
        """Yield all chunks in order, or only the chunks of the document ``source``."""
        self._check_version()
        with store_errors(self.path):
            if not self._connection.in_transaction:
                self._check()
            names = [] if source is None else [without_surrogates(source)]
            query = f"{'WHERE source = ?' if names else ''} ORDER BY source, position"
            for _, _, chunk in read_rows(self._connection, query, names):
                yield chunk

    def chunk(self, chunk_id: str) -> Chunk:
        """Return the chunk with this id; raises ``StoreError`` if there is none."""
        with self._snapshot():
            self._completed()
            query = "WHERE chunks.id = ? ORDER BY chunks.number"
            for _, _, chunk in read_rows(self._connection, query, (without_surrogates(chunk_id),)):
                return chunk
            raise StoreError(self.path, f"has no chunk {chunk_id!r}")

    def settings(self) -> dict[str, str]:
        """Return the configuration and the digest of the last run, or an empty dict."""
        with self._snapshot():
            return dict(self._connection.execute("SELECT name, value FROM settings"))

    def remembered(self) -> dict[str, str]:
        """Return the settings that can be read, even from a damaged or older index."""
        return checks.settings_of(self._connection)

    def digest(self) -> str:
        """Return the digest of all stored chunks: see :func:`chunkast.digest`."""
        with self._snapshot():
            return checks.digest_of(self._connection)

    def vectors(self) -> Iterator[tuple[str, tuple[float, ...]]]:
        """Yield the ``embed_hash`` of each embedded text, and its vector of the index's model."""
        with self._snapshot():
            model = self._completed().get(MODEL, "")
            stored = [*stored_vectors.vectors(self._connection, model)]
        for vector in stored:
            yield vector.embed_hash, unpack(f"<{len(vector.data) // 4}f", vector.data)

    def embedding_model(self) -> tuple[str, int]:
        """Return the name of the index's model and the size of its vectors.

        The name is empty if the index has no model, and the size is 0 if it has no vectors.
        """
        with self._snapshot():
            model = self._completed().get(MODEL, "")
            return model, size_of(self._connection, model)

    def search(
        self,
        query: str,
        budget: int = 2_000,
        *,
        vector: Iterable[float] | None = None,
        limit: int | None = None,
        within: str | None = None,
        expand: int | None = None,
        chunker: Chunker | None = None,
    ) -> list[Hit]:
        """Return the best hits for ``query`` that fit a token budget, best first.

        Chunks are ranked by BM25, and titles have more weight than text. With ``vector``, the best
        100 chunks are joined with the 100 whose vectors are nearest, by reciprocal rank fusion. Hits
        have no overlap. Of a chunk that exceeds the remaining budget, the part around the best match
        is returned: see :attr:`Hit.part`. Copies are one hit: see :attr:`Hit.also`.

        query: the words to search for.
        budget: the maximum number of tokens in all hits together, in the encoding of the index.
        vector: the vector of the query, by the model of the index. If the index has no vectors,
            the search is by words alone.
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
                outline_of = cache(partial(stored.outline, chunker=chunker or stored.chunker({})))
                selection = ExpandedChunks(find_parts, outline_of, expand)
            ranking = self._ranked(query, vector, within)
            also = take_best(ranking, budget, limit, selection)
            return list(hits(selection, query, also))

    def _ranked(
        self,
        query: str,
        vector: Iterable[float] | None,
        within: str | None,
    ) -> Iterable[Candidate]:
        """Return the chunks for a query, best first, ranked by words or by words and vectors."""
        within = None if within is None else without_surrogates(within)
        by_words = ranked(self._connection, query, within)
        model = self._completed().get(MODEL, "")
        if vector is None or not size_of(self._connection, model):
            return by_words
        if self._matrix is None or self._matrix.model != model:
            self._matrix = Matrix(self._connection, model)
        return fused([by_words, self._matrix.nearest(self._connection, vector, within)])

    def chunker(self, *, reading: bool = False, **options: Any) -> Chunker:
        """Return a chunker with the configuration of the index, such as for :meth:`update`.

        ``options`` override it. If the index was made with a counter in Python, ``encoding`` is
        required, and ``heuristics`` if it was made with any. With ``reading``, the chunker only
        parses documents and counts tokens in the same way, as :meth:`outline` needs it; the rest
        has the defaults, and heuristics are not required. Raises ``ConfigError`` for invalid values.
        """
        with self._snapshot():
            return self._documents().chunker(options, reading=reading)

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
                outline = (chunker or stored.chunker({})).outline(text, source)
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

    def quote(self, quote: str, *, strict: bool = False) -> list[Citation]:
        """Return a citation of each occurrence of ``quote``: see :func:`chunkast.locate_quote`."""
        with self._snapshot():
            marks = checks.json_setting(self._completed(), "config").get("page_markers")
            return list(locate_quote(quote, self.chunks(), page_markers=marks, strict=strict))

    def _completed(self) -> dict[str, str]:
        """Return the stored settings, or raise ``StoreError`` if no run has completed the index."""
        settings = dict(self._connection.execute("SELECT name, value FROM settings"))
        if checks.DIGEST not in settings:
            completing = index_command(self.path, "PATHS")
            raise StoreError(self.path, f"no run has completed it; {completing} completes it")
        return settings

    def _check_version(self) -> None:
        version = schema.version_of(self._connection)
        if version != schema.VERSION:
            raise schema.outdated(self.path, version)

    def _check(self) -> None:
        """Raise an error unless the index can be read.

        Each state of the file is checked only once, so that further calls are fast.
        """
        (state,) = self._connection.execute("PRAGMA data_version").fetchone()
        if state == self._checked_state:
            return
        if fault := checks.quick_fault(self._connection):
            raise DamageError(fault)
        self._checked_state = state
        self._outlines.clear()
        self._matrix = None

    @contextmanager
    def _snapshot(self, *, check: bool = True) -> Iterator[None]:
        """Let all statements in a ``with`` block read the same state of the index."""
        self._check_version()
        with store_errors(self.path):
            self._connection.execute("BEGIN")
            try:
                if check:
                    self._check()
                yield
            finally:
                self._connection.commit()
