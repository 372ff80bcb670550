"""The vectors of embedded texts, stored in blocks of about a thousand.

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
    "SELECT_BLOCKS",
    "Block",
    "StoredVectors",
    "blocks",
    "prune",
    "put",
    "read_block",
    "size_of",
)

# The setting with the name of the model.
MODEL: Final = "embed_model"
# The number of vectors from which on small blocks become one.
_FULL: Final = 1_000
_BYTES: Final = 4
_COLUMNS: Final = "model, size, count, hashes, checksum, vectors"
SELECT_BLOCKS: Final = f"SELECT number, {_COLUMNS} FROM vector_blocks"  # noqa: S608  (constants)
# Chunks with the same embedded text have the same vector; the first is listed.
_TEXTS: Final = "SELECT embed_hash, min(number) FROM chunks GROUP BY embed_hash ORDER BY 2"


class Block(NamedTuple):
    """Vectors of one size and model: the hashes of their texts, and their numbers as bytes."""

    model: str
    size: int
    hashes: list[str]
    data: bytes

    def checksum(self) -> int:
        """Return a checksum of everything in the block."""
        return crc32(self.data, crc32(encode(repr(self[:3]))))

    def only(self, wanted: set[str]) -> Block:
        """Return the vectors of the ``wanted`` hashes."""
        width = self.size * _BYTES
        kept = [at for at, each in enumerate(self.hashes) if each in wanted]
        data = b"".join(self.data[at * width : (at + 1) * width] for at in kept)
        return self._replace(hashes=[self.hashes[at] for at in kept], data=data)


def put(connection: sqlite3.Connection, block: Block) -> None:
    """Store a block, within the open transaction."""
    values = (*block[:2], len(block.hashes), " ".join(block.hashes), block.checksum(), block.data)
    connection.execute(f"INSERT INTO vector_blocks ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", values)  # noqa: S608


def size_of(connection: sqlite3.Connection, model: str) -> int:
    """Return the size of the vectors of a model, or 0 if there are none.

    Raises ``DamageError`` if they have different sizes.
    """
    query = "SELECT min(size), max(size) FROM vector_blocks WHERE model = ?"
    least, most = connection.execute(query, (model,)).fetchone()
    if least != most:
        raise DamageError("its vectors have different sizes")
    return most or 0


def blocks(connection: sqlite3.Connection, where: str, *values: Any) -> Iterator[Block]:
    """Return the stored blocks in order; raise ``DamageError`` for one that is damaged."""
    return map(read_block, connection.execute(f"{SELECT_BLOCKS} {where} ORDER BY number", values))


def read_block(row: tuple[Any, ...]) -> Block:
    """Read a row of the ``SELECT_BLOCKS`` query; raise ``DamageError`` if it is damaged."""
    number, model, size, count, hashes, checksum, data = row
    with suppress(AttributeError, TypeError):
        block = Block(model, size, hashes.split(), data)
        whole = 0 < count == len(block.hashes) and len(data) == count * size * _BYTES
        if whole and block.checksum() == checksum:
            return block
    raise DamageError(f"row {number} of its vectors is damaged")


def prune(connection: sqlite3.Connection, model: str) -> int:
    """Delete the vectors of other models and of texts that no chunk has; return their number."""
    wanted = {text for (text,) in connection.execute("SELECT DISTINCT embed_hash FROM chunks")}
    removed = 0
    numbers = connection.execute("SELECT number FROM vector_blocks ORDER BY number").fetchall()
    for (number,) in numbers:
        [block] = blocks(connection, "WHERE number = ?", number)
        kept = block.only(wanted if block.model == model else set())
        if len(kept.hashes) < len(block.hashes):
            removed += len(block.hashes) - len(kept.hashes)
            _replace(connection, [number], kept)
    return removed


def _replace(connection: sqlite3.Connection, numbers: list[int], block: Block) -> None:
    """Store a block in the place of others."""
    # It is stored first, so that its number is higher than any before.
    if block.hashes:
        put(connection, block)
    connection.executemany("DELETE FROM vector_blocks WHERE number = ?", zip(numbers))


class StoredVectors:
    """The vectors of one model.

    hashes: the hashes of the texts that have a vector.
    size: the size of the vectors, or ``None`` if there are none.
    """

    def __init__(self, connection: sqlite3.Connection, model: str) -> None:
        self._connection = connection
        self._model = model
        self._last = 0
        self.hashes: set[str] = set()
        self.size: int | None = None
        self.refresh()

    def refresh(self) -> None:
        """Read which vectors were added, also by other processes, since the last call."""
        query = "SELECT number, size, hashes FROM vector_blocks WHERE model = ? AND number > ?"
        for number, size, hashes in self._connection.execute(query, (self._model, self._last)):
            self._last, self.size = max(number, self._last), size
            self.hashes.update(str(hashes).split())

    def missing(self) -> dict[str, int]:
        """Return the hashes of all texts without a vector, with the number of a chunk for each."""
        texts = self._connection.execute(_TEXTS)
        return {text: number for text, number in texts if text not in self.hashes}

    def add(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store the vectors of texts that have none yet, within the open transaction."""
        self.refresh()
        new = {each: vector for each, vector in vectors.items() if each not in self.hashes}
        if not new:
            return
        size = self.size or len(next(iter(new.values())))
        data = b"".join(struct.pack(f"<{size}f", *vector) for vector in new.values())
        put(self._connection, Block(self._model, size, [*new], data))
        self._join()
        self.refresh()

    def _join(self) -> None:
        """Make one block of the small ones if there are enough of them."""
        where = "WHERE model = ? AND count < ?"
        values = self._model, _FULL
        query = f"SELECT number, count FROM vector_blocks {where}"  # noqa: S608  (constants)
        rows = self._connection.execute(query, values)
        counts = dict(rows.fetchall())
        if len(counts) > 1 and sum(counts.values()) >= _FULL:
            small = [*blocks(self._connection, where, *values)]
            hashes = [each for block in small for each in block.hashes]
            data = b"".join(block.data for block in small)
            _replace(self._connection, [*counts], small[0]._replace(hashes=hashes, data=data))
