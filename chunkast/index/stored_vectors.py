"""Store and read the vectors of embedded texts.

A vector belongs to a model and to the ``embed_hash`` of a text, so it survives edits and moves.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple
from zlib import crc32

from chunkast.index.connection import DamageError
from chunkast.text.source_map import encode

__all__ = (
    "MODEL",
    "SELECT_VECTORS",
    "StoredVector",
    "add",
    "missing",
    "prune",
    "put",
    "read_vector",
    "size_of",
    "vectors",
)

# The setting with the name of the model.
MODEL: Final = "embed_model"
SELECT_VECTORS: Final = "SELECT model, embed_hash, vector, checksum FROM text_vectors"
_PUT: Final = "INSERT OR IGNORE INTO text_vectors VALUES (?, ?, ?, ?)"
# Chunks with the same embedded text have the same vector; the first is listed.
_MISSING: Final = """SELECT embed_hash, min(number) FROM chunks
    WHERE embed_hash NOT IN (SELECT embed_hash FROM text_vectors WHERE model = ?)
    GROUP BY embed_hash ORDER BY 2"""
_PRUNE: Final = """DELETE FROM text_vectors
    WHERE model != ? OR embed_hash NOT IN (SELECT embed_hash FROM chunks)"""


class StoredVector(NamedTuple):
    """The vector of a text; ``data`` is in single precision."""

    model: str
    embed_hash: str
    data: bytes

    def checksum(self) -> int:
        """Return a checksum of all values."""
        return crc32(self.data, crc32(encode(f"{self.model} {self.embed_hash}")))

    def is_zero(self) -> bool:
        """Return whether all numbers are 0, so that the vector has no direction."""
        # Only 0, -0 and numbers below 1.2e-38 have no other bytes.
        return not self.data.strip(b"\0\x80")


def size_of(connection: sqlite3.Connection, model: str) -> int:
    """Return the size of the vectors of a model, or 0 if it has no vectors."""
    query = "SELECT (length(vector) + 3) / 4 FROM text_vectors WHERE model = ? LIMIT 1"
    return int((connection.execute(query, (model,)).fetchone() or (0,))[0])


def vectors(connection: sqlite3.Connection, model: str) -> Iterator[StoredVector]:
    """Yield the vectors of a model; raise ``DamageError`` if one is damaged or sizes differ."""
    size = 4 * size_of(connection, model)
    # The sign makes SQLite read the table in its order in the file, not in that of the hashes.
    for row in connection.execute(f"{SELECT_VECTORS} WHERE +model = ?", (model,)):
        vector = read_vector(row)
        if len(vector.data) != size:
            raise DamageError("its vectors have different sizes")
        yield vector


def read_vector(row: Sequence[Any]) -> StoredVector:
    """Read a row of the ``SELECT_VECTORS`` query.

    Raises ``DamageError`` for a damaged vector, and for a vector of zeros from an earlier version.
    """
    *values, checksum = row
    vector = StoredVector(*values)
    with suppress(AttributeError, TypeError):
        whole = len(vector.data) % 4 == 0 and vector.checksum() == checksum
        if whole and not vector.is_zero():
            return vector
    raise DamageError(f"the vector of {vector.embed_hash} is damaged or consists of zeros")


def missing(connection: sqlite3.Connection, model: str) -> dict[str, int]:
    """Return the hash of each text without a vector, with the number of its first chunk."""
    return dict(connection.execute(_MISSING, (model,)).fetchall())


def add(connection: sqlite3.Connection, model: str, new: Mapping[str, Sequence[float]]) -> None:
    """Store the vectors of texts that have no vector yet, within the open transaction."""
    size = size_of(connection, model) or len(next(iter(new.values())))
    pack = struct.Struct(f"<{size}f").pack
    put(connection, [StoredVector(model, text, pack(*vector)) for text, vector in new.items()])


def put(connection: sqlite3.Connection, new: Sequence[StoredVector]) -> None:
    """Store vectors, within the open transaction."""
    connection.executemany(_PUT, ((*vector, vector.checksum()) for vector in new))


def prune(connection: sqlite3.Connection, model: str) -> int:
    """Delete the vectors of other models and of removed texts, and return their number."""
    return connection.execute(_PRUNE, (model,)).rowcount
