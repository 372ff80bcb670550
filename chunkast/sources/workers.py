"""Distributes units of work among processes and yields their results in order.

Each process has its own connection, so that its end is noticed whenever it happens. The queues of
``concurrent.futures`` are shared: if a process ends while it is writing, all other processes wait
forever. Memory is bounded: for each process, at most ``_UNITS_PER_PROCESS`` units are being
processed, or finished and waiting for their turn. The next unit is taken when a result is yielded.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from chunkast.errors import STOPS, ChunkastError, ConfigError, describe

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

__all__ = ("Answer", "Workers", "attempt", "started")

Unit = TypeVar("Unit")
Result = TypeVar("Result")

# The maximum number of units per process that are being processed, or finished and waiting for
# their turn.
_UNITS_PER_PROCESS: Final = 4
# Seconds to wait for a process that has closed its connection.
_JOIN_TIMEOUT_S: Final = 10
# SIGKILL, which ``signal`` does not have on Windows.
_SIGKILL: Final = 9


class Workers(Generic[Unit, Result]):
    """Processes that wait for units of work."""

    def __init__(self, processes: dict[Any, BaseProcess]) -> None:
        self._processes = processes

    def results(self, units: Iterable[Unit]) -> Generator[Result, None, None]:
        """Yield the result of each unit, in order; take new units as results are consumed.

        If a unit fails, its exception is raised when its turn comes. Raises ``ChunkastError`` if a
        process has ended unexpectedly.
        """
        from multiprocessing.connection import wait

        rest = iter(units)
        idle = list(self._processes)
        busy: dict[Any, int] = {}
        done: dict[int, Answer[Result]] = {}
        sent = turn = 0
        while True:
            # A worker has one unit at a time: it reads the unit before it answers, so that
            # neither side waits for the other to read.
            while idle and sent < turn + len(self._processes) * _UNITS_PER_PROCESS:
                try:
                    unit = next(rest)
                except StopIteration:
                    break
                worker = idle.pop()
                self._exchange(worker, worker.send, unit)
                busy[worker] = sent
                sent += 1
            if turn in done:
                yield done.pop(turn).value()
                turn += 1
            elif busy:
                ready: Any
                for ready in wait(list(busy)):
                    done[busy.pop(ready)] = Answer.unpacked(self._exchange(ready, ready.recv_bytes))
                    idle.append(ready)
            else:
                return

    def _exchange(self, worker: Any, action: Callable[..., Any], *values: object) -> Any:
        """Send or receive data; raise ``ChunkastError`` if the worker process has ended."""
        try:
            return action(*values)
        except (EOFError, OSError):
            process = self._processes[worker]
            process.join(timeout=_JOIN_TIMEOUT_S)
            raise ChunkastError(f"a worker process was lost: {_end(process.exitcode)}") from None


def _end(code: int | None) -> str:
    """Return a description of how a process ended, from its exit code."""
    if code is None:
        return "it does not answer"
    if code >= 0:
        return f"it ended with exit code {code}"
    if code == -_SIGKILL:
        return "it was killed, perhaps for lack of memory; try fewer processes"
    return f"it ended by signal {-code}"


class _RemoteError(Exception):
    """The traceback of an exception in another process, as text."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[Result]):
    """A result, or the exception that was raised instead.

    ``trace`` is the traceback of an exception from another process, as text; else it is empty.
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
        """Return the exception; its cause is the traceback from the other process, if known."""
        assert self.error is not None, "there is a result"
        if self.trace:
            self.error.__cause__ = _RemoteError(f"\n{self.trace}")
        return self.error

    def packed(self) -> bytes:
        """Return the answer as bytes for :meth:`unpacked`.

        If the answer cannot be pickled, an answer with the error is packed instead.
        """
        import pickle

        if self.error is not None:
            return pickle.dumps(_sendable(self.error))
        packed = attempt(lambda: pickle.dumps(self))
        return pickle.dumps(_sendable(packed.error)) if packed.error is not None else packed.value()

    @staticmethod
    def unpacked(data: bytes) -> Answer[Any]:
        """Return the answer that another process has packed with :meth:`packed`."""
        import pickle

        loaded: Answer[Answer[Any]] = attempt(lambda: pickle.loads(data))  # noqa: S301 - our own
        return loaded if loaded.error is not None else loaded.value()


def _sendable(error: BaseException) -> Answer[Any]:
    """Return an answer with ``error``, or with only its message if ``error`` cannot be pickled."""
    import pickle

    trace = attempt(lambda: "".join(traceback.format_exception(error))).result or ""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - a class may do anything
        error = ChunkastError(f"in a worker process: {describe(error)}")
    return Answer(error=error, trace=trace)


def attempt(run: Callable[[], Result]) -> Answer[Result]:
    """Call ``run`` and return an answer with its result or exception.

    Exceptions in ``STOPS`` are raised. The returned exception keeps its traceback, but not the
    local variables in it, which may take up a lot of memory.
    """
    try:
        return Answer(run())
    except STOPS:
        raise
    except BaseException as error:  # noqa: BLE001 - it is raised where the result is taken
        cause: BaseException | None = error
        while cause is not None:
            traceback.clear_frames(cause.__traceback__)
            cause = cause.__context__
        return Answer(error=error)


@contextmanager
def started(
    start: Callable[[], Callable[[Unit], Result]], count: int
) -> Iterator[Workers[Unit, Result]]:
    """Start ``count`` worker processes, and terminate them at the end of the ``with`` block.

    Each process calls ``start`` once, and then calls the returned function for each unit. If
    processes cannot be forked, ``start`` must be picklable; ``ConfigError`` is raised if it is not.
    """
    context = _context()
    processes: dict[Any, BaseProcess] = {}
    process: Any
    try:
        with _signals_blocked(context):
            for _ in range(count):
                ours, theirs = context.Pipe()
                processes[ours] = process = _process(context, theirs, (*processes, ours), start)
                with theirs, _pickling(count):
                    process.start()
        yield Workers(processes)
    finally:
        for process in processes.values():
            if process.pid is not None:
                process.terminate()
        for ours, process in processes.items():
            if process.pid is not None:
                process.join()
            ours.close()


def _process(
    context: Any, connection: Any, ours: Sequence[Any], start: Callable[[], object]
) -> BaseProcess:
    # A forked process has copies of its parent's connections. If they stayed open, the child would
    # not notice the end of its parent.
    copies = ours if context.get_start_method() == "fork" else ()
    process: BaseProcess = context.Process(
        target=_work, args=(connection, copies, start), daemon=True
    )
    return process


def _context() -> BaseContext:
    """Return a context that forks processes if this is safe, or else starts new interpreters.

    A fork is fast and shares loaded modules, but it is not safe on macOS or while other threads are
    running. Another start method that the program has chosen takes precedence.
    """
    import multiprocessing

    chosen = multiprocessing.get_start_method(allow_none=True) or "fork"
    if chosen == "fork" and not (sys.platform == "linux" and _is_single_threaded()):
        chosen = "spawn"
    return multiprocessing.get_context(chosen)


def _is_single_threaded() -> bool:
    """Return True if this process has only one thread, including the threads of libraries."""
    try:
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - only their number
    except OSError:
        return False


@contextmanager
def _pickling(count: int) -> Iterator[None]:
    import pickle

    try:
        yield
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        allowed = f"the configuration cannot be sent to other processes ({error}); must be 1"
        raise ConfigError("workers", count, allowed) from error


@contextmanager
def _signals_blocked(context: BaseContext) -> Iterator[None]:
    """Block signals in a ``with`` block, so that processes started in it do not receive them.

    Ctrl-C and SIGHUP are meant only for this process. SIGTERM is blocked until a new process has
    removed the handler that it inherits from a fork.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    if context.get_start_method() != "fork":
        from multiprocessing import resource_tracker

        # The tracker unblocks signals when it starts, so it must not start with the first process.
        resource_tracker.ensure_running()
    ours = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ours)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(
    connection: Any, copies: Sequence[Any], start: Callable[[], Callable[[Any], Any]]
) -> None:
    """Run units in a worker process until the parent process closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    for copy in copies:
        copy.close()
    run = start()
    # Objects loaded so far are never freed: the collector need not visit them, nor write to memory
    # that is shared with the parent process.
    gc.freeze()
    with suppress(EOFError, OSError):
        while True:
            unit = connection.recv()
            connection.send_bytes(attempt(lambda: run(unit)).packed())  # noqa: B023 - called here
