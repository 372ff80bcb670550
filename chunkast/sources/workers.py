"""Run work in several processes, and yield the results in order.

Each process has its own connection, so that a killed process is always noticed. The queues of
``concurrent.futures`` are shared: if a process is killed while it writes a result, the program
waits forever. Memory is bounded: for each process, at most ``_DOCUMENTS_PER_PROCESS`` documents are
in progress or waiting to be yielded.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, cast

from chunkast.errors import STOPS, ChunkastError, ConfigError, check_count, describe

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

__all__ = ("Answer", "WorkerCount", "Workers", "attempt", "check_workers", "size_that_pays")

Result = TypeVar("Result")
_Run = Callable[[Any], Any]
# The number of processes; "auto" is one for each core, if this saves time.
WorkerCount = int | Literal["auto"]

_DOCUMENTS_PER_PROCESS: Final = 8
# Seconds to wait for a process that has closed its connection.
_JOIN_TIMEOUT_S: Final = 10
# The size of texts from which two processes are faster than one. A fork takes .02 s of CPU time, a
# new interpreter, which loads the vocabulary, .7 s.
_PAYS_FORKED: Final = 1_000_000
_PAYS: Final = 4_000_000
_GUARD: Final = 'if __name__ == "__main__":'


@dataclass(frozen=True, slots=True)
class Answer(Generic[Result]):
    """A result, or the exception that was raised instead.

    ``trace`` is the traceback of an exception from another process, as text, or "".
    """

    result: Result | None = None
    error: BaseException | None = None
    trace: str = ""

    def value(self) -> Result:
        """Return the result, or raise the exception if there is one."""
        if self.error is not None:
            raise self.exception()
        return cast("Result", self.result)

    def exception(self) -> BaseException:
        """Return the exception; if it is from another process, ``__cause__`` has its traceback."""
        assert self.error is not None, "there is a result"
        if self.trace:
            self.error.__cause__ = _RemoteError(f"\n{self.trace}")
        return self.error

    def sendable(self) -> Answer[Result]:
        """Return a picklable answer, with the traceback of its exception as text.

        An exception that cannot be pickled is replaced by a ``ChunkastError`` with its message.
        """
        if self.error is None:
            return self
        error, trace = self.error, "".join(traceback.format_exception(self.error))
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        except Exception:  # noqa: BLE001 - a class may do anything
            error = ChunkastError(f"in a worker process: {describe(error)}")
        return Answer(error=error, trace=trace)


class _RemoteError(Exception):
    """The traceback of an exception in another process, as text."""


def attempt(run: Callable[[], Result]) -> Answer[Result]:
    """Call ``run`` and return an answer with its result or exception.

    Exceptions in ``STOPS`` are raised. Any other exception keeps its traceback, but not the local
    variables in it, which may take much memory.
    """
    try:
        return Answer(run())
    except STOPS:
        raise
    except BaseException as error:  # noqa: BLE001 - it is raised where the result is taken
        traceback.clear_frames(error.__traceback__)
        return Answer(error=error)


class Workers:
    """Processes that call ``run`` for one document after another, until they are closed.

    Raises ``ConfigError`` if processes cannot be forked and ``run`` cannot be pickled.
    """

    def __init__(self, run: _Run, count: int) -> None:
        import multiprocessing

        if multiprocessing.current_process().daemon:
            raise ConfigError("workers", count, "must be 1 in a process of a pool")
        self._context: Any = multiprocessing.get_context(_start_method())
        self._forks = self._context.get_start_method() == "fork"
        self._run: Any = run if self._forks else _pickled(run, count)
        self._processes: dict[Any, BaseProcess] = {}
        self._idle: list[Any] = []
        # The number of the document that each process works on; -1 for a process that starts.
        self._busy: dict[Any, int] = {}
        for _ in range(count):
            self._start()

    @classmethod
    def started(cls, run: _Run, workers: WorkerCount, size: float, most: float) -> Workers | None:
        """Start at most ``most`` processes; return ``None`` if this process is enough.

        With "auto", the number also depends on the total ``size``, in characters or bytes, and
        ``None`` is also returned if processes cannot be started or cannot load ``run``.
        """
        wanted = min(_cores(), 2 * size / size_that_pays()) if workers == "auto" else workers
        count = int(min(wanted, most))
        processes = None
        try:
            processes = cls(run, count) if count > 1 else None
            if processes is not None and workers == "auto":
                processes._wait()  # noqa: SLF001 - our own
        except Exception:
            if workers != "auto":
                raise
            if processes is not None:
                processes.close()
            return None
        return processes

    def _wait(self) -> None:
        """Wait until all processes have loaded ``run``; raise the exception of one that cannot."""
        for worker in list(self._busy):
            self._received(worker, self._busy.pop(worker))

    def close(self) -> None:
        """Terminate all processes immediately."""
        for process in self._processes.values():
            process.terminate()
        for connection, process in self._processes.items():
            process.join()
            connection.close()

    def answers(self, documents: Iterable[Any]) -> Iterator[Answer[Any]]:
        """Yield the answer for each of the documents, in order.

        If a process dies, only its current document fails. Raises ``ChunkastError`` if a process
        does not start.
        """
        from multiprocessing.connection import wait

        rest = enumerate(documents)
        most = len(self._processes) * _DOCUMENTS_PER_PROCESS
        done: dict[int, Answer[Any]] = {}
        turn = 0
        while True:
            # A worker has one document at a time: it reads the document before it answers, so that
            # neither side waits for the other to read.
            while self._idle and len(self._busy) + len(done) < most and (work := next(rest, None)):
                worker = self._idle.pop()
                self._busy[worker], document = work
                with suppress(OSError):  # a lost worker is noticed when its answer is read
                    worker.send(document)
            if turn in done:
                yield done.pop(turn)
                turn += 1
            elif self._busy:
                for worker in wait(list(self._busy)):
                    number = self._busy.pop(worker)
                    answer = self._received(worker, number)
                    if number >= 0:
                        done[number] = answer
            else:
                return

    def _received(self, worker: Any, number: int) -> Answer[Any]:
        """Return a worker's answer to document ``number``; replace the worker if it was lost."""
        try:
            answer: Answer[Any] = pickle.loads(worker.recv_bytes())  # noqa: S301 - our own
        except (EOFError, OSError):
            end = self._end(worker)
            if number < 0:
                raise ChunkastError(f"a worker process did not start: {end}") from None
            self._start()
            return Answer(error=ChunkastError(f"a worker process was lost: {end}"))
        if number < 0:
            answer.value()  # raises the exception of a worker that cannot load ``run``
        self._idle.append(worker)
        return answer

    def _start(self) -> None:
        """Start a process; it is busy until it has loaded ``run``."""
        ours, theirs = self._context.Pipe()
        # A forked process has copies of its parent's connections. If they stayed open, the child
        # would not notice the end of its parent.
        copies = (*self._processes, ours) if self._forks else ()
        process = self._context.Process(target=_work, args=(theirs, copies, self._run), daemon=True)
        hidden = nullcontext() if self._forks or _needs_main(self._run) else _main_hidden()
        with theirs, hidden, _signals_blocked(forks=self._forks):
            process.start()
        self._processes[ours] = process
        self._busy[ours] = -1

    def _end(self, worker: Any) -> str:
        """Return a description of how a process ended."""
        process = self._processes.pop(worker)
        process.join(timeout=_JOIN_TIMEOUT_S)
        worker.close()
        if process.exitcode is None or process.exitcode >= 0:
            return f"it ended with exit code {process.exitcode}"
        memory = "; perhaps there is not enough memory for so many processes"
        return f"it ended by signal {-process.exitcode}{memory}"


def check_workers(workers: object) -> None:
    """Raise ``ConfigError`` unless ``workers`` is a number of processes or "auto"."""
    if workers != "auto":
        check_count("workers", workers, also=', or "auto"')


def size_that_pays() -> int:
    """Return the size of texts, in characters or bytes, at which "auto" starts other processes."""
    return _PAYS_FORKED if _start_method() == "fork" else _PAYS


def _cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _start_method() -> str:
    """Return "fork" if this is safe, or else a method that starts new interpreters.

    A fork is fast and shares loaded modules, but it is not safe on macOS or while other threads,
    including those of libraries, are running. Another start method that the program has chosen
    takes precedence.
    """
    import multiprocessing

    chosen = multiprocessing.get_start_method(allow_none=True) or "fork"
    try:  # only Linux has this folder
        single = len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - only their number
    except OSError:
        single = False
    return chosen if single or chosen != "fork" else "spawn"


def _pickled(run: _Run, count: int) -> bytes:
    """Return ``run`` as bytes; raise ``ConfigError`` if a new interpreter could not load it."""
    try:
        data = pickle.dumps(run)
    except Exception as error:  # a class may do anything
        allowed = f"the configuration cannot be sent to other processes ({error}); must be 1"
        raise ConfigError("workers", count, allowed) from error
    if _needs_main(data) and not _is_guarded():
        raise ConfigError(
            "workers",
            count,
            "the configuration has a function or class of the main program, which other processes "
            f"would run again; write `{_GUARD}` before the code that runs, or import the function",
        )
    return data


def _needs_main(data: bytes) -> bool:
    return b"__main__" in data


def _is_guarded() -> bool:
    """Return whether the main program can be imported without running all its code."""
    try:
        code = Path(sys.modules["__main__"].__file__ or "").read_bytes()
    except (AttributeError, OSError, ValueError):
        return False
    return b"__name__" in code and b"__main__" in code


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep processes that start in the block from running the main program again.

    A new interpreter finds the main program by these two attributes.
    """
    main: Any = sys.modules["__main__"]
    before = {name: vars(main)[name] for name in ("__spec__", "__file__") if name in vars(main)}
    main.__spec__ = main.__file__ = None
    try:
        yield
    finally:
        del main.__spec__, main.__file__
        vars(main).update(before)


@contextmanager
def _signals_blocked(*, forks: bool) -> Iterator[None]:
    """Block signals in a ``with`` block, so that processes started in it do not receive them.

    Ctrl-C and SIGHUP are meant only for this process. SIGTERM is blocked until a new process has
    removed the handler that it inherits from a fork.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    if not forks:
        from multiprocessing import resource_tracker

        # The tracker unblocks signals when it starts, so it must not start with the first process.
        resource_tracker.ensure_running()
    ours = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ours)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Any, copies: Sequence[Any], run: Any) -> None:
    """Process documents in a worker until the parent process closes the connection."""
    # SIGHUP stays blocked.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    for copy in copies:
        copy.close()
    loaded = attempt(lambda: pickle.loads(run) if isinstance(run, bytes) else run)  # noqa: S301 - our own
    # Objects loaded so far are never freed: the collector need not visit them, nor write to memory
    # that is shared with the parent process.
    gc.freeze()
    with suppress(EOFError, OSError):
        connection.send_bytes(pickle.dumps(Answer(error=loaded.error).sendable()))
        while loaded.error is None:
            reply = attempt(partial(_reply, loaded.value(), connection.recv_bytes()))
            connection.send_bytes(reply.result or pickle.dumps(reply.sendable()))


def _reply(run: _Run, document: bytes) -> bytes:
    answer = attempt(partial(run, pickle.loads(document)))  # noqa: S301 - our own
    return pickle.dumps(answer.sendable())
