"""The two one-liners."""

from __future__ import annotations

from typing import Any

from chunkast.chunker import Chunker
from chunkast.model import Chunk
from chunkast.tokens import resolve_counter

__all__ = ("chunk", "count_tokens")


def chunk(text: str, *, source: str | None = None, **options: Any) -> list[Chunk]:
    """The chunks of a Markdown text; ``options`` are the fields of ``ChunkConfig``.

    Raises ``ConfigError`` for an option that is not allowed, and nothing on any string.
    """
    return Chunker(**options).chunk(text, source)


def count_tokens(
    text: str, encoding: object = "cl100k_base", *, allow_download: bool = False
) -> int:
    """How many tokens ``text`` has; ``encoding`` and ``allow_download`` as in ``ChunkConfig``."""
    return resolve_counter(encoding, allow_download=allow_download).count(text)
