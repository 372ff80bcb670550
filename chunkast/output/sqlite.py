"""Write chunks to an SQLite database that can be searched like one made by ``chunkast index``."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

from chunkast.model import Chunk
from chunkast.sources.notebook import document_source

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = ("write_sqlite",)


def write_sqlite(chunks: Iterable[Chunk], out: BinaryIO, chunker: Chunker) -> None:
    """Write the chunks as an SQLite database; the chunks of each document must be consecutive.

    Chunks that do not have a source are stored with the source "-".
    """
    from chunkast.index import IndexedDocument, Store, own_token_counts

    with TemporaryDirectory(prefix="chunkast-") as folder:
        path = Path(folder, "chunks.db")
        with Store(str(path), create=True) as store, store.writing(chunker) as run:
            for source, group in groupby(chunks, key=document_source):
                found = tuple(group)
                # The document's text is unknown here, and so is its hash.
                run.put(
                    IndexedDocument(
                        "-" if source is None else source,
                        "",
                        found,
                        own_token_counts(found, chunker.counter.count),
                    )
                )
        with path.open("rb") as written:
            shutil.copyfileobj(written, out)
