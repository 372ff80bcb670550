"""Chunk a document of any kind: a text, an analysis or a notebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from os import PathLike
from typing import Final

from chunkast.analysis import structure_of
from chunkast.code import ENDINGS as CODE_ENDINGS
from chunkast.config import ENDINGS
from chunkast.cutting import chunks_of
from chunkast.errors import warn
from chunkast.identity import PartCounts
from chunkast.model import Analysis, Chunk
from chunkast.sources.arguments import checked_name, checked_text
from chunkast.sources.jupyter import (
    ChunkerLike,
    Notebook,
    chunk_cells,
    is_notebook,
    notebook_in,
)

__all__ = ("document_of", "iter_document", "warn_of_path")

# A longer line is not taken for a path.
_LONGEST_PATH: Final = 1_024
_FILE_ENDINGS: Final = (*ENDINGS, *CODE_ENDINGS)


def iter_document(
    chunker: ChunkerLike,
    document: str | Analysis | Notebook,
    source: str | PathLike[str] | None,
    parts: PartCounts | None = None,
    *,
    language: str | None = None,
    name: str | None = None,
) -> Iterator[Chunk]:
    """Return an iterator over the chunks of a document, in order.

    ``parts`` counts the earlier chunks with the same source and heading path; without a source, it
    is ignored. The format of a text is given by ``language``, or inferred from the extension of
    ``name``, by default ``source``. Raises ``TypeError`` for a document of any other type.
    """
    source, language = checked_name("source", source), checked_name("language", language)
    name = source if name is None else name
    config, counter = chunker.config, chunker.counter
    if parts is None or source is None:
        # Without a source, counts do not continue from earlier documents.
        parts = defaultdict(int)
    if not isinstance(document, (Analysis, Notebook)):
        document = checked_text(document)
        if language is None and is_notebook(name):
            document = notebook_in(document, name or "") or document
    if isinstance(document, Notebook):
        return chunk_cells(chunker, document, source, parts)
    structure = structure_of(document, config, name, language)
    return chunks_of(structure, config, counter, source, parts)


def warn_of_path(text: object) -> None:
    """Issue a warning if ``text`` is a single line that looks like the path of a document."""
    if not isinstance(text, str) or len(text) > _LONGEST_PATH:
        return
    name = text.strip()
    if name.lower().endswith(_FILE_ENDINGS) and "\n" not in name and "\r" not in name:
        warn(f"the text {name!r} looks like a path; chunk_file({name!r}) chunks that file")


def document_of(source: str | None) -> str:
    """Return the source of a chunk's document, given the chunk's ``source``.

    For a chunk of a notebook cell, this is the notebook's source.
    """
    return (source or "").partition("#cell")[0]
