"""Reads the stored documents: their texts and outlines."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from chunkast.analysis import Structure, structure_of
from chunkast.config import ChunkConfig
from chunkast.errors import ConfigError, StoreError
from chunkast.index.checks import json_setting, text_hash
from chunkast.index.connection import DamageError
from chunkast.index.parts import Parts
from chunkast.index.remembered import COUNTERS, merged
from chunkast.model import Chunk
from chunkast.sources.jupyter import is_notebook
from chunkast.text.source_map import encode, without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.reading import Outline

__all__ = ("StoredDocuments",)

# The options of an index that determine how a document is read and how tokens are counted.
_READING: Final = COUNTERS | {
    *("extensions", "pseudo_headings", "heading_levels", "page_markers", "tools", "protocols")
}


class StoredDocuments:
    """The documents stored in one state of the index at ``path``.

    ``settings`` are the settings stored in that state.
    """

    def __init__(
        self, path: str, connection: sqlite3.Connection, settings: Mapping[str, str]
    ) -> None:
        self._path = path
        self._connection = connection
        self._options = json_setting(settings, "options")
        self._reading = {n: value for n, value in self._options.items() if n in _READING}
        self._config = ChunkConfig.of(
            {n: self._reading[n] for n in self._reading.keys() - COUNTERS}
        )
        # The structure of each document that was parsed, or None if its text cannot be read.
        self._structures: dict[str, Structure | None] = {}

    def costs(self) -> dict[str, int]:
        """Return a mapping from each document's source to its token count, excluding overlap."""
        rows = self._connection.execute(
            "SELECT source, coalesce(sum(own_token_count), 0) FROM documents "
            "LEFT JOIN chunks ON chunks.document = documents.number "
            "GROUP BY documents.number ORDER BY source"
        )
        return dict(rows.fetchall())

    def text(self, source: str) -> str:
        """Return the text of a document.

        Raises ``StoreError`` if the document or its text is not stored, or if the document is a
        notebook, and ``DamageError`` if the stored text is damaged.
        """
        stored = without_surrogates(source)
        query = "SELECT text, text_hash FROM documents WHERE source = ?"
        row = self._connection.execute(query, (stored,)).fetchone()
        if row is None:
            near = ", ".join(get_close_matches(stored, self.costs(), n=3))
            nearest = f"; nearest: {near}" if near else ""
            raise StoreError(self._path, f"has no document {source!r}{nearest}")
        text, expected_hash = row
        if text is None:
            reason = f"has no text of {source!r} yet; the next 'chunkast index' stores it"
            raise StoreError(self._path, reason)
        if not isinstance(text, str) or text_hash(encode(text)) != expected_hash:
            raise DamageError(f"the text of {source} is damaged")
        if is_notebook(source):
            raise StoreError(self._path, f"{source} is a notebook, which has no outline")
        return text

    def chunker(self, options: Mapping[str, Any], *, reading: bool = True) -> Chunker:
        """Return a chunker with the configuration of the index, which ``options`` override.

        With ``reading``, it only parses documents and counts tokens in the same way.
        """
        from chunkast.chunker import Chunker

        remembered = self._reading if reading else self._options
        return Chunker(ChunkConfig.of(merged(remembered, options)))

    def outline(self, source: str, chunker: Chunker) -> Outline | None:
        """Return the outline of a document, or ``None`` if its text cannot be read."""
        text = self._readable(source)
        return None if text is None else chunker.outline(text, source)

    def parts(self, query: str, chunker: Chunker | None) -> Parts | None:
        """Return the parts of chunks for a query, counted by ``chunker`` or as in the index.

        Returns ``None`` if there is no ``chunker``, and the index was made with a counter in Python.
        """
        try:
            counter = (chunker or self.chunker({})).counter
        except ConfigError:
            return None
        return Parts(query, self._structure_around, self._config, counter)

    def _structure_around(self, chunk: Chunk) -> tuple[Structure, int]:
        """Return the structure of a chunk's document and 0, or of its text and the text's start."""
        source = chunk.source or ""
        if source not in self._structures:
            text = self._readable(source)
            parsed = None if text is None else structure_of(text, self._config, source)
            self._structures[source] = parsed
        structure = self._structures[source]
        if structure is not None:
            return structure, 0
        language = "text" if chunk.metadata.get("cell_type") in ("code", "raw") else None
        structure = structure_of(chunk.text, self._config, chunk.source, language)
        return structure, chunk.start_index

    def _readable(self, source: str) -> str | None:
        if is_notebook(source.partition("#cell")[0]):
            return None
        with suppress(StoreError):
            return self.text(source)
        return None
