"""A task over many documents: in this process or spread over several, in input order.

A task takes a chunker and the documents of one source, nearly always a single one, and
gives a result for each. Documents of one source stay together because their chunks count
their parts on from one to the next; they stand side by side, as inputs are sorted.
"""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chunkast.cli.inputs import InputFile, Selection, read
from chunkast.cli.messages import say_error, say_note
from chunkast.cli.progress import progress_bar
from chunkast.code import language_of
from chunkast.config import ChunkConfig
from chunkast.errors import ChunkastError, SourceError

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

    from chunkast.chunker import Chunker
    from chunkast.model import Analysis

__all__ = ("Tally", "Task", "analyzed", "results")

T = TypeVar("T")
Task = Callable[["Chunker", Sequence[tuple["str | None", str]]], Iterable[T]]
_Group = list[InputFile]

# A work unit ends at so many bytes or files, so that sending it costs little and its
# results do not pile up.
_UNIT_BYTES: Final = 256 * 1024
_UNIT_FILES: Final = 32
# Work units that are worked on or wait for their turn, for each process.
_UNITS_AHEAD: Final = 4


@dataclass(slots=True)
class Tally:
    """How many documents were read, and how many inputs failed."""

    documents: int = 0
    failures: int = 0

    def fail(self, error: SourceError) -> None:
        """Count and report an input that failed."""
        say_error(error)
        self.failures += 1


def analyzed(chunker: Chunker, source: str | None, text: str) -> Analysis:
    """The analysis of a document: code by its source's ending, or else Markdown."""
    return chunker.analyze(text, language_of(source or ""))


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
    if selection.ambiguous and not options.quiet:
        say_note(
            f"files whose relative path is that of a file in another folder: "
            f"{selection.ambiguous}; give the folder above both to tell them apart"
        )
    files = selection.files
    wanted = progress and not options.quiet
    outcomes = _outcomes(files, chunker, task, options.jobs)
    with progress_bar(len(files), wanted=wanted) as advance, closing(outcomes):
        for outcome in outcomes:
            if isinstance(outcome, SourceError):
                tally.fail(outcome)
            else:
                tally.documents += 1
                yield outcome
            advance()


def _outcomes(
    files: Sequence[InputFile], chunker: Chunker, task: Task[T], jobs: int
) -> Generator[T | SourceError, None, None]:
    groups = [list(group) for _, group in groupby(files, key=lambda file: file.source)]
    units = list(_units(groups)) if jobs > 1 else []
    if len(units) > 1:
        yield from _in_processes(units, chunker.config, task, min(jobs, len(units)))
    else:
        for group in groups:
            yield from _run_group(chunker, task, group)


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


def _run_group(chunker: Chunker, task: Task[T], group: _Group) -> list[T | SourceError]:
    documents: list[tuple[str | None, str]] = []
    errors: list[SourceError | None] = []
    for file in group:
        try:
            documents.append((file.source, read(file)))
            errors.append(None)
        except SourceError as error:
            errors.append(error)
    done = iter(task(chunker, documents))
    return [next(done) if error is None else error for error in errors]


def _in_processes(
    units: Sequence[list[_Group]], config: ChunkConfig, task: Task[T], jobs: int
) -> Generator[T | SourceError, None, None]:
    from multiprocessing.connection import wait

    with _workers(jobs, config, task) as idle:
        busy: dict[Any, int] = {}
        done: dict[int, list[T | SourceError]] = {}
        sent = 0
        for number in range(len(units)):
            while True:
                # A worker has one unit at a time: it reads what is sent before it answers,
                # so that neither side waits for the other to read.
                while idle and sent < min(len(units), number + jobs * _UNITS_AHEAD):
                    worker = idle.pop()
                    worker.send(units[sent])
                    busy[worker] = sent
                    sent += 1
                if number in done:
                    break
                ready: Any
                for ready in wait(list(busy)):
                    done[busy.pop(ready)] = ready.recv()
                    idle.append(ready)
            yield from done.pop(number)


@contextmanager
def _workers(jobs: int, config: ChunkConfig, task: Task[Any]) -> Iterator[list[Any]]:
    """Connections to processes that answer each unit with its results.

    Each has a pipe of its own, so that any of them can be ended at any moment and its end
    is noticed; the queues of ``concurrent.futures`` are shared, and a process ended while
    it writes leaves the others and this one waiting for good.
    """
    from multiprocessing import get_context

    # Forking is not safe once threads run, and a progress bar is one.
    context = get_context("spawn")
    connections: list[Any] = []
    processes: list[SpawnProcess] = []
    try:
        with _interrupts_blocked():
            for _ in range(jobs):
                ours, theirs = context.Pipe()
                connections.append(ours)
                process = context.Process(target=_work, args=(theirs, config, task), daemon=True)
                process.start()
                processes.append(process)
                theirs.close()
        yield list(connections)
    except (EOFError, OSError) as error:
        # Nothing but the connections and the processes themselves raises these here.
        reason = str(error) or "it ended"
        raise ChunkastError(
            f"a worker process was lost ({reason}), perhaps for lack of memory; try fewer --jobs"
        ) from None
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        for connection in connections:
            connection.close()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Start processes that never see Ctrl-C, which is meant for this one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # It unblocks interrupts when it starts, which it would do with the first process.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Any, config: ChunkConfig, task: Task[Any]) -> None:
    """What a process does until the other end closes."""
    from chunkast.chunker import Chunker

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    chunker = Chunker(config)
    with suppress(EOFError, OSError):
        while True:
            unit: list[_Group] = connection.recv()
            connection.send([found for group in unit for found in _run_group(chunker, task, group)])
