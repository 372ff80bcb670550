"""What the adapters of all frameworks share."""

from __future__ import annotations

from typing import Any, Final

from chunkast.model import Chunk

__all__ = ("POSITION_KEYS", "context_around", "metadata_of")

# The keys of a chunk's position in its metadata.
POSITION_KEYS: Final = ("start_index", "end_index", "start_line", "end_line", "token_count")


def metadata_of(chunk: Chunk) -> dict[str, Any]:
    """The chunk's own metadata, its heading path and its position.

    ``headings`` is one string, as many vector stores accept no lists: the titles, joined
    by " > ", "" before the first heading.
    """
    return {
        **chunk.metadata,
        "headings": " > ".join(chunk.headings),
        **{key: getattr(chunk, key) for key in POSITION_KEYS},
    }


def context_around(chunk: Chunk) -> tuple[str, str]:
    """What ``embed_text`` has before and after ``text``."""
    if chunk.embed_text.endswith(chunk.text):
        return chunk.embed_text[: -len(chunk.text)], ""
    before, _, after = chunk.embed_text.rpartition(chunk.text)
    return before, after
