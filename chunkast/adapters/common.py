"""Shared functions of the adapters."""

from __future__ import annotations

from typing import Any, Final

from chunkast.config import ChunkConfig
from chunkast.errors import ConfigError
from chunkast.model import Chunk

__all__ = (
    "PAGE_KEYS",
    "POSITION_KEYS",
    "checked_content",
    "described",
    "embedded_parts",
    "id_of",
    "metadata_of",
)

# The keys of a chunk's position in its metadata.
POSITION_KEYS: Final = ("start_index", "end_index", "start_line", "end_line")

# The keys of a chunk's pages in its metadata, if the document has pages.
PAGE_KEYS: Final = ("first_page", "last_page")


def metadata_of(chunk: Chunk, *, positions: bool = True, sections: bool = False) -> dict[str, Any]:
    """Return the chunk's metadata, heading path, token count and, by default, positions.

    ``headings`` is the heading path, joined by " > " because many vector stores do not accept
    lists; it is "" before the first heading. If the argument ``sections`` is true, the key
    ``sections`` lists the heading path of each section in the chunk, and ``section_anchors`` lists
    their anchors. For a notebook cell that has an id, the positions include the cell number.
    """
    own = dict(chunk.metadata)
    paths = [" > ".join(path) for path in chunk.sections]
    if not positions and own.get("cell_id"):
        del own["cell"]
    return {
        **own,
        "headings": " > ".join(chunk.headings),
        "token_count": chunk.token_count,
        **({key: getattr(chunk, key) for key in POSITION_KEYS} if positions else {}),
        **({"sections": paths, "section_anchors": [*chunk.section_anchors]} if sections else {}),
        **(dict(zip(PAGE_KEYS, chunk.pages, strict=True)) if positions and chunk.pages else {}),
    }


def id_of(chunk: Chunk, *, as_uuid: bool) -> str:
    """Return the chunk's id, or its UUID if ``as_uuid`` is true."""
    return chunk.uuid if as_uuid else chunk.id


def described(adapter: object, config: ChunkConfig, **own: object) -> str:
    """Return an adapter's ``repr``: its class, and the options that differ from the defaults.

    ``own`` are the adapter's own options. False and empty options are omitted.
    """
    options = config.changed_fields() | {name: value for name, value in own.items() if value}
    shown = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"{type(adapter).__name__}({shown})"


def checked_content(content: object) -> None:
    """Raise ``ConfigError`` unless ``content`` is "text" or "embed_text"."""
    if content not in ("text", "embed_text"):
        raise ConfigError("content", content, "must be one of 'text', 'embed_text'")


def embedded_parts(chunk: Chunk) -> tuple[str, str, str]:
    """Split ``embed_text`` into the part before ``text``, ``text`` itself, and the part after it.

    If spans of ``text`` are replaced in ``embed_text``, the second part is all of ``embed_text``
    and the others are empty.
    """
    before, text, after = chunk.embed_text.rpartition(chunk.text)
    return (before, text, after) if text else ("", chunk.embed_text, "")
