"""Reads the files to compare: a lock, a ``chunkast index`` database, or chunks as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

from chunkast.errors import ChunkastError, describe
from chunkast.model import Chunk
from chunkast.testing.lock import LockError, is_lock, open_lock
from chunkast.testing.records import DocumentRecord, Header, record_chunks

__all__ = ("open_side",)

Side = tuple["Header | None", Iterable[DocumentRecord]]

_SQLITE: Final = b"SQLite format 3\0"
_HEAD: Final = 32


@contextmanager
def open_side(path: str) -> Iterator[Side]:
    """Open one side of a comparison: a lock, a database, or a file of chunks as JSON lines.

    Yields the header, or ``None`` for JSON lines, and the documents sorted by source. Raises
    ``LockError`` for a file that cannot be read as any of these.
    """
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise LockError(path, error.strerror or str(error)) from None
    if is_lock(head):
        with open_lock(path) as lock:
            yield lock.header, lock.documents
    elif head.startswith(_SQLITE):
        from chunkast.index import Store

        try:
            with Store(path, read_only=True) as store:
                config = json.loads(store.settings().get("config", "{}"))
                yield Header({}, "", config), _documents(path, store.chunks())
        except LockError:
            raise
        except ChunkastError as error:
            raise LockError(path, str(error).removeprefix(f"{path}: ")) from None
    else:
        yield None, _documents(path, _json_lines(path))


def _documents(path: str, chunks: Iterable[Chunk]) -> list[DocumentRecord]:
    documents = sorted(record_chunks(chunks), key=lambda document: document.source)
    for one, two in pairwise(documents):
        if one.source == two.source:
            raise LockError(path, f"the chunks of {one.source} are not adjacent, or from two files")
    return documents


def _json_lines(path: str) -> Iterator[Chunk]:
    with Path(path).open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield Chunk.from_dict(json.loads(line))
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                raise LockError(
                    path,
                    "neither a lock, nor a database, nor chunks as JSON lines "
                    f"('chunkast chunk --format jsonl'): {describe(error)}",
                    number,
                ) from None
