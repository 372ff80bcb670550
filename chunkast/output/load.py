"""Read the chunks that ``chunkast chunk`` wrote as JSON Lines or Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, Final

from chunkast.errors import MissingPackageError, SourceError, describe
from chunkast.model import Chunk

__all__ = ("load",)

_PARQUET: Final = b"PAR1"


def load(path: str | PathLike[str]) -> Iterator[Chunk]:
    """Return an iterator over the chunks in a file that ``chunkast chunk`` wrote.

    The format, JSON Lines or Parquet, is recognized by the file's content. The chunks equal the
    originals, except that Parquet cannot store lone surrogates and has U+FFFD instead. Raises
    ``SourceError`` for a file that is unreadable or invalid, with the line or row, and
    ``MissingPackageError`` for Parquet if pyarrow is not installed.
    """
    name = fspath(path)
    try:
        with Path(name).open("rb") as stream:
            is_parquet = stream.read(len(_PARQUET)) == _PARQUET
    except OSError as error:
        raise SourceError(name, error.strerror or str(error)) from None
    if not is_parquet:
        return _chunks(name, lambda stream: map(json.loads, stream), "line")
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingPackageError("pyarrow", "parquet") from error
    return _chunks(name, lambda stream: _parquet_rows(ParquetFile(stream)), "row")


def _chunks(path: str, rows: Callable[[BinaryIO], Iterator[Any]], unit: str) -> Iterator[Chunk]:
    number = 1
    try:
        with Path(path).open("rb") as stream:
            for row in rows(stream):
                chunk = Chunk.from_dict(row)
                yield chunk
                number += 1
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        reason = f"{unit} {number:,} is not a chunk of 'chunkast chunk': {describe(error)}"
        raise SourceError(path, reason) from None


def _parquet_rows(file: Any) -> Iterator[Any]:
    for batch in file.iter_batches():
        for row in batch.to_pylist():
            yield {**row, "metadata": json.loads(row["metadata"])}
