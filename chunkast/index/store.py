"""The index: one SQLite file that stores documents, their chunks and a full-text index."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from struct import unpack
from typing import TYPE_CHECKING, Any, Final, overload

from chunkast.errors import ConfigError, StoreError, check_count
from chunkast.identity import Citation, locate_quote
from chunkast.index import checks, schema, stored_vectors
from chunkast.index.connection import DamageError, store_errors
from chunkast.index.embedding import Embed, embedded
from chunkast.index.nearest import fused
from chunkast.index.ranking import Candidate, Query, ranked
from chunkast.index.reader import Reader
from chunkast.index.rows import BY_NUMBER, read_rows
from chunkast.index.search import Hit, Selection, hits, take_best
from chunkast.index.stored_vectors import MODEL, size_of
from chunkast.index.writing import IndexReport, Writing, document_hash, index_document
from chunkast.model import Chunk
from chunkast.sources.jupyter import Notebook
from chunkast.text.source_map import without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.reading import Outline, Passage

__all__ = ("Store",)


_UNEMBEDDED: Final = f"""{BY_NUMBER} AND chunks.embed_hash NOT IN (
    SELECT embed_hash FROM text_vectors WHERE model = ?) ORDER BY chunks.number"""  # noqa: S608


class Store:
    """An index of documents in a file, or in memory if the path is ":memory:".

    Use it in a ``with`` statement, or call :meth:`close`. Readers see the last state that a writer
    completed.

    path: the path of the file.
    create: create the index if it is missing.
    read_only: open the file for reading only.

    Raises ``StoreError`` if the index cannot be opened. Methods that read also raise it if
    the index is damaged or has an older format; methods that write, if the file is not writable.
    """

    def __init__(self, path: str, *, create: bool = False, read_only: bool = False) -> None:
        self.path = path
        # The state of the file that was last checked, and its reader.
        self._checked_state: int | None = None
        self._reader: Reader | None = None
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

        documents: ``(source, text)`` pairs. Instead of a text, a pair may have a notebook; see
            :func:`chunkast.notebook.read_notebook`. Documents that are already stored with the same
            text and configuration are not chunked again.
        dry_run: store nothing, and do not call ``embed``.
        remove_missing: remove all other documents; if false, keep them.
        embed: a function that embeds texts; see :meth:`embed_missing`. It is called after all
            documents are stored.
        model: the name of the embedding model, which the index stores; by default, the stored
            name. A new model has no vectors in the index.

        Raises ``StoreError`` if the index cannot be written, and ``ConfigError`` for a duplicate
        source or for ``embed`` without a model; in these cases, nothing is stored. Raises
        ``StoreError`` if ``embed`` fails after the documents were stored.
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

        Raises ``StoreError``, and removes nothing, if a document is not in the index or the index
        is damaged.
        """
        if isinstance(sources, str):
            raise ConfigError("sources", sources, "must be a list of sources")
        removed = dict.fromkeys(map(without_surrogates, sources))
        known = self.outline()
        with self.writing(None) as run:
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
        """Embed all texts without a vector of the index's model, and return their number.

        embed: a function that takes a list of 1 to ``batch_size`` different texts, and returns
            their vectors in the same order: lists, tuples or the rows of an array.
        batch_size: the maximum number of texts to embed at once.
        on_batch: called with the number of texts in a batch after their vectors are stored.

        Each batch is stored before the next is embedded. If ``embed`` fails or does not return one
        vector of the index's size per text, ``StoreError`` is raised and the batch is not stored.
        """
        check_count("batch_size", batch_size)
        self._check_model(embed, None)
        with self._reading() as reader:
            model = reader.model
            numbers = [*stored_vectors.missing(self._connection, model).values()]
        count = 0
        for start in range(0, len(numbers), batch_size):
            batch = json.dumps(numbers[start : start + batch_size])
            # Each row is checked as it is read; checking the whole file for each batch takes too
            # long. Another process may have changed, removed or embedded the chunks.
            with self._snapshot(check=False):
                rows = read_rows(self._connection, _UNEMBEDDED, (batch, model))
                texts = {chunk.embed_hash: chunk.embed_text for _, _, chunk in rows}
                size = size_of(self._connection, model)
            if not texts:
                continue
            results = embedded(embed, [*texts.values()], size, self.path)
            with self._changing():
                stored_vectors.add(self._connection, model, dict(zip(texts, results, strict=True)))
            count += len(texts)
            on_batch(len(texts))
        return count

    def missing(self) -> int:
        """Return the number of texts without a vector of the index's model."""
        with self._reading() as reader:
            return len(stored_vectors.missing(self._connection, reader.model))

    def prune_vectors(self) -> int:
        """Delete the vectors of removed texts and of other models, and return their number."""
        with self._reading() as reader:
            model = reader.model
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
        self._reader = None
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

        chunker: the chunker that makes the chunks; without one, documents can only be removed.
        dry_run: store nothing.
        model: the name of the new embedding model, or ``None`` to keep the old one.
        on_wait: called if another process is writing; the transaction then waits for it.

        Raises ``StoreError`` if the index cannot be written.
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
        """Begin a write transaction; empty an index that is damaged or has an older format.

        Readable contents are kept. Raises ``DamageError`` for such an index without a chunker,
        which has to chunk it again.
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
            settings.pop(checks.STEMMER, None)
            schema.empty(self._connection)
            stored_vectors.put(self._connection, vectors)
        run = Writing(self._connection, chunker, settings, saved)
        run.report.faults = reasons
        return run

    def faults(self) -> list[str]:
        """Check the whole index, and return a sentence for each fault.

        The list is empty if the index is as the last run stored it. :meth:`update` rebuilds a
        damaged index. With SQLite before 3.44, the full-text index is checked only if the file is
        writable and no other process is writing.
        """
        with self._snapshot(check=False):
            return checks.faults(self._connection)

    # Reading

    # All these methods raise ``StoreError`` for a file that is damaged or cannot be read.

    def chunks(self, source: str | None = None) -> Iterator[Chunk]:
        """Yield all chunks in order, or only the chunks of the document ``source``.

        Each document is read in one state of the index.
        """
        with self._snapshot():
            listed = self._connection.execute("SELECT source FROM documents ORDER BY source")
            sources = [name for (name,) in listed]
        for name in sources if source is None else [without_surrogates(source)]:
            with self._snapshot():
                rows = [*read_rows(self._connection, "WHERE source = ? ORDER BY position", [name])]
            yield from (chunk for _, _, chunk in rows)

    def chunk(self, chunk_id: str) -> Chunk:
        """Return the chunk with this id; raise ``StoreError`` if it does not exist."""
        with self._reading() as reader:
            return reader.chunk(chunk_id)

    def settings(self) -> dict[str, str]:
        """Return the configuration and the digest of the last run; empty before the first run."""
        with self._snapshot():
            return dict(self._connection.execute("SELECT name, value FROM settings"))

    def remembered(self) -> dict[str, str]:
        """Return all readable settings, even if the index is damaged or has an older format."""
        return checks.settings_of(self._connection)

    def digest(self) -> str:
        """Return the digest of all stored chunks: see :func:`chunkast.digest`."""
        with self._snapshot():
            return checks.digest_of(self._connection)

    def vectors(self) -> Iterator[tuple[str, tuple[float, ...]]]:
        """Yield the ``embed_hash`` of each embedded text, and its vector of the index's model."""
        with self._reading() as reader:
            stored = [*stored_vectors.vectors(self._connection, reader.model)]
        for vector in stored:
            yield vector.embed_hash, unpack(f"<{len(vector.data) // 4}f", vector.data)

    def embedding_model(self) -> tuple[str, int]:
        """Return the name of the index's model and the size of its vectors.

        The name is empty if the index has no model, and the size is 0 if it has no vectors.
        """
        with self._reading() as reader:
            return reader.model, size_of(self._connection, reader.model)

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

        Chunks are ranked by BM25, and titles have more weight than text. With ``vector``, the 100
        best chunks are merged with the 100 chunks whose vectors are nearest, by reciprocal rank
        fusion. The text of hits excludes the overlap. If a chunk exceeds the remaining budget, the
        part around the best match is returned; see :attr:`Hit.part`. Copies count as one hit; see
        :attr:`Hit.also`.

        query: the words to search for.
        budget: the maximum number of tokens in all hits together, in the encoding of the index.
        vector: the vector of the query, made with the index's model. If the index has no vectors,
            the search is by words alone.
        limit: the maximum number of hits, or ``None`` for no limit.
        within: a glob pattern for the sources to search, such as "docs/*".
        expand: the maximum size of an expanded hit, in tokens. Text that a better hit contains is
            not added; see :meth:`Outline.expand`.
        chunker: the chunker that counts the tokens of expanded hits and of parts; by default, one
            with the index's options. It is required for parts if the index was made with a Python
            counter.
        """
        within = None if within is None else without_surrogates(within)
        with self._reading() as reader:
            wanted = Query(query, reader.languages)
            # Parts need the vocabulary, which takes long to load.
            find_parts = cache(partial(reader.parts, wanted, chunker))
            outline_of = cache(partial(reader.outline_if_any, chunker=chunker))
            selection = Selection(find_parts, outline_of, expand)
            ranking: Iterable[Candidate] = ranked(self._connection, wanted, within)
            if vector is not None and reader.matrix is not None:
                nearest = reader.matrix.nearest(self._connection, vector, within)
                ranking = fused([ranking, nearest])
            also = take_best(ranking, budget, limit, selection)
            return list(hits(selection, wanted, also, reader.last_stale))

    def stale(self) -> dict[str, str]:
        """Return, by source, "changed", "new" or "gone" for each document that is out of date.

        The files that ``chunkast index`` has read are compared with their stored state, at most
        once a second. Documents that were stored by :meth:`update` are not included.
        """
        with self._reading() as reader:
            return reader.stale()

    def check_within(self, within: str) -> None:
        """Raise ``ConfigError``, with the nearest folders, if no document matches the glob."""
        with self._reading() as reader:
            reader.check_within(within)

    def chunker(self, *, reading: bool = False, **options: Any) -> Chunker:
        """Return a chunker with the configuration of the index, for example for :meth:`update`.

        ``options`` override the configuration. If the index was made with a Python counter or with
        heuristics, ``encoding`` or ``heuristics`` is required. With ``reading``, the chunker has
        only the index's options for parsing and counting tokens, as :meth:`outline` needs them; all
        other options have their defaults, and heuristics are not required. Raises ``ConfigError``
        for invalid values.
        """
        with self._reading() as reader:
            return reader.chunker(options, reading=reading)

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
        """Return the outline of a stored document, to read sections and expand hits.

        If ``source`` is None, returns a mapping from each document's source to its token count.
        ``depth`` is the deepest heading level to include. ``chunker`` parses the document and
        counts its tokens; the default is the result of :meth:`chunker`. Raises ``StoreError`` if
        the document is not stored or is a notebook.
        """
        with self._reading() as reader:
            if source is None:
                return reader.costs()
            return reader.outline(source, chunker).down_to(depth)

    def text(self, source: str) -> str:
        """Return the text of a stored document. Raises ``StoreError`` as :meth:`outline` does."""
        with self._reading() as reader:
            return reader.text(source)

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

        With ``chunk_id``, returns that chunk instead, expanded to at most ``max_tokens`` tokens:
        see :meth:`Outline.expand`.
        """
        if chunk_id is None:
            if source is None:
                raise ConfigError("source", source, "must be a document's name, or give chunk_id")
            outline = self.outline(source, chunker=chunker)
            return outline.read(section, lines=lines, max_tokens=max_tokens)
        chunk = self.chunk(chunk_id)
        outline = self.outline(chunk.source or "", chunker=chunker)
        return outline.expand(chunk, chunk.token_count if max_tokens is None else max_tokens)

    def quote(self, quote: str, *, strict: bool = False) -> list[Citation]:
        """Return a citation for each occurrence of ``quote``; see :func:`chunkast.locate_quote`."""
        with self._reading() as reader:
            rows = read_rows(self._connection, "ORDER BY source, position")
            chunks, marks = (chunk for _, _, chunk in rows), reader.config.page_markers
            return list(locate_quote(quote, chunks, page_markers=marks, strict=strict))

    def _check(self) -> None:
        """Raise an error unless the index can be read.

        Each state of the file is checked only once, so that further calls are fast.
        """
        (state,) = self._connection.execute("PRAGMA data_version").fetchone()
        if state == self._checked_state:
            return
        if fault := checks.quick_fault(self._connection):
            raise DamageError(fault)
        self._checked_state, self._reader = state, None

    @contextmanager
    def _reading(self) -> Iterator[Reader]:
        """Let a ``with`` block read one state of the index, which a run has completed."""
        with self._snapshot():
            if self._reader is None:
                self._reader = Reader(self.path, self._connection)
            yield self._reader

    @contextmanager
    def _snapshot(self, *, check: bool = True) -> Iterator[None]:
        """Let all statements in a ``with`` block read the same state of the index."""
        version = schema.version_of(self._connection)
        if version != schema.VERSION:
            raise schema.outdated(self.path, version)
        with store_errors(self.path):
            self._connection.execute("BEGIN")
            try:
                if check:
                    self._check()
                yield
            finally:
                self._connection.commit()
