"""Converts chunks to rows of the database, and rows to chunks.

A row that is read is checked against its checksum.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final
from zlib import crc32

from chunkast.index.connection import DamageError
from chunkast.model import Chunk
from chunkast.sources.jupyter import cell_source
from chunkast.text.source_map import encode, without_surrogates

__all__ = ("COLUMNS", "SELECT", "check_row", "read_row", "values_of")

_HASHES: Final = ("id", "content_hash", "embed_hash")
# The other fields. Rows with the values of other fields do not match their checksums.
_FIELDS: Final = [f.name for f in fields(Chunk) if f.name not in {*_HASHES, "source"}]
_FIELDS_CHECKSUM: Final = crc32(repr(_FIELDS).encode())
# The columns of a chunk, with their types.
COLUMNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("position", "own_token_count"), "INTEGER NOT NULL"),
    # The values of the other fields as a JSON list.
    **dict.fromkeys((*_HASHES, "fields"), "TEXT NOT NULL"),
    # Of the document's source, and of the columns above.
    "checksum": "INTEGER NOT NULL",
}
# The columns that ``read_row`` reads.
SELECT: Final = (
    f"SELECT chunks.number, source, {', '.join(COLUMNS)} FROM chunks "  # noqa: S608  (constants)
    "JOIN documents ON documents.number = chunks.document"
)


def values_of(chunk: Chunk, own_tokens: int, source: str) -> tuple[Any, ...]:
    """Return the values of a chunk in the order of ``COLUMNS``.

    ``own_tokens`` is the chunk's token count without the overlap; ``source`` is its document's.
    """
    known = chunk.to_dict()
    # If the embedded text contains the text, only the parts around it are stored.
    before, text, after = chunk.embed_text.partition(chunk.text)
    known["embed_text"] = [before, after] if text else before
    listed = [known[name] for name in _FIELDS]
    stored = without_surrogates(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))
    values = chunk.index, own_tokens, *(known[name] for name in _HASHES), stored
    return (*values, _checksum(source, values))


def read_row(row: Sequence[Any]) -> tuple[int, int, Chunk]:
    """Read a row of the ``SELECT`` query.

    Returns its row number, its token count without the overlap, and its chunk. Raises
    ``DamageError`` if the row cannot be read, or if it does not match its checksum.
    """
    check_row(row)
    number, source, _, own_tokens, *hashes, stored, _ = row
    try:
        known = dict(zip((*_HASHES, *_FIELDS), (*hashes, *json.loads(stored)), strict=True))
        return number, own_tokens, _chunk(source, known)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise DamageError(f"row {number} of its chunks is damaged") from None


def check_row(row: Sequence[Any]) -> None:
    """Raise ``DamageError`` if a row of the ``SELECT`` query does not match its checksum."""
    number, source, *values, checksum = row
    if _checksum(source, values) != checksum:
        raise DamageError(f"row {number} of its chunks is damaged")


def _chunk(source: str, known: dict[str, Any]) -> Chunk:
    if isinstance(known["embed_text"], list):
        known["embed_text"] = known["text"].join(known["embed_text"])
    metadata = known["metadata"]
    if isinstance(metadata.get("cell_id"), str):
        source = cell_source(source, metadata["cell"], metadata["cell_id"])
    return Chunk.from_dict({**known, "source": source})


def _checksum(source: str, values: Sequence[Any]) -> int:
    return crc32(encode(repr((source, *values))), _FIELDS_CHECKSUM)
