"""``sync``: bring the rows of documents in a vector store up to date."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from chunkast.errors import ConfigError, StoreError, check_count, describe
from chunkast.index import Store
from chunkast.index.embedding import Embed
from chunkast.model import Chunk
from chunkast.stores.row_writer import Pending, RowWriter, SyncError, SyncReport
from chunkast.stores.target import Record, Row, Target, Vector, clean, row_of

__all__ = ("sync",)

# The number of rows that are collected before their vectors are looked up.
_COLLECTED: Final = 256


def sync(
    target: Target,
    documents: Iterable[tuple[str, Iterable[Chunk] | None]] | Store,
    embed: Embed | None = None,
    *,
    model: str = "",
    remove_missing: bool = False,
    batch_size: int = 64,
    dry_run: bool = False,
    on_progress: Callable[[SyncReport], object] | None = None,
) -> SyncReport:
    """Bring the rows of documents in a vector store up to date, and return a report.

    target: the store, such as a ``QdrantTarget``.
    documents: pairs of a source and its chunks, such as ``chunk_folder`` yields. An empty list
        deletes the document's rows. None keeps them, and if the source is a folder, keeps the rows
        of all documents below it. Documents that are not passed are kept, unless ``remove_missing``
        is true. If this is a ``chunkast.index.Store``, the target becomes a copy of that index:
        its vectors are reused, ``embed`` and ``model`` must not be passed, and all other documents
        that chunkast wrote are deleted.
    embed: a function that takes a list of 1 to ``batch_size`` different texts, and returns their
        vectors in the same order. Texts whose vectors are in the store are not passed.
    model: the name of the embedding model. Only vectors of this model are reused.
    remove_missing: delete documents that chunkast wrote and that are not passed.
    batch_size: the maximum number of texts to embed at once.
    dry_run: change nothing and embed nothing; report what a sync would do.
    on_progress: called with the report so far after rows are written, updated or deleted.

    Rows are deleted last. If iterating ``documents`` raises an exception, the earlier documents are
    written, nothing is deleted, and the exception is raised again. If the process is killed, run
    the sync again: at most two batches, and texts that moved between rows, are embedded again. Do
    not run two syncs of one target at once.

    Raises ``ConfigError`` for an invalid argument, a duplicate source, or a chunk under the wrong
    source, and if ``remove_missing`` would delete everything because no document was passed.
    Raises ``SyncError``, a ``StoreError`` with the report so far, if ``embed`` fails or does not
    return one vector of the store's size per text, if the store refuses a request, or if the store
    belongs to another program. Raises ``StoreError`` before writing if a text of an index has no
    vector.
    """
    known: dict[str, Vector] = {}
    if isinstance(documents, Store):
        if embed is not None or model:
            raise ConfigError("embed", embed, "must not be passed: an index has its own vectors")
        model, embed, remove_missing = documents.embedding_model()[0], list, True
        documents, known = _read(documents)
    if not callable(embed):
        raise ConfigError("embed", embed, "must be a function that takes a list of texts")
    if not isinstance(model, str):
        raise ConfigError("model", model, "must be a str, the name of the embedding model")
    check_count("batch_size", batch_size)
    writer = RowWriter(target, embed, clean(model), batch_size, dry_run, on_progress, known)
    try:
        failure = _Run(writer, remove_missing).follow(_checked(documents))
        if not dry_run:
            target.finish()
    except ConfigError:
        raise
    except Exception as error:
        reason = error.reason if isinstance(error, StoreError) else describe(error)
        raise SyncError(target.name, reason, writer.report) from error
    if failure is not None:
        raise failure
    return writer.report


def _read(index: Store) -> tuple[Iterable[tuple[str, Iterable[Chunk]]], dict[str, Vector]]:
    """Return the documents of an index, and its vectors by the hash of their texts.

    Memory only has to hold the chunks of one document. Raises ``StoreError`` if a text has no
    vector.
    """
    if missing := index.missing():
        advice = "'chunkast index --embed-url URL --embed-model NAME' adds them"
        raise StoreError(index.path, f"{missing:,} texts have no vector; {advice}")
    vectors: dict[str, Vector] = {text: array("f", vector) for text, vector in index.vectors()}
    return ((source, index.chunks(source)) for source in index.outline()), vectors


def _checked(documents: Any) -> Iterator[tuple[str, list[Chunk] | None]]:
    """Yield the documents, with the names that the store has; raise ``ConfigError`` for others."""
    seen: set[str] = set()
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise ConfigError("documents", documents, "must be pairs of a source and its chunks")
    for pair in documents:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise ConfigError("documents", pair, "must be pairs of a source and its chunks")
        source, chunks = clean(pair[0]), None if pair[1] is None else list(pair[1])
        for chunk in chunks or ():
            # A cell of a notebook has a source of its own.
            own = (chunk.source or "") if isinstance(chunk, Chunk) else None
            if own != pair[0] and not str(own).startswith(f"{pair[0]}#cell"):
                raise ConfigError("documents", chunk, f"is not a chunk of {source!r}")
        for name in (source, *(chunk.id for chunk in chunks or ())):
            if name in seen:
                raise ConfigError("documents", name, "must be passed only once")
            seen.add(name)
        yield source, chunks


@dataclass(slots=True)
class _Run:
    """Compares the chunks of documents with the stored rows.

    stored: with ``remove_missing``, the records of the documents that were not passed so far.
    unread: the sources that were passed without chunks.
    present: the ids of all chunks that were passed.
    outdated: the ids of the rows of passed documents that no longer have a chunk.
    new: rows that overwrite no vector of this model.
    updates: rows that keep their vector.
    overwrites: rows that overwrite a vector. They wait until all documents were read, because a
        later document may need that vector.
    """

    writer: RowWriter
    remove_missing: bool
    stored: dict[str, dict[str, Record]] = field(default_factory=lambda: defaultdict(dict))
    unread: set[str] = field(default_factory=set)
    present: set[str] = field(default_factory=set)
    outdated: list[str] = field(default_factory=list)
    new: list[Pending] = field(default_factory=list)
    updates: list[Row] = field(default_factory=list)
    overwrites: list[Pending] = field(default_factory=list)

    def follow(self, documents: Iterator[tuple[str, list[Chunk] | None]]) -> Exception | None:
        """Sync the documents; return the exception that iterating them raised, if any."""
        self.writer.size = self.writer.target.start()
        sizes = {len(vector) for vector in self.writer.known.values()}
        if self.writer.size and sizes - {self.writer.size}:
            reason = f"has vectors of {self.writer.size:,} numbers, the index of {max(sizes):,}"
            raise StoreError(self.writer.target.name, reason)
        if self.remove_missing:
            for record in self.writer.target.records(None):
                self.stored[record.document][record.id] = record
        passed, failure = 0, None
        while True:
            try:
                document = next(documents, None)
            except Exception as error:  # noqa: BLE001 - the documents before it are written
                failure = error
                break
            if document is None:
                break
            passed += 1
            self.compare(*document)
            self.write(_COLLECTED)
        self.write()
        self.writer.overwrite(self.overwrites)
        self.writer.finish()
        if failure is None:
            if self.remove_missing and not passed:
                raise ConfigError(
                    "documents", [], "must not be empty: remove_missing would delete everything"
                )
            self.delete()
        return failure

    def compare(self, source: str, chunks: list[Chunk] | None) -> None:
        """Sort the chunks of a document into new rows, updates and overwrites."""
        if chunks is None:
            self.unread.add(source)
            return
        if self.remove_missing:
            prior = self.stored.pop(source, {})
        else:
            prior = {record.id: record for record in self.writer.target.records([source])}
        model = self.writer.model
        self.present.update(chunk.id for chunk in chunks)
        self.outdated += prior.keys() - self.present
        for chunk in chunks:
            known, hashes = prior.get(chunk.id), (chunk.embed_hash, chunk.state_hash)
            lost = known.embed_hash if known is not None and known.model == model else ""
            if known == Record(chunk.id, source, *hashes, model, clean(chunk.anchor)):
                self.writer.counts["unchanged"] += 1
            elif lost == chunk.embed_hash:
                self.updates.append(row_of(chunk, source, model))
            else:
                row = row_of(chunk, source, model)
                pending = Pending(row, chunk.embed_text, chunk.embed_hash)
                (self.overwrites if lost else self.new).append(pending)

    def write(self, least: int = 1) -> None:
        """Write the collected new rows, and the updates, once there are ``least`` of them."""
        if len(self.new) >= least:
            self.writer.place(self.new)
            self.new = []
        if len(self.updates) >= least:
            self.writer.update(self.updates)
            self.updates = []

    def delete(self) -> None:
        """Delete the rows whose chunks no longer exist."""
        for document, records in self.stored.items():
            parts = document.split("/")
            if self.unread.isdisjoint("/".join(parts[:n]) for n in range(len(parts) + 1)):
                self.outdated += records
        self.writer.delete([each for each in self.outdated if each not in self.present])
