"""Converts chunks to rows of the database, and rows to chunks.

The text of a chunk is a slice of its document, which is not stored again. A row that is read is
checked, with its text, against its checksum.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any, Final
from zlib import crc32

from chunkast.index.connection import DamageError
from chunkast.model import Chunk
from chunkast.sources.jupyter import cell_source
from chunkast.text.source_map import encode, without_surrogates

__all__ = ("COLUMNS", "SELECT", "Texts", "checked_text", "field_column", "read_rows", "values_of")

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
# The rows that ``checked_text`` checks. The first chunk of a document brings the document's text.
SELECT: Final = (
    "SELECT chunks.number, document, CASE position WHEN 0 THEN documents.text END, source, "  # noqa: S608
    f"{', '.join(f'chunks.{name}' for name in COLUMNS)} FROM chunks "
    "JOIN documents ON documents.number = chunks.document"
)


def field_column(name: str) -> str:
    """Return SQL for the value of a field that is stored in ``fields``."""
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


class Texts:
    """The texts of stored documents, of which the last one is kept."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._last: tuple[int, str] = (-1, "")

    def of(self, document: int, text: str | None) -> str:
        """Return the text of a document; ``text`` is that text, or ``None`` to read it."""
        if text is not None or self._last[0] != document:
            query = "SELECT text FROM documents WHERE number = ?"
            found = (text,) if text else self._connection.execute(query, (document,)).fetchone()
            self._last = document, found[0]
        return self._last[1]


def read_rows(
    connection: sqlite3.Connection, condition: str, values: Sequence[object] = ()
) -> Iterator[tuple[int, int, Chunk]]:
    """Yield the row number, the token count without the overlap, and the chunk of some rows.

    ``condition`` is the rest of the query after ``SELECT``. Raises ``DamageError`` if a row cannot
    be read, or if it does not match its checksum.
    """
    texts = Texts(connection)
    for row in connection.execute(f"{SELECT} {condition}", values):
        number, _, _, source, position, own_tokens, start, end, *hashes, stored, _, _ = row
        text = checked_text(row, texts)
        try:
            known = dict(zip((*_HASHES, *_FIELDS), (*hashes, *json.loads(stored)), strict=True))
            known |= {"index": position, "start_index": start, "end_index": end, "text": text}
            chunk = _chunk(source, known)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise _damage(number) from None
        yield number, own_tokens, chunk


def checked_text(row: Sequence[Any], texts: Texts) -> str:
    """Return the text of a row's chunk; raise ``DamageError`` if its checksum does not match."""
    number, document, whole, source, *values, checksum = row
    with suppress(AttributeError, TypeError):
        start, end, text = *values[2:4], values[-1]
        if text is None:
            text = texts.of(document, whole)[start:end]
        if _checksum(source, values, text) == checksum:
            return str(text)
    raise _damage(number)


def _damage(number: int) -> DamageError:
    return DamageError(f"row {number} of its chunks is damaged")


def _chunk(source: str, known: dict[str, Any]) -> Chunk:
    if isinstance(known["embed_text"], list):
        known["embed_text"] = known["text"].join(known["embed_text"])
    metadata = known["metadata"]
    if isinstance(metadata.get("cell_id"), str):
        source = cell_source(source, metadata["cell"], metadata["cell_id"])
    return Chunk.from_dict({**known, "source": source})


def _checksum(source: str, values: Sequence[Any], text: str) -> int:
    return crc32(encode(text), crc32(encode(repr((source, *values))), _FIELDS_CHECKSUM))
