"""Chunk the documents that ``chunkast chunk`` would select in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from chunkast.errors import ConfigError, SourceError
from chunkast.files.find import Search, Selection, select
from chunkast.files.paths import Root
from chunkast.files.read import InputFile, read_document
from chunkast.model import Chunk
from chunkast.sources.arguments import checked_items
from chunkast.sources.documents import iter_document
from chunkast.sources.jupyter import ChunkerLike
from chunkast.sources.parallel import answers
from chunkast.sources.workers import Answer, WorkerCount, check_workers

__all__ = ("OnUnread", "chunk_folder")

# Called for a file or folder that failed: its source, the exception.
OnUnread = Callable[[str, BaseException], object]


def chunk_folder(
    chunker: ChunkerLike,
    folder: str | os.PathLike[str],
    globs: tuple[Sequence[str], Sequence[str]],
    root: str | os.PathLike[str] | None,
    on_error: OnUnread | None,
    *,
    workers: WorkerCount,
) -> Iterator[tuple[str, list[Chunk] | None]]:
    """Find the documents in a folder, and return an iterator over their sources and chunks.

    ``globs`` is the pair of ``include`` and ``exclude``; see ``Chunker.chunk_folder``.
    """
    check_workers(workers)
    path = os.fspath(folder)
    if not os.path.isdir(path):
        raise SourceError(path, "no such folder")
    base = Root.around(path) if root is None else Root.at(os.fspath(root))
    if base.find(path) is None:
        raise ConfigError("root", root, f"must be {path} or a folder above it")
    include, exclude = map(checked_items, ("include", "exclude"), globs)
    search = Search(include, exclude)
    return _documents(chunker, select([path], base, search), base, on_error, workers)


def _documents(
    chunker: ChunkerLike,
    selection: Selection,
    root: Root,
    on_error: OnUnread | None,
    workers: WorkerCount,
) -> Iterator[tuple[str, list[Chunk] | None]]:
    problems: list[tuple[str, Answer[Any]]] = [
        (root.find(each.path) or "", Answer(error=each)) for each in selection.problems
    ]
    sources = [file.source or "" for file in selection.files]
    size = sum(file.size() for file in selection.files)
    failed: list[BaseException] = []
    with answers(selection.files, partial(_chunks, chunker), workers, size) as answered:
        for source, answer in chain(problems, zip(sources, answered, strict=True)):
            if answer.error is None:
                yield source, answer.value()
            elif on_error is not None:
                on_error(source, answer.exception())
                yield source, None
            else:
                failed.append(answer.exception())
    if failed:
        raise failed[0]


def _chunks(chunker: ChunkerLike, file: InputFile) -> list[Chunk]:
    return list(iter_document(chunker, read_document(file), file.source))
