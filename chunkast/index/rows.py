"""Convert chunks to rows of the database, and rows to chunks.

The text of a chunk is not stored: it is a slice of its document's text. Reading a row checks the
row and its text against a checksum.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import lru_cache
from typing import Any, Final
from zlib import crc32

from chunkast.index.connection import DamageError
from chunkast.model import Chunk
from chunkast.sources.jupyter import cell_source
from chunkast.text.source_map import encode, without_surrogates

__all__ = (
    "BY_NUMBER",
    "COLUMNS",
    "SELECT",
    "checked_text",
    "field_column",
    "read_rows",
    "text_reader",
    "values_of",
)

# The fields with a column of their own, which has the same name, and other fields.
_HASHES: Final = ("id", "content_hash", "embed_hash")
_SPAN: Final = ("start_index", "end_index")
_OTHERS: Final = {*_HASHES, *_SPAN, "index", "source", "text"}
_FIELDS: Final = [f.name for f in fields(Chunk) if f.name not in _OTHERS]
# Rows with the values of other fields do not match their checksums.
_FIELDS_CHECKSUM: Final = crc32(repr(_FIELDS).encode())
# The columns of a chunk, with their types.
COLUMNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("position", "own_token_count", *_SPAN), "INTEGER NOT NULL"),
    # The values of the other fields as a JSON list.
    **dict.fromkeys((*_HASHES, "fields"), "TEXT NOT NULL"),
    # NULL if the text is the slice of the document's text from ``start_index`` to ``end_index``.
    "text": "TEXT",
    # Of the document's source, of the columns above, and of the text.
    "checksum": "INTEGER NOT NULL",
}
# The rows that ``checked_text`` checks.
SELECT: Final = (
    f"SELECT chunks.number, document, source, {', '.join(f'chunks.{x}' for x in COLUMNS)} FROM chunks "  # noqa: S608
    "JOIN documents ON documents.number = chunks.document"
)

# Selects the rows whose numbers are in a JSON list.
BY_NUMBER: Final = "WHERE chunks.number IN (SELECT value FROM json_each(?))"


def field_column(name: str) -> str:
    """Return an SQL expression for the value of a field in the column ``fields``."""
    return f"json_extract(fields, '$[{_FIELDS.index(name)}]')"


def values_of(chunk: Chunk, own_tokens: int, source: str, document: str) -> tuple[Any, ...]:
    """Return the values of a chunk in the order of ``COLUMNS``.

    ``own_tokens`` is the chunk's token count without the overlap; ``source`` and ``document`` are
    the stored name and text of its document.
    """
    known = chunk.to_dict()
    # If the embedded text contains the text, only the parts around it are stored.
    before, shown, after = chunk.embed_text.partition(chunk.text)
    known["embed_text"] = [before, after] if shown else before
    listed = [known[name] for name in _FIELDS]
    stored = without_surrogates(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))
    span, text = (chunk.start_index, chunk.end_index), without_surrogates(chunk.text)
    own = None if document[slice(*span)] == text else text
    values = chunk.index, own_tokens, *span, *(known[name] for name in _HASHES), stored, own
    return (*values, _checksum(source, values, text))


def read_rows(
    connection: sqlite3.Connection, condition: str, values: Sequence[object] = ()
) -> Iterator[tuple[int, int, Chunk]]:
    """Yield the number, the token count without the overlap, and the chunk of each selected row.

    ``condition`` is appended to the ``SELECT`` query. All rows are read in one transaction. Raises
    ``DamageError`` if a row is unreadable or does not match its checksum.
    """
    text_of = text_reader(connection)
    for row in connection.execute(f"{SELECT} {condition}", values):
        number, _, source, position, own_tokens, start, end, *hashes, stored, _, _ = row
        text = checked_text(row, text_of)
        try:
            known = dict(zip((*_HASHES, *_FIELDS), (*hashes, *json.loads(stored)), strict=True))
            if isinstance(known["embed_text"], list):
                known["embed_text"] = text.join(known["embed_text"])
            metadata = known["metadata"]
            if isinstance(metadata.get("cell_id"), str):
                source = cell_source(source, metadata["cell"], metadata["cell_id"])
            place = {"source": source, "index": position, "start_index": start, "end_index": end}
            chunk = Chunk.from_dict({**known, **place, "text": text})
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise DamageError(f"row {number} of its chunks is damaged") from None
        yield number, own_tokens, chunk


def text_reader(connection: sqlite3.Connection) -> Callable[[int], str]:
    """Return a function that returns a document's text by number, and caches the last text."""
    query = "SELECT text FROM documents WHERE number = ?"
    return lru_cache(1)(lambda number: connection.execute(query, (number,)).fetchone()[0])


def checked_text(row: Sequence[Any], text_of: Callable[[int], str]) -> str:
    """Return the text of a row's chunk; raise ``DamageError`` if its checksum does not match."""
    number, document, source, *values, checksum = row
    with suppress(AttributeError, TypeError):
        start, end, text = *values[2:4], values[-1]
        if text is None:
            text = text_of(document)[start:end]
        if _checksum(source, values, text) == checksum:
            return str(text)
    raise DamageError(f"row {number} of its chunks is damaged")


def _checksum(source: str, values: Sequence[Any], text: str) -> int:
    return crc32(encode(text), crc32(encode(repr((source, *values))), _FIELDS_CHECKSUM))
