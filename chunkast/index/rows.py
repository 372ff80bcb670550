"""Converts chunks to rows of the database, and rows to chunks.

Every row stores a checksum of its values, its row number and its document's source, so that damage
to any of them is detected.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final
from zlib import crc32

from chunkast.model import Chunk
from chunkast.sources.notebook import cell_source
from chunkast.text.hashes import content_hash
from chunkast.text.source_map import without_surrogates

__all__ = (
    "COLUMNS",
    "SELECT",
    "DamageError",
    "as_json",
    "checksum",
    "faults_of",
    "read_row",
    "values_of",
)

# Fields of a chunk that are stored unchanged in columns of the same name.
_PLAIN_FIELDS: Final = (
    "id",
    "start_index",
    "end_index",
    "start_byte",
    "end_byte",
    "start_line",
    "end_line",
    "token_count",
    "overlap",
    "content_hash",
    "embed_token_count",
    "embed_hash",
)
COLUMNS: Final = (
    *_PLAIN_FIELDS,
    "position",
    "own_token_count",
    "text",
    "headings",
    "kinds",
    "embed_before",
    "embed_after",
    "oversize",
    "metadata",
    # NULL if the embedded text contains ``text``.
    "embed_text",
    # NULL for a document without pages.
    "pages",
    # Pairs of ``section_starts`` and ``sections``; NULL if an earlier version wrote the row.
    "sections",
)
_OWN_TOKENS_COLUMN: Final = COLUMNS.index("own_token_count")
# The columns that ``read_row`` reads; ``source`` is NULL if a left join finds no document.
SELECT: Final = (
    f"SELECT chunks.number, chunks.checksum, documents.source, "  # noqa: S608  (constants)
    f"{', '.join(f'chunks.{name}' for name in COLUMNS)} FROM chunks"
)


class DamageError(Exception):
    """An error for damaged data in the index; the message names the damaged data."""


def checksum(*values: object) -> int:
    """Return the CRC-32 checksum of integers and strings, as SQLite stores them; ignore None."""
    stored = "\0".join([str(value) for value in values if value is not None])
    return crc32(stored.encode("utf-8", "surrogatepass"))


def values_of(chunk: Chunk, own_tokens: int) -> tuple[Any, ...]:
    """Return the values of a chunk in the order of ``COLUMNS``.

    ``own_tokens`` is the chunk's token count without the overlap.
    """
    embed = without_surrogates(chunk.embed_text)
    text = without_surrogates(chunk.text)
    at = embed.find(text)
    return (
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


def as_json(value: Any) -> str:
    """Return ``value`` as compact JSON, as the database stores it."""
    return without_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def read_row(row: Sequence[Any]) -> tuple[int, int, Chunk]:
    """Read a row of the ``SELECT`` query.

    Returns its row number, its token count without the overlap, and its chunk. Raises
    ``DamageError`` if the row does not match its checksum or cannot be read.
    """
    number, stored, source, *values = row
    if checksum(number, source, *values) != stored:
        raise DamageError(f"row {number} of its chunks is damaged")
    try:
        return number, values[_OWN_TOKENS_COLUMN], _chunk(source, values)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise DamageError(f"row {number} of its chunks cannot be read") from None


def _chunk(source: str, values: Sequence[Any]) -> Chunk:
    stored = dict(zip(COLUMNS, values, strict=True))
    metadata = json.loads(stored["metadata"])
    embed = stored["embed_text"]
    if embed is None:
        embed = stored["embed_before"] + stored["text"] + stored["embed_after"]
    if isinstance(metadata.get("cell_id"), str):
        source = cell_source(source, metadata["cell"], metadata["cell_id"])
    sections = json.loads(stored["sections"] or "[]")
    fields = dict(
        **{name: stored[name] for name in _PLAIN_FIELDS},
        source=source,
        index=stored["position"],
        text=stored["text"],
        headings=tuple(json.loads(stored["headings"])),
        kinds=tuple(json.loads(stored["kinds"])),
        embed_text=embed,
        oversize=bool(stored["oversize"]),
        metadata=metadata,
        pages=None if stored["pages"] is None else tuple(json.loads(stored["pages"])),
        sections=tuple(tuple(path) for _, path in sections),
        section_starts=tuple(start for start, _ in sections),
    )
    return Chunk.from_dict(fields)


def faults_of(source: str, values: Sequence[Any]) -> str:
    """Return a description of the fault in a chunk's stored values, or an empty string.

    A fault is a value that cannot be read, or a hash that does not match its text.
    """
    try:
        chunk = _chunk(source, values)
        wrong = [
            name
            for name, text in (("content_hash", chunk.text), ("embed_hash", chunk.embed_text))
            if content_hash(text) != getattr(chunk, name)
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return f"cannot be read ({type(error).__name__}: {error})"
    return f"its {' and its '.join(wrong)} is not that of its text" if wrong else ""
