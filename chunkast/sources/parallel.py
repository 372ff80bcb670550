"""Process many documents in one or several processes, and keep the input order.

An exception in one document does not affect the others.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from chunkast.identity import PartCounts, next_chunk_id
from chunkast.model import Analysis, Chunk
from chunkast.sources.arguments import checked_name, checked_pairs, checked_text
from chunkast.sources.documents import iter_document
from chunkast.sources.jupyter import Notebook, id_source
from chunkast.sources.workers import (
    Answer,
    WorkerCount,
    Workers,
    attempt,
    check_workers,
    size_that_pays,
)

__all__ = ("OnError", "answers", "chunk_texts", "iter_documents", "progress_bar")

Document = TypeVar("Document")
Result = TypeVar("Result")
# Called for a document that failed: its position from 0, its source, the exception.
OnError = Callable[[int, "str | None", BaseException], object]
_Pair = tuple["str | None", "str | Analysis | Notebook"]


@contextmanager
def answers(
    documents: Sequence[Document],
    run: Callable[[Document], Result],
    workers: WorkerCount,
    size: int,
) -> Iterator[Iterator[Answer[Result]]]:
    """Call ``run`` with each of the documents; yield the answers in order.

    Up to ``workers`` processes are used, and ``run`` must be picklable. With "auto", their number
    depends on the total ``size``, in characters or bytes.
    """
    processes = Workers.started(run, workers, size, len(documents))
    if processes is None:
        yield (attempt(partial(run, document)) for document in documents)
    else:
        with closing(processes):
            yield processes.answers(documents)


def chunk_texts(
    chunker: Any,
    texts: Sequence[str],
    sources: Sequence[str | None],
    *,
    workers: WorkerCount,
    progress: bool,
    on_error: OnError | None,
) -> list[list[Chunk]]:
    """Return the chunks of every text, in input order; see ``Chunker.chunk_batch``."""
    # A subclass of str may be unknown to another process; what is no str fails when it is chunked.
    plain = [checked_text(text) if isinstance(text, str) else text for text in texts]
    size = sum(len(text) for text in plain if isinstance(text, str))
    documents = list(zip(sources, plain, strict=True))
    results: list[list[Chunk]] = [[] for _ in texts]
    failed: list[BaseException] = []
    parts: PartCounts = defaultdict(int)
    with (
        answers(documents, partial(_chunk, chunker), workers, size) as answered,
        progress_bar(len(texts), wanted=progress) as advance,
    ):
        for number, answer in enumerate(answered):
            if answer.error is None:
                results[number] = _continued(answer.value(), sources[number], parts)
            elif on_error is not None:
                on_error(number, sources[number], answer.exception())
            else:
                failed.append(answer.exception())
            advance()
    if failed:
        raise failed[0]
    return results


def _chunk(chunker: Any, document: _Pair) -> list[Chunk]:
    source, text = document
    return list(iter_document(chunker, text, source))


def _continued(chunks: list[Chunk], source: str | None, parts: PartCounts) -> list[Chunk]:
    """Return the chunks of a document with ids that continue those of earlier documents."""
    if source is None:
        return chunks
    continued = []
    for chunk in chunks:
        next_id = next_chunk_id(id_source(source, chunk), chunk.headings, parts)
        continued.append(chunk if chunk.id == next_id else replace(chunk, id=next_id))
    return continued


def iter_documents(
    chunker: Any, documents: Iterable[tuple[Any, Any]], workers: WorkerCount
) -> Iterator[Iterable[Chunk]]:
    """Yield the chunks of each ``(source, text)`` pair, in order; see ``Chunker.iter_chunks``.

    With "auto", other processes are started once :func:`size_that_pays` characters are chunked.
    """
    check_workers(workers)
    parts: PartCounts = defaultdict(int)
    pairs = map(_checked, checked_pairs(documents))
    least = size_that_pays() if workers == "auto" else 0 if workers > 1 else math.inf
    size = 0
    processes = None
    while processes is None:
        if size >= least:
            processes = Workers.started(partial(_named, chunker), workers, math.inf, math.inf)
            least = math.inf
        elif (pair := next(pairs, None)) is None:
            return
        else:
            source, text = pair
            size += len(text) if isinstance(text, str) else 0
            yield iter_document(chunker, text, source, parts)
    unread: list[Exception] = []
    with closing(processes):
        for answer in processes.answers(_until_error(pairs, unread)):
            source, chunks = answer.value()
            yield _continued(chunks, source, parts)
    if unread:
        raise unread[0]


def _checked(pair: tuple[Any, Any]) -> _Pair:
    source, text = checked_name("source", pair[0]), pair[1]
    return source, text if isinstance(text, (Analysis, Notebook)) else checked_text(text)


def _named(chunker: Any, document: _Pair) -> tuple[str | None, list[Chunk]]:
    """Return the source and the chunks of a document."""
    return document[0], _chunk(chunker, document)


def _until_error(pairs: Iterator[_Pair], errors: list[Exception]) -> Iterator[_Pair]:
    """Yield the pairs up to one that cannot be read, whose exception is added to ``errors``.

    So the documents that were read ahead have their turn before the exception is raised.
    """
    try:
        yield from pairs
    except Exception as error:  # noqa: BLE001 - of a user's iterator
        errors.append(error)


@contextmanager
def progress_bar(total: int, *, wanted: bool) -> Iterator[Callable[[], None]]:
    """Show a progress bar for ``total`` documents; yield a function to call after each document.

    Nothing is shown if ``wanted`` is false, ``total`` is 0, or stderr is not a terminal. For a
    single document, only the elapsed time is shown.
    """
    if not wanted or not total or sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TimeElapsedColumn

    # Lines printed on stderr meanwhile appear above the bar; stdout is for data.
    console = Console(stderr=True)
    columns = Progress.get_default_columns() if total > 1 else (BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total if total > 1 else None)
        yield lambda: bar.advance(task)
