"""A task over many documents: in this process or spread over several, in input order.

A task takes a chunker, a document and how many parts of its source came before, and gives a
result. Documents of one source stand side by side, as inputs are sorted.
"""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from chunkast.cli.inputs import InputFile, Selection, read_document
from chunkast.cli.messages import say_error, say_note
from chunkast.errors import SourceError, describe
from chunkast.identity import Parts
from chunkast.sources.parallel import answers, progress_bar
from chunkast.sources.workers import Answer

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.sources.notebook import Notebook

__all__ = ("Document", "Parts", "Tally", "Task", "cut_off", "results")

T = TypeVar("T")
Document = tuple["str | None", "str | Notebook"]
Task = Callable[["Chunker", Document, Parts], T]
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Tally:
    """How many documents were read, and how many inputs failed."""

    documents: int = 0
    failures: int = 0

    def fail(self, error: SourceError) -> None:
        """Count and report an input that failed."""
        say_error(error)
        _LOG.debug("raised at", exc_info=error)
        self.failures += 1


def cut_off(chunker: Chunker, embed_tokens: int) -> int:
    """How many tokens the model would not read of what is embedded, after the reserved ones."""
    return chunker.counter.cut_off(embed_tokens + chunker.config.reserve_tokens)


def results(
    options: Namespace,
    selection: Selection,
    chunker: Chunker,
    task: Task[T],
    tally: Tally,
    *,
    progress: bool = True,
) -> Generator[T, None, None]:
    """The task's result for every document that can be read; the others are reported."""
    for problem in selection.problems:
        tally.fail(problem)
    left_out = str(selection.left_out)
    if left_out and not options.quiet:
        say_note(left_out)
    files = selection.files
    wanted = progress and not options.quiet
    # The bar is a thread, so the processes are started before it.
    groups = [list(group) for _, group in groupby(files, key=lambda file: file.source)]
    with (
        answers(groups, partial(_run, chunker, task), _size, options.jobs) as found,
        progress_bar(len(files), wanted=wanted) as advance,
    ):
        for outcome in _told(files, found):
            if isinstance(outcome, SourceError):
                tally.fail(outcome)
            else:
                tally.documents += 1
                yield outcome
            advance()


def _told(files: Iterable[InputFile], answers: Iterable[Answer[T]]) -> Iterator[T | SourceError]:
    """Each document's result, or why there is none."""
    for file, answer in zip(files, answers, strict=True):
        if answer.error is None:
            yield answer.value()
            continue
        # With its traceback, also where that is another process's.
        error = answer.exception()
        if not isinstance(error, SourceError):
            cause, error = error, SourceError(file.path, describe(error))
            error.__cause__ = cause
        yield error


def _size(file: InputFile) -> int:
    try:
        return Path(file.path).stat().st_size if file.data is None else len(file.data)
    except OSError:
        return 0


def _run(chunker: Chunker, task: Task[T], file: InputFile, parts: Parts) -> T:
    _LOG.debug("reading %s", file.path)
    return task(chunker, (file.source, read_document(file)), parts)
