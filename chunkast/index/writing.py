"""Change the documents of an index in a transaction."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chunkast.errors import ConfigError
from chunkast.identity import WritePlan, config_values, fingerprint, plan_among
from chunkast.index.checks import DIGEST, STEMMER, Saved, digest_of, text_hash
from chunkast.index.rows import COLUMNS, read_rows, values_of
from chunkast.index.schema import INSERT_WORDS
from chunkast.index.stems import STEMMED, languages_of
from chunkast.index.stored_vectors import MODEL, missing
from chunkast.index.terms import path_words, terms
from chunkast.model import Chunk
from chunkast.sources.jupyter import Notebook, is_notebook, notebook_in
from chunkast.text.language import language_of_text
from chunkast.text.source_map import encode, without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = (
    "IndexReport",
    "IndexedDocument",
    "Writing",
    "document_hash",
    "index_document",
)

_PUT_CHUNK: Final = (
    f"INSERT INTO chunks (document, {', '.join(COLUMNS)}) "  # noqa: S608  (constants)
    f"VALUES (?{', ?' * len(COLUMNS)})"
)
_PUT_DOCUMENT: Final = """
    INSERT INTO documents (source, text_hash, fingerprint, chunks, languages, text)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (source) DO UPDATE SET text_hash = excluded.text_hash,
        fingerprint = excluded.fingerprint, chunks = excluded.chunks,
        languages = excluded.languages, text = excluded.text
"""
_DELETE_WORDS: Final = (
    "INSERT INTO search (search, rowid, headings, text) VALUES ('delete', ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document to store in an index, with its chunks.

    source: the document's name.
    text_hash: the hash of the document's bytes; see :func:`text_hash`.
    chunks: the document's chunks, in order.
    own_token_counts: the token count of each chunk without its overlap.
    text: the document's text.
    """

    source: str
    text_hash: str
    chunks: tuple[Chunk, ...]
    own_token_counts: tuple[int, ...]
    text: str


def index_document(chunker: Chunker, source: str, document: str | Notebook) -> IndexedDocument:
    """Chunk a text or a notebook, and return it as a document for an index."""
    from chunkast.sources.documents import iter_document

    chunks = tuple(iter_document(chunker, document, source))
    count = chunker.counter.count
    own = (count(c.text[c.overlap :]) if c.overlap else c.token_count for c in chunks)
    text = _text_of(document)
    return IndexedDocument(source, text_hash(encode(text)), chunks, tuple(own), text)


def document_hash(document: str | Notebook) -> str:
    """Return the hash of a document's text or, for a notebook, of its JSON."""
    return text_hash(encode(_text_of(document)))


def _text_of(document: str | Notebook) -> str:
    return document if isinstance(document, str) else document.text


@dataclass(slots=True)
class IndexReport:
    """The changes that a run made to the index.

    added, changed, removed, embed, moved, reuse, repeats: as in :class:`chunkast.WritePlan`, but
        for all documents together; vectors are reused across the whole index. If the index has a
        model, ``embed`` lists a chunk for each text that had no vector before embedding began.
    embedded: the number of texts that were embedded.
    unchanged: the number of unchanged chunks.
    documents: the number of documents in the run.
    written: the number of new and changed documents.
    digest: the digest of the index after the run.
    faults: a sentence for each reason why the index was rebuilt: damage, or an older format. A
        rebuild chunks all documents again, and all unchanged chunks count as moved.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    embed: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    reuse: dict[str, str] = field(default_factory=dict)
    repeats: list[str] = field(default_factory=list)
    embedded: int = 0
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
        """Return the numbers of changes as text. Moved chunks also count as unchanged."""
        return (
            f"added {len(self.added):,}, changed {len(self.changed):,}, "
            f"unchanged {self.unchanged:,}, removed {len(self.removed):,}, moved {len(self.moved):,}"
        )


def _languages(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the languages of a document's text, which its front matter may declare."""
    matter = chunks[0].metadata.get("front_matter", "") if chunks else ""
    raw = matter if isinstance(matter, str) else f"---\n{json.dumps(matter)}\n---\n"
    return languages_of((chunk.text for chunk in chunks), language_of_text("", raw))


def _words(chunk: Chunk, source: str, languages: tuple[str, ...]) -> tuple[str, str]:
    """Return the titles and the text of a chunk in the form in which they are indexed.

    If the embedded text does not contain the chunk's text, the embedded text is indexed instead.
    The titles of the chunk's own sections are included twice, and the path of the document counts
    as a title.
    """
    paths = chunk.sections or (chunk.headings,)
    titles = [*dict.fromkeys(chain(*paths)), *(path[-1] for path in paths if path)]
    titles.append(path_words(source))
    text = chunk.text if chunk.text in chunk.embed_text else chunk.embed_text
    return terms(" ".join(titles), languages), terms(text, languages)


def _options_of(chunker: Chunker) -> dict[str, Any]:
    """Return the options of a chunker that are not the defaults, as JSON values.

    A counter in Python is named, as are heuristics; the path of a tokenizer becomes absolute.
    ``allow_download`` is left out.
    """
    options = chunker.config.changed_fields()
    options.pop("allow_download", None)
    encoding: Any = options.get("encoding")
    if isinstance(encoding, os.PathLike) or str(encoding).endswith(".json"):
        options["encoding"] = str(Path(encoding).absolute())
    elif encoding is not None:
        options["encoding"] = chunker.counter.name
    if "heuristics" in options:
        options["heuristics"] = [heuristic.id for heuristic in chunker.config.heuristics]
    if "tools" in options:
        tools = chunker.config.tools
        options["tools"] = {tool.name: dict(tool.json_schema) for tool in tools}
    if "scores" in options:
        options["scores"] = dict(chunker.config.scores)
    return options


class Writing:
    """An open transaction that changes an index: see :meth:`Store.writing`.

    ``settings`` are the settings to store; ``files`` are the stamps and hashes of the files and
    folders of the run (see ``freshness``). Both are by name, and :meth:`finish` stores them.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        chunker: Chunker | None,
        settings: dict[str, str],
        saved: Iterable[Saved] = (),
    ) -> None:
        """Begin with the stored documents, or with those ``saved`` before a rebuild.

        Saved documents are chunked again. Without ``chunker``, documents can only be removed.
        """
        self._connection = connection
        self._before = settings
        self.settings = dict(settings)
        self._chunker = chunker
        self._fingerprint = ""
        if chunker is not None:
            encoding = chunker.counter.name
            config = config_values(chunker.config, encoding)
            self.settings["config"] = json.dumps(config, sort_keys=True)
            self.settings["options"] = json.dumps(_options_of(chunker), sort_keys=True)
            self._fingerprint = fingerprint(chunker.config, encoding)
        self.report = IndexReport()
        self.files: dict[str, tuple[str, str]] = {}
        self._counted: set[str] = set()
        self._saved = {document.source: document for document in saved}
        for document in self._saved.values():
            connection.execute(_PUT_DOCUMENT, (*document[:2], "", 0, "", document.text))
        rows = connection.execute("SELECT source, number, text_hash, fingerprint FROM documents")
        # The number, the hash of the text and the fingerprint of each document, by source.
        self._stored: dict[str, list[Any]] = {source: values for source, *values in rows}
        (self._chunks_before,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
        self._chunks_before += sum(len(document.chunks) for document in self._saved.values())
        # The id of a chunk with a vector, by the hash of the embedded text: chunks before this
        # run, read when the first document changes, and new chunks.
        self._vectors: dict[str, str] | None = None
        self._embedded: dict[str, str] = {}

    def knows(self, source: str, text_hash: str) -> bool:
        """Return whether the document is stored with this text hash and configuration."""
        known = self._stored.get(without_surrogates(source))
        return known is not None and known[1:] == [text_hash, self._fingerprint]

    def absent(self) -> list[str]:
        """Return the sorted sources of stored documents that were neither kept nor put."""
        return sorted(self._stored.keys() - self._counted)

    def keep(self, source: str) -> str:
        """Keep a stored document, and return its source as stored.

        Raises ``ConfigError`` if the source has already been kept or put.
        """
        stored = without_surrogates(source)
        if stored in self._counted:
            raise ConfigError("source", source, "is given twice; an index has each source once")
        self._counted.add(stored)
        self.report.documents += 1
        return stored

    def put(self, document: IndexedDocument) -> None:
        """Store a document, and replace a stored document with the same source."""
        execute = self._connection.execute
        source = self.keep(document.source)
        self._clear(source, document.chunks)
        languages = _languages(document.chunks)
        if not STEMMED.isdisjoint(languages):
            self.settings[STEMMER] = version(STEMMER)
        values = document.text_hash, self._fingerprint, len(document.chunks), " ".join(languages)
        text = without_surrogates(document.text)
        inserted = execute(_PUT_DOCUMENT, (source, *values, text)).lastrowid
        number = self._stored[source][0] if source in self._stored else inserted
        # To SQLite's functions, a text ends at a NUL, so the chunks of such a text have their own.
        sliced = "" if "\0" in text else text
        for chunk, own in zip(document.chunks, document.own_token_counts, strict=True):
            row = execute(_PUT_CHUNK, (number, *values_of(chunk, own, source, sliced))).lastrowid
            execute(INSERT_WORDS, (row, *_words(chunk, source, languages)))
        self.report.written += 1

    def remove(self, source: str) -> None:
        """Remove a stored document and its chunks."""
        self._clear(source, ())
        self._connection.execute("DELETE FROM documents WHERE source = ?", (source,))

    def finish(self) -> None:
        """Store the settings and files, and complete the report."""
        # Saved documents that were not passed in this run.
        for source, saved in list(self._saved.items()):
            if saved.text is None or self._chunker is None:
                self.remove(source)
            else:
                document = (is_notebook(source) and notebook_in(saved.text, source)) or saved.text
                self.put(index_document(self._chunker, source, document))
        settings = self.settings
        if self._vectors is not None or DIGEST not in settings:
            settings[DIGEST] = digest_of(self._connection)
        if settings != self._before:
            put_setting = "INSERT OR REPLACE INTO settings VALUES (?, ?)"
            self._connection.executemany(put_setting, settings.items())
        # The stamp of a document whose file could not be read proves nothing.
        unread = self._stored.keys() - self._counted
        rows = "SELECT name, stamp, hash FROM files ORDER BY name"
        stored = self._connection.execute(rows).fetchall()
        kept = {name: (stamp, data) for name, stamp, data in stored if name in unread}
        states = sorted((kept | self.files).items())
        files = [(name, stamp * (name not in unread), data) for name, (stamp, data) in states]
        if self.files and files != stored:
            self._connection.execute("DELETE FROM files")
            self._connection.executemany("INSERT INTO files VALUES (?, ?, ?)", files)
        report = self.report
        report.unchanged = self._chunks_before - len(report.changed) - len(report.removed)
        report.digest = settings[DIGEST]
        if settings.get(MODEL):
            self._list_unembedded(settings[MODEL])

    def _list_unembedded(self, model: str) -> None:
        """Replace the report's ``embed`` with a chunk for each text without a vector."""
        query = "SELECT id FROM chunks WHERE number = ?"
        self.report.embed = [
            self._embedded.get(text) or self._connection.execute(query, (number,)).fetchone()[0]
            for text, number in missing(self._connection, model).items()
        ]
        # A chunk whose vector was to be reused may never have had one.
        listed = set(self.report.embed)
        reuse = self.report.reuse.items()
        self.report.reuse = {new: holder for new, holder in reuse if new not in listed}

    def _clear(self, source: str, current: Sequence[Chunk]) -> None:
        """Delete the stored chunks of a document, which the ``current`` chunks will replace."""
        execute = self._connection.execute
        execute("DELETE FROM files WHERE name = ?", (source,))
        if self._vectors is None:
            # If several chunks have the same vector, the first one is used.
            pairs = execute("SELECT embed_hash, id FROM chunks ORDER BY number DESC")
            self._vectors = dict(pairs.fetchall())
            saved_chunks = chain.from_iterable(each.chunks for each in self._saved.values())
            self._vectors |= {x.embed_hash: x.id for x in reversed([*saved_chunks])}
        before = [*read_rows(self._connection, "WHERE source = ? ORDER BY position", (source,))]
        saved = self._saved.pop(source, None)
        prior = saved.chunks if saved else [chunk for _, _, chunk in before]
        self.report.add(plan_among(current, prior, self._vectors.get, self._embedded))
        stored = execute("SELECT languages FROM documents WHERE source = ?", (source,)).fetchone()
        for number, _, chunk in before:
            execute(_DELETE_WORDS, (number, *_words(chunk, source, (*stored[0].split(),))))
            execute("DELETE FROM chunks WHERE number = ?", (number,))
