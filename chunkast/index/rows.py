"""Converts chunks to rows of the database, and rows to chunks.

A row that is read is checked against its checksum.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from zlib import crc32

from chunkast.index.connection import DamageError
from chunkast.model import Chunk
from chunkast.sources.jupyter import cell_source
from chunkast.text.hashes import content_hash
from chunkast.text.source_map import without_surrogates

__all__ = ("COLUMNS", "JOINED", "SELECT", "as_json", "checksum_of", "read_row", "values_of")

_HASHES: Final = ("id", "content_hash", "embed_hash")
_NUMBERS: Final = (
    *("start_index", "end_index", "start_byte", "end_byte", "start_line", "end_line"),
    *("token_count", "overlap", "embed_token_count"),
)
# Fields of a chunk that are stored unchanged in columns of the same name.
_PLAIN_FIELDS: Final = (*_HASHES, *_NUMBERS)
# The columns of a chunk, with their types.
COLUMNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(_HASHES, "TEXT NOT NULL"),
    **dict.fromkeys((*_NUMBERS, "position", "own_token_count"), "INTEGER NOT NULL"),
    # If the embedded text contains ``text``, only the parts around ``text`` are stored.
    **dict.fromkeys(("text", "headings", "kinds", "embed_before", "embed_after"), "TEXT NOT NULL"),
    "oversize": "INTEGER NOT NULL",
    "metadata": "TEXT NOT NULL",
    # NULL if the embedded text contains ``text``.
    "embed_text": "TEXT",
    # NULL for a document without pages.
    "pages": "TEXT",
    # Pairs of ``section_starts`` and ``sections``; NULL if an earlier version wrote the row.
    "sections": "TEXT",
    # Of the document's source and hash, and of the columns above; earlier versions have none.
    "row_checksum": "INTEGER NOT NULL",
}
_JSON_COLUMNS: Final = ("headings", "kinds", "metadata", "pages", "sections")
_OWN_TOKENS_COLUMN: Final = [*COLUMNS].index("own_token_count")
# The columns that ``read_row`` reads; ``source`` is NULL if a chunk has no document.
_FIELDS: Final = ", ".join(f"chunks.{name}" for name in COLUMNS)
SELECT: Final = (
    f"SELECT chunks.number, source, text_hash, {_FIELDS} FROM chunks "  # noqa: S608  (constants)
    "LEFT JOIN documents ON documents.number = chunks.document"
)
JOINED: Final = SELECT.replace("LEFT JOIN", "JOIN")


def values_of(chunk: Chunk, own_tokens: int, source: str, text_hash: str) -> tuple[Any, ...]:
    """Return the values of a chunk in the order of ``COLUMNS``.

    ``own_tokens`` is the chunk's token count without the overlap; ``source`` and ``text_hash`` are
    those of its document.
    """
    embed = without_surrogates(chunk.embed_text)
    text = without_surrogates(chunk.text)
    at = embed.find(text)
    values = (
        *(getattr(chunk, name) for name in _PLAIN_FIELDS),
        chunk.index,
        own_tokens,
        text,
        as_json(chunk.headings),
        as_json(chunk.kinds),
        embed[: max(at, 0)],
        embed[at + len(text) :] if at >= 0 else "",
        int(chunk.oversize),
        as_json(chunk.metadata),
        None if at >= 0 else embed,
        None if chunk.pages is None else as_json(chunk.pages),
        as_json([*zip(chunk.section_starts, chunk.sections, strict=True)]),
    )
    return (*values, checksum_of(source, text_hash, values))


def checksum_of(source: str, text_hash: str, values: Sequence[Any]) -> int:
    """Return the checksum of the other values of a chunk, and of two values of its document."""
    return crc32(repr((source, text_hash, *values)).encode("utf-8", "replace"))


def as_json(value: Any) -> str:
    """Return ``value`` as compact JSON, as the database stores it."""
    return without_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def read_row(row: Sequence[Any]) -> tuple[int, int, Chunk]:
    """Read a row of the ``SELECT`` query.

    Returns its row number, its token count without the overlap, and its chunk. Raises
    ``DamageError`` if the row cannot be read, or if it does not match its checksum. A row of an
    earlier version has none; its hashes are compared with its texts instead.
    """
    number, source, text_hash, *values, checksum = row
    whole = checksum in (None, checksum_of(source, text_hash, values))
    try:
        chunk = _chunk(source, values)
        if checksum is None:
            hashes = content_hash(chunk.text), content_hash(chunk.embed_text)
            whole = hashes == (chunk.content_hash, chunk.embed_hash)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise DamageError(f"row {number} of its chunks is damaged")
    return number, values[_OWN_TOKENS_COLUMN], chunk


def _chunk(source: str, values: Sequence[Any]) -> Chunk:
    stored = dict(zip(COLUMNS, values, strict=False))
    parsed = {name: json.loads(stored[name] or "null") for name in _JSON_COLUMNS}
    sections, metadata = parsed["sections"] or (), parsed["metadata"]
    embed = stored["embed_text"]
    if embed is None:
        embed = stored["embed_before"] + stored["text"] + stored["embed_after"]
    if isinstance(metadata.get("cell_id"), str):
        source = cell_source(source, metadata["cell"], metadata["cell_id"])
    fields = {
        **{name: stored[name] for name in (*_PLAIN_FIELDS, "text")},
        **parsed,
        "source": source,
        "index": stored["position"],
        "embed_text": embed,
        "oversize": bool(stored["oversize"]),
        "sections": [path for _, path in sections],
        "section_starts": [start for start, _ in sections],
    }
    return Chunk.from_dict(fields)
