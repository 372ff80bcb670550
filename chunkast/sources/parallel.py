"""Processes many documents in input order, in this process or in several processes.

Documents with the same source (nearly always a single document) stay together, because part counts
continue from one document to the next. An exception in one document does not affect the others.
"""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from chunkast.identity import PartCounts
from chunkast.model import Chunk
from chunkast.sources.arguments import checked_text
from chunkast.sources.workers import Answer, Workers, attempt

__all__ = ("OnError", "answers", "chunk_texts", "progress_bar")

Document = TypeVar("Document")
Result = TypeVar("Result")
# Called for a document that failed: its position from 0, its source, the exception.
OnError = Callable[[int, "str | None", BaseException], object]
_Run = Callable[[Document, PartCounts], Result]


class _Continued(ChainMap[bytes, int]):
    """Counts of one document, which continue those of earlier documents without changing them."""

    def __missing__(self, key: bytes) -> int:
        return 0


@contextmanager
def answers(
    groups: Sequence[Sequence[Document]], run: _Run[Document, Result], workers: int
) -> Iterator[Iterator[Answer[Result]]]:
    """Call ``run(document, parts)`` for each document of the groups; yield the answers in order.

    With several groups, up to ``workers`` processes are used, and ``run`` must be picklable.
    ``parts`` continues from one document of a group to the next.
    """
    count = min(workers, len(groups))
    if count > 1:
        with closing(Workers(partial(_answers, run), count)) as processes:
            yield processes.answers(groups)
    else:
        yield chain.from_iterable(_answers(run, group) for group in groups)


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
    workers: int,
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
    with (
        answers(documents, partial(_chunk, chunker), workers) as answered,
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
    from chunkast.sources.documents import iter_document

    source, text = document
    return list(iter_document(chunker, text, source, parts))


@contextmanager
def progress_bar(total: int, *, wanted: bool) -> Iterator[Callable[[], None]]:
    """Show a progress bar for ``total`` documents; yield a function to call after each document.

    Nothing is shown if ``wanted`` is false, without documents, or if stderr is not a terminal. Of a
    single document, the bar shows only that time passes.
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
