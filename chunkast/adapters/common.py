"""What the adapters of all frameworks share."""

from __future__ import annotations

from typing import Any, Final

from chunkast.model import Chunk

__all__ = ("POSITION_KEYS", "context_around", "id_of", "metadata_of")

# The keys of a chunk's position in its metadata.
POSITION_KEYS: Final = ("start_index", "end_index", "start_line", "end_line")


def metadata_of(chunk: Chunk, *, positions: bool = True) -> dict[str, Any]:
    """The chunk's own metadata, its heading path, its number of tokens and, if wanted, positions.

    ``headings`` is one string, as many vector stores accept no lists: the titles, joined
    by " > ", "" before the first heading. A notebook's cell is known by its id; its number is
    a position.
    """
    own = dict(chunk.metadata)
    if not positions and own.get("cell_id"):
        del own["cell"]
    return {
        **own,
        "headings": " > ".join(chunk.headings),
        "token_count": chunk.token_count,
        **({key: getattr(chunk, key) for key in POSITION_KEYS} if positions else {}),
    }


def id_of(chunk: Chunk, *, as_uuid: bool) -> str:
    """The chunk's id, or the UUID of it."""
    return chunk.uuid if as_uuid else chunk.id


def context_around(chunk: Chunk) -> tuple[str, str]:
    """What ``embed_text`` has before and after ``text``."""
    if chunk.embed_text.endswith(chunk.text):
        return chunk.embed_text[: -len(chunk.text)], ""
    before, _, after = chunk.embed_text.rpartition(chunk.text)
    return before, after
