"""A document of any kind to its chunks: a text, its analysis, a notebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Protocol

from chunkast.config import ChunkConfig
from chunkast.core import chunks_of
from chunkast.core.analysis import analyze
from chunkast.identity import Parts
from chunkast.model import Analysis, Chunk
from chunkast.sources.arguments import checked_name, checked_text
from chunkast.sources.collector import paused
from chunkast.sources.notebook import Notebook, chunk_cells, is_notebook, notebook_in
from chunkast.tokens import Counter

__all__ = ("chunk_document", "iter_document")


class _Chunker(Protocol):
    """What is read of a ``chunkast.Chunker`` here."""

    config: ChunkConfig
    counter: Counter


def iter_document(
    chunker: _Chunker,
    document: str | Analysis | Notebook,
    source: str | None,
    parts: Parts,
    *,
    language: str | None = None,
    name: str | None = None,
) -> Iterator[Chunk]:
    """The chunks of a document one by one; all is packed when this returns.

    ``parts`` counts those of each location so far, of documents with a source. The ending of
    ``name`` (the ``source`` unless given) says what a text is. Raises ``TypeError`` for what is none of the three.
    """
    source, language = checked_name("source", source), checked_name("language", language)
    name = source if name is None else name
    config, counter = chunker.config, chunker.counter
    if source is None:
        # Nothing is known of the documents before.
        parts = defaultdict(int)
    if not isinstance(document, (Analysis, Notebook)):
        document = checked_text(document)
        if language is None and is_notebook(name):
            document = notebook_in(document) or document
    with paused():
        if isinstance(document, Notebook):
            return chunk_cells(chunker, document, source, parts)
        # An analysis that is made here is kept by no name: its tree is freed when its leaves
        # are known.
        return chunks_of(
            analyze(document, config, name, language, blanks=False)
            if isinstance(document, str)
            else document,
            config,
            counter,
            source,
            parts,
        )


def chunk_document(
    chunker: _Chunker,
    document: str | Analysis | Notebook,
    source: str | None,
    parts: Parts | None = None,
    *,
    language: str | None = None,
    name: str | None = None,
) -> list[Chunk]:
    """The chunks of a document, as in :func:`iter_document`."""
    parts = defaultdict(int) if parts is None else parts
    with paused():
        return list(iter_document(chunker, document, source, parts, language=language, name=name))
