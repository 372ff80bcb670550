"""Read one state of an index: its settings, documents and chunks."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Container, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from chunkast.config import COUNTERS, ChunkConfig
from chunkast.errors import ConfigError, StoreError
from chunkast.files.database import index_command
from chunkast.files.freshness import differences
from chunkast.index.checks import DIGEST, text_hash
from chunkast.index.connection import DamageError
from chunkast.index.nearest import Matrix
from chunkast.index.ranking import Query
from chunkast.index.rows import read_rows
from chunkast.index.search import Parts
from chunkast.index.stems import ENGLISH, STEMMED
from chunkast.index.stored_vectors import MODEL, size_of
from chunkast.model import Chunk
from chunkast.sources.documents import document_of
from chunkast.sources.jupyter import is_notebook
from chunkast.text.source_map import encode, without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.reading import Outline

__all__ = ("Reader",)

# The options of an index that determine how a document is read.
_READING: Final = frozenset(
    ("extensions", "pseudo_headings", "heading_levels", "page_markers", "tools", "protocols")
)
# The number of characters of a glob that are compared with folders.
_MOST_COMPARED: Final = 200
_SOURCES: Final = "SELECT source FROM documents"
# The least number of seconds between two comparisons with the files.
_PAUSE_S: Final = 1.0
# A document is compared as it is stored: a later run may have been unable to read its file.
_FILES: Final = """SELECT name, stamp, coalesce(text_hash, hash) FROM files
    LEFT JOIN documents ON source = name"""
_LANGUAGES: Final = "SELECT languages FROM documents GROUP BY 1 ORDER BY count(*) DESC, 1"
# The number of languages in which the words of a query are stemmed.
_MOST_LANGUAGES: Final = 8
_COSTS: Final = """SELECT source, (SELECT coalesce(sum(own_token_count), 0) FROM chunks
    WHERE document = documents.number) FROM documents ORDER BY source"""


class Reader:
    """Reads one state of the index at ``path`` in a transaction of ``connection``.

    Raises ``StoreError`` if no run has completed the index yet.
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self.settings = dict(connection.execute("SELECT name, value FROM settings"))
        if DIGEST not in self.settings:
            completing = index_command(path, "PATHS")
            raise StoreError(path, f"no run has completed it; {completing} completes it")
        self.model = self.settings.get(MODEL, "")
        self.last_stale: dict[str, str] = {}
        self._next_check = 0.0
        # The last outline.
        self._outlines: dict[tuple[str, Chunker | None], Outline] = {}

    @cached_property
    def _options(self) -> dict[str, Any]:
        with suppress(KeyError, ValueError, TypeError, RecursionError):
            options = json.loads(self.settings["options"])
            if isinstance(options, dict):
                return options
        raise DamageError("its setting options cannot be read")

    def chunk(self, chunk_id: str) -> Chunk:
        """Return the chunk with this id; raise ``StoreError`` if it does not exist."""
        query = "WHERE chunks.id = ? ORDER BY chunks.number"
        for _, _, chunk in read_rows(self._connection, query, (without_surrogates(chunk_id),)):
            return chunk
        raise StoreError(self._path, f"has no chunk {chunk_id!r}")

    def costs(self) -> dict[str, int]:
        """Return the token count of each document by source, without overlaps."""
        return dict(self._connection.execute(_COSTS).fetchall())

    def stale(self) -> dict[str, str]:
        """Return the documents that differ from their files; see :meth:`Store.stale`."""
        if time.monotonic() >= self._next_check:
            self.last_stale = differences(self.settings, *self._files)
            self._next_check = time.monotonic() + _PAUSE_S
        return self.last_stale

    @cached_property
    def _files(self) -> tuple[dict[str, tuple[str, str]], frozenset[str]]:
        """The stamps and hashes of all files and folders, and the sources of all documents."""
        known = {name: (stamp, data) for name, stamp, data in self._connection.execute(_FILES)}
        return known, frozenset(name for (name,) in self._connection.execute(_SOURCES))

    def check_within(self, within: str) -> None:
        """Raise ``ConfigError`` if no document matches the glob; see :meth:`Store.check_within`."""
        query = "SELECT source, source GLOB ? FROM documents ORDER BY source"
        rows = self._connection.execute(query, (without_surrogates(within),)).fetchall()
        if any(matches for _, matches in rows):
            return
        folders = {f"{name.rpartition('/')[0]}/*".lstrip("/") for name, _ in rows}
        near = get_close_matches(within[:_MOST_COMPARED], sorted(folders), n=3, cutoff=0)
        nearest = f"; the nearest folders are {', '.join(near)}" if near else ": there are none"
        raise ConfigError("within", within, f"matches no document{nearest}")

    def text(self, source: str) -> str:
        """Return the text of a document.

        Raises ``StoreError`` if the document is not stored or is a notebook, and ``DamageError`` if
        its text is damaged.
        """
        stored = without_surrogates(source)
        query = "SELECT text, text_hash FROM documents WHERE source = ?"
        row = self._connection.execute(query, (stored,)).fetchone()
        if row is None:
            near = ", ".join(get_close_matches(stored, self.costs(), n=3))
            nearest = f"; nearest: {near}" if near else ""
            raise StoreError(self._path, f"has no document {source!r}{nearest}")
        text, expected_hash = row
        if not isinstance(text, str) or text_hash(encode(text)) != expected_hash:
            raise DamageError(f"the text of {source} is damaged")
        if is_notebook(source):
            raise StoreError(self._path, f"{source} is a notebook, which has no outline")
        return text

    def chunker(self, options: Mapping[str, Any], *, reading: bool = False) -> Chunker:
        """Return a chunker with the configuration of the index, which ``options`` override.

        With ``reading``, the chunker has only the index's options for parsing and counting tokens.
        """
        from chunkast.chunker import Chunker

        known = self._some(_READING | COUNTERS) if reading else self._options
        return Chunker(ChunkConfig.from_file(known, options))

    @cached_property
    def reading_chunker(self) -> Chunker:
        """The default chunker for reading documents."""
        return self.chunker({}, reading=True)

    def outline(self, source: str, chunker: Chunker | None) -> Outline:
        """Return the outline of a document. Raises the errors of :meth:`text`."""
        if (source, chunker) not in self._outlines:
            outline = (chunker or self.reading_chunker).outline(self.text(source), source)
            self._outlines = {(source, chunker): outline}
        return self._outlines[source, chunker]

    def outline_if_any(self, source: str, chunker: Chunker | None) -> Outline | None:
        """Return the outline of a document, or ``None`` if its text cannot be read."""
        if is_notebook(document_of(source)):
            return None
        with suppress(StoreError):
            return self.outline(source, chunker)
        return None

    @cached_property
    def matrix(self) -> Matrix | None:
        """The vectors of the index's model, or ``None`` if the index has no vectors."""
        has_vectors = size_of(self._connection, self.model) > 0
        return Matrix(self._connection, self.model) if has_vectors else None

    def parts(self, query: Query, chunker: Chunker | None) -> Parts | None:
        """Return a finder of chunk parts that counts tokens with ``chunker`` or as the index does.

        Returns ``None`` if the index was made with a Python counter and ``chunker`` is ``None``.
        """
        try:
            counter = (chunker or self.reading_chunker).counter
        except ConfigError:
            return None
        return Parts(query, self.config, counter)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """English, and the documents' most frequent languages with stems."""
        rows = self._connection.execute(_LANGUAGES)
        codes = (code for (listed,) in rows for code in listed.split() if code in STEMMED)
        return (ENGLISH, *[*dict.fromkeys(codes)][:_MOST_LANGUAGES])

    @cached_property
    def config(self) -> ChunkConfig:
        """The configuration for reading documents."""
        return ChunkConfig.of(self._some(_READING))

    def _some(self, names: Container[str]) -> dict[str, Any]:
        return {name: value for name, value in self._options.items() if name in names}
