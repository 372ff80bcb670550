"""A task over many documents: in this process or spread over several, in input order.

A task takes a chunker, a document and how many parts of its source came before, and gives a
result. Documents of one source, nearly always a single one, stay together, because their
chunks count their parts on from one to the next; they stand side by side, as inputs are
sorted. What is raised in one document costs that document alone.
"""

from __future__ import annotations

import gc
import logging
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from chunkast.batch import Continued
from chunkast.cli.inputs import InputFile, Selection, read_document
from chunkast.cli.messages import say_error, say_note
from chunkast.cli.progress import progress_bar
from chunkast.config import ChunkConfig
from chunkast.errors import SourceError, describe
from chunkast.workers import Answer, attempt, started

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.notebook import Notebook

__all__ = ("Document", "Parts", "Tally", "Task", "results")

T = TypeVar("T")
Document = tuple["str | None", "str | Notebook"]
Parts = defaultdict[bytes, int]
Task = Callable[["Chunker", Document, Parts], T]
_Group = list[InputFile]
_LOG = logging.getLogger(__name__)

# A work unit ends at this number of bytes or files, so that sending it costs little and its
# results do not pile up.
_UNIT_BYTES: Final = 256 * 1024
_UNIT_FILES: Final = 32
# The most names that a line shows.
_SHOWN: Final = 5


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
    if selection.vendored and not options.quiet:
        say_note(f"left out {', '.join(sorted(selection.vendored))}")
    if selection.outside and not options.quiet:
        say_note(
            f"left out {_some(selection.outside.values())}: symbolic links out of the folder given, which "
            "--follow-links takes"
        )
    if selection.ambiguous and not options.quiet:
        say_note(
            f"files whose relative path is that of a file in another folder: "
            f"{selection.ambiguous}; give the folder above both to tell them apart"
        )
    files = selection.files
    wanted = progress and not options.quiet
    # The bar is a thread, so the processes are started before it.
    with (
        _outcomes(files, chunker, task, options.jobs) as outcomes,
        progress_bar(len(files), wanted=wanted) as advance,
    ):
        for outcome in outcomes:
            if isinstance(outcome, SourceError):
                tally.fail(outcome)
            else:
                tally.documents += 1
                yield outcome
            advance()


def _some(names: Collection[str]) -> str:
    """The first of ``names``, and how many others there are."""
    shown, more = sorted(names)[:_SHOWN], len(names) - _SHOWN
    return f"{', '.join(shown)}{f' and {more:,} more' if more > 0 else ''}"


@contextmanager
def _outcomes(
    files: Sequence[InputFile], chunker: Chunker, task: Task[T], jobs: int
) -> Iterator[Iterator[T | SourceError]]:
    groups = [list(group) for _, group in groupby(files, key=lambda file: file.source)]
    units = list(_units(groups)) if jobs > 1 else []
    if len(units) > 1:
        start = partial(_unit_runner, chunker.config, task)
        with started(start, min(jobs, len(units))) as workers:
            packed = chain.from_iterable(workers.results(units))
            yield _told(files, map(Answer.unpacked, packed))
    else:
        alone = _told(files, chain.from_iterable(_run_group(chunker, task, g) for g in groups))
        yield alone


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


def _unit_runner(config: ChunkConfig, task: Task[T]) -> Callable[[list[_Group]], list[bytes]]:
    """What a process does with a unit. Each answer is packed on its own, and may fail so."""
    from chunkast.chunker import Chunker

    chunker = Chunker(config)
    return lambda unit: [
        answer.packed() for group in unit for answer in _run_group(chunker, task, group)
    ]


def _units(groups: Iterable[_Group]) -> Iterator[list[_Group]]:
    unit: list[_Group] = []
    size = files = 0
    for group in groups:
        unit.append(group)
        size += sum(map(_size, group))
        files += len(group)
        if size >= _UNIT_BYTES or files >= _UNIT_FILES:
            yield unit
            unit = []
            size = files = 0
    if unit:
        yield unit


def _size(file: InputFile) -> int:
    try:
        return Path(file.path).stat().st_size if file.data is None else len(file.data)
    except OSError:
        return 0


def _run_group(chunker: Chunker, task: Task[T], group: _Group) -> Iterator[Answer[T]]:
    parts: dict[bytes, int] = {}
    for file in group:
        counted = Continued(parts)
        answer = attempt(partial(_run, chunker, task, file, counted))
        if answer.error is None:
            parts.update(counted)
        elif isinstance(answer.error, MemoryError):
            gc.collect()
        yield answer


def _run(chunker: Chunker, task: Task[T], file: InputFile, parts: Parts) -> T:
    _LOG.debug("reading %s", file.path)
    return task(chunker, (file.source, read_document(file)), parts)
