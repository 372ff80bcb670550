"""Chunks of a document of any type: a text, its analysis or a notebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from chunkast.core import chunks_of
from chunkast.core.analysis import analyze
from chunkast.identity import Parts
from chunkast.model import Analysis, Chunk
from chunkast.sources.arguments import checked_name, checked_text
from chunkast.sources.notebook import (
    ConfiguredChunker,
    Notebook,
    chunk_cells,
    is_notebook,
    notebook_in,
)

__all__ = ("chunk_document", "iter_document")


def iter_document(
    chunker: ConfiguredChunker,
    document: str | Analysis | Notebook,
    source: str | None,
    parts: Parts,
    *,
    language: str | None = None,
    name: str | None = None,
) -> Iterator[Chunk]:
    """Iterate over the chunks of a document; all is packed when this returns.

    ``parts`` counts the chunks of each location so far, for documents with a source. The type
    of a text is inferred from the extension of ``name`` (by default the ``source``). Raises
    ``TypeError`` if ``document`` is of another type.
    """
    source, language = checked_name("source", source), checked_name("language", language)
    name = source if name is None else name
    config, counter = chunker.config, chunker.counter
    if source is None:
        # Documents without a name share no locations.
        parts = defaultdict(int)
    if not isinstance(document, (Analysis, Notebook)):
        document = checked_text(document)
        if language is None and is_notebook(name):
            document = notebook_in(document) or document
    if isinstance(document, Notebook):
        return chunk_cells(chunker, document, source, parts)
    # A new analysis is not bound to a name here, so that its tree can be freed early.
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
    chunker: ConfiguredChunker,
    document: str | Analysis | Notebook,
    source: str | None,
    parts: Parts | None = None,
    *,
    language: str | None = None,
    name: str | None = None,
) -> list[Chunk]:
    """Return the chunks of a document, as in :func:`iter_document`."""
    parts = defaultdict(int) if parts is None else parts
    return list(iter_document(chunker, document, source, parts, language=language, name=name))
