"""Run a task on each selected document, in one or several processes, and keep the input order.

A task is a function of a chunker and a document.
"""

from __future__ import annotations

import logging
import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeVar

from chunkast.cli.messages import counted, print_error, print_message, print_note
from chunkast.cli.signals import Stopped
from chunkast.errors import SourceError, describe
from chunkast.files.find import Search, Selection, select
from chunkast.files.paths import Root
from chunkast.files.read import InputFile, read_document
from chunkast.sources.parallel import answers, progress_bar

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.sources.jupyter import Notebook

__all__ = ("Document", "Tally", "Task", "cut_off", "results", "root_of", "selected")

T = TypeVar("T")
Document = tuple["str | None", "str | Notebook"]
Task = Callable[["Chunker", Document], T]
_LOG = logging.getLogger(__name__)
# The progress of one file is shown from this number of bytes.
_SLOW: Final = 1_000_000


@dataclass(slots=True)
class Tally:
    """The number of documents read, the paths that failed, and the start time of the run."""

    documents: int = 0
    failed: list[str] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def fail(self, error: SourceError) -> None:
        """Report an input that failed, and record its path."""
        print_error(error)
        _LOG.debug("raised at", exc_info=error)
        self.failed.append(error.path)

    def print_summary(self, *counts: str, note: str = "") -> None:
        """Write a summary of the run to stderr: the counts, the time and the number of failures."""
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        print_message(f"{', '.join(counts)}, {perf_counter() - self.started:.2f} s{failed}{note}")

    @contextmanager
    def stoppable(self, path: str | None) -> Iterator[None]:
        """If a signal stops the block, add a message about the output to :class:`Stopped`.

        ``path`` is the file that is being written, or ``None`` for stdout.
        """
        try:
            yield
        except Stopped as stop:
            done = counted(self.documents, "file")
            stop.written = (
                f"the chunks of {done} were written"
                if path is None
                else f"{path} was not written, {done} were read"
            )
            raise

    @property
    def exit_code(self) -> int:
        """The exit code: 1 if an input could not be processed, else 0."""
        return 1 if self.failed else 0


def root_of(options: Namespace, stored: str | None = None) -> Root:
    """Return the root: the folder that the names of documents are relative to.

    All commands use the first of these that applies:

    - the folder given with ``--root``;
    - ``stored``, the root in the database or lock, if it exists or contains all inputs;
    - the current folder, if it contains all inputs;
    - the innermost folder that contains all inputs.
    """
    paths = [path for path in options.paths if path != "-"]
    if options.root:
        return Root.at(options.root)
    if stored:
        root = Root.at(stored)
        if os.path.isdir(stored) or None not in map(root.find, paths):
            return root
    root = Root.around(*paths)
    if root.path != ".":
        which = "it is" if len(paths) == 1 else "an input is"
        print_note(f"sources are relative to {root.path}, as {which} outside the current folder")
    return root


def selected(options: Namespace, output: str | None = None, root: Root | None = None) -> Selection:
    """Return the files that the arguments select, except ``output``.

    ``root`` defaults to the result of :func:`root_of`. Raises ``UsageError`` if an argument names
    the output itself or a path outside the root, and ``ConfigError`` for an invalid glob.
    """
    search = Search(**{rule.name: getattr(options, rule.name) for rule in fields(Search)})
    return select(options.paths, root or root_of(options), search, output)


def cut_off(chunker: Chunker, embed_tokens: int) -> int:
    """Return how many tokens of an embedded text are over the model's limit."""
    return chunker.counter.cut_off(embed_tokens + chunker.config.reserve_tokens)


@contextmanager
def results(
    options: Namespace,
    selection: Selection,
    chunker: Chunker,
    task: Task[T],
    tally: Tally,
    *,
    progress: bool = True,
) -> Iterator[Iterator[T]]:
    """Yield the task's results for the documents, in order; report documents that fail."""
    for problem in selection.problems:
        tally.fail(problem)
    if note := selection.note():
        print_note(note)
    files = selection.files
    size = sum(file.size() for file in files)
    wanted = progress and not options.quiet and (len(files) > 1 or size >= _SLOW)
    # The bar is a thread, so the processes are started before it.
    with (
        answers(files, partial(_run, chunker, task), options.jobs, size) as answered,
        progress_bar(len(files), wanted=wanted) as advance,
    ):

        def each() -> Iterator[T]:
            for file, answer in zip(files, answered, strict=True):
                if answer.error is None:
                    tally.documents += 1
                    yield answer.value()
                else:
                    tally.fail(_source_error(file, answer.exception()))
                advance()

        yield each()


def _source_error(file: InputFile, error: BaseException) -> SourceError:
    """Return the error of a document; its cause has the traceback, even from another process."""
    if isinstance(error, SourceError):
        return error
    failed = SourceError(file.path, describe(error))
    failed.__cause__ = error
    return failed


def _run(chunker: Chunker, task: Task[T], file: InputFile) -> T:
    _LOG.debug("reading %s", file.path)
    return task(chunker, (file.source, read_document(file)))
