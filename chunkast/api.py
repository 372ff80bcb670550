"""The one-liners."""

from __future__ import annotations

from os import PathLike

from chunkast.chunker import Chunker
from chunkast.model import Chunk
from chunkast.options import ChunkOptions, Unpack
from chunkast.sources.arguments import checked_text
from chunkast.tokens import resolve_counter

__all__ = ("chunk", "chunk_file", "count_tokens")


def chunk(
    text: str,
    *,
    source: str | None = None,
    **options: Unpack[ChunkOptions],
) -> list[Chunk]:
    """The chunks of a Markdown text; ``options`` are the fields of ``ChunkConfig``.

    ``source`` names the text, and its extension says what it is: see :meth:`Chunker.chunk`. Raises ``ConfigError`` for an option that is not allowed,
    ``TypeError`` for what is not a str, and nothing on any string.
    """
    return Chunker(**options).chunk(text, source)


def chunk_file(
    path: str | PathLike[str],
    *,
    source: str | None = None,
    **options: Unpack[ChunkOptions],
) -> list[Chunk]:
    """The chunks of a file in UTF-8; its ending says what it is: Markdown, code, a notebook.

    See :meth:`Chunker.chunk_file`; ``options`` are the fields of ``ChunkConfig``. Raises
    ``ConfigError`` for an option that is not allowed, ``SourceError`` for a file that cannot
    be read or is not UTF-8.
    """
    return Chunker(**options).chunk_file(path, source)


def count_tokens(
    text: str, encoding: object = "cl100k_base", *, allow_download: bool = False
) -> int:
    """How many tokens ``text`` has; ``encoding`` and ``allow_download`` as in ``ChunkConfig``.

    Raises ``ConfigError`` for an encoding that is not known, ``TypeError`` for what is not a str.
    """
    text = checked_text(text)
    return resolve_counter(encoding, allow_download=allow_download).count(text)
