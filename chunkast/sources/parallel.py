"""Process many documents in one or several processes, and keep the input order.

Documents with the same source are processed together, because part counts continue from one to the
next. An exception in one document does not affect the others.
"""

from __future__ import annotations

import math
import sys
from collections import ChainMap, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from chunkast.identity import PartCounts
from chunkast.model import Analysis, Chunk
from chunkast.sources.arguments import checked_name, checked_pairs, checked_text
from chunkast.sources.documents import iter_document
from chunkast.sources.jupyter import Notebook
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
_Run = Callable[[Document, PartCounts], Result]


class _Continued(ChainMap[bytes, int]):
    """Counts of one document, which continue those of earlier documents without changing them."""

    def __missing__(self, key: bytes) -> int:
        return 0


@contextmanager
def answers(
    groups: Sequence[Sequence[Document]],
    run: _Run[Document, Result],
    workers: WorkerCount,
    size: int,
) -> Iterator[Iterator[Answer[Result]]]:
    """Call ``run(document, parts)`` for each document of the groups; yield the answers in order.

    The documents of a group share ``parts``. For several groups, up to ``workers`` processes are
    used, and ``run`` must be picklable. With "auto", their number depends on ``size``, the size of
    all documents.
    """
    processes = Workers.started(partial(_answers, run), workers, size, len(groups))
    if processes is None:
        yield chain.from_iterable(_answers(run, group) for group in groups)
    else:
        with closing(processes):
            yield processes.answers(groups)


def _answers(run: _Run[Document, Result], group: Iterable[Document]) -> Iterator[Answer[Result]]:
    parts: dict[bytes, int] = {}
    for document in group:
        counted = _Continued({}, parts)
        answer = attempt(partial(run, document, counted))
        if answer.error is None:
            parts.update(counted.maps[0])
        yield answer


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
    groups: dict[object, list[int]] = {}
    for number, source in enumerate(sources):
        groups.setdefault(number if source is None else source, []).append(number)
    results: list[list[Chunk]] = [[] for _ in texts]
    failed: dict[int, BaseException] = {}
    # A subclass of str may be unknown to another process; what is no str fails when it is chunked.
    plain = [checked_text(text) if isinstance(text, str) else text for text in texts]
    documents = [[(sources[number], plain[number]) for number in g] for g in groups.values()]
    size = sum(len(text) for text in plain if isinstance(text, str))
    with (
        answers(documents, partial(_chunk, chunker), workers, size) as answered,
        progress_bar(len(texts), wanted=progress) as advance,
    ):
        for number, answer in zip(chain.from_iterable(groups.values()), answered, strict=True):
            if answer.error is None:
                results[number] = answer.value()
            elif on_error is not None:
                on_error(number, sources[number], answer.exception())
            else:
                failed[number] = answer.exception()
            advance()
    if failed:
        raise failed[min(failed)]
    return results


def _chunk(chunker: Any, document: tuple[str | None, str], parts: PartCounts) -> list[Chunk]:
    source, text = document
    return list(iter_document(chunker, text, source, parts))


def iter_documents(
    chunker: Any, documents: Iterable[tuple[Any, Any]], workers: WorkerCount
) -> Iterator[Iterable[Chunk]]:
    """Yield the chunks of each ``(source, text)`` pair, in order; see ``Chunker.iter_chunks``.

    With "auto", other processes are started only after this process has chunked much text.
    """
    check_workers(workers)
    parts: PartCounts = defaultdict(int)
    pairs = map(_checked, checked_pairs(documents))
    seen: set[str | None] = set()
    least = size_that_pays() if workers == "auto" else 0 if workers > 1 else math.inf
    size = 0
    processes = None
    while processes is None:
        if size >= least:
            run = partial(_answers, partial(_counted, chunker))
            processes = Workers.started(run, workers, math.inf, math.inf)
            least = math.inf
        elif (pair := next(pairs, None)) is None:
            return
        else:
            source, text = pair
            seen.add(source)
            size += len(text) if isinstance(text, str) else 0
            yield iter_document(chunker, text, source, parts)
    with closing(processes):
        yield from _shared(chunker, pairs, processes, seen, parts)


def _checked(pair: tuple[Any, Any]) -> _Pair:
    source, text = checked_name("source", pair[0]), pair[1]
    return source, text if isinstance(text, (Analysis, Notebook)) else checked_text(text)


def _shared(
    chunker: Any,
    pairs: Iterator[_Pair],
    processes: Workers,
    seen: set[str | None],
    parts: PartCounts,
) -> Iterator[Iterable[Chunk]]:
    """Yield the chunks of each pair, most of which are chunked in other processes.

    If a source has occurred before (it is in ``seen``), part counts continue. The document is then
    chunked in this process when it is its turn, and so are documents that are not texts.
    """
    # For each pair that was read: itself if it is chunked in this process.
    kept: deque[Answer[_Pair] | None] = deque()

    def groups() -> Iterator[list[_Pair]]:
        while (answer := attempt(partial(next, pairs, None))) != Answer():
            source, text = answer.result or (None, None)
            here = not isinstance(text, str) or (source is not None and source in seen)
            seen.add(source)
            kept.append(answer if here else None)
            yield [(None, "") if here or text is None else (source, text)]

    for answer in processes.answers(groups()):
        if (own := kept.popleft()) is None:
            chunks, counts = answer.value()
            parts.update(counts)
            yield chunks
        else:
            source, text = own.value()
            yield iter_document(chunker, text, source, parts)


def _counted(
    chunker: Any, document: tuple[str | None, str], parts: PartCounts
) -> tuple[list[Chunk], dict[bytes, int]]:
    """Return the chunks of a document, and the number of parts at each location."""
    return _chunk(chunker, document, parts), dict(parts)


@contextmanager
def progress_bar(total: int, *, wanted: bool) -> Iterator[Callable[[], None]]:
    """Show a progress bar for ``total`` documents; yield a function to call after each document.

    Nothing is shown if ``wanted`` is false, ``total`` is 0, or stderr is not a terminal. For a
    single document, the bar is only an animation.
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
