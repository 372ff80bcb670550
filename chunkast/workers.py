"""Work units spread over processes, their results in order.

Each process has a connection of its own, so that any of them can be ended at any moment and
its end is noticed; the queues of ``concurrent.futures`` are shared, and a process ended while
it writes leaves the others and this one waiting for good. Memory is bounded: only so many
units are worked on or done and waiting for their turn, and the next is taken when one of
them is given out.
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

# Work units that are worked on or wait for their turn, for each process.
_UNITS_AHEAD: Final = 4
# Seconds to wait for a process that has closed its connection.
_PATIENCE: Final = 10
# SIGKILL, which Windows has no name for.
_KILLED: Final = 9


class Workers(Generic[Unit, Result]):
    """Processes that wait for work units."""

    def __init__(self, processes: dict[Any, BaseProcess]) -> None:
        self._processes = processes

    def results(self, units: Iterable[Unit]) -> Generator[Result, None, None]:
        """The result of every unit, in order; units are taken as results are.

        Raises what a unit raised in its process, when its turn has come, and
        ``ChunkastError`` when a process was lost.
        """
        from multiprocessing.connection import wait

        rest = iter(units)
        idle = list(self._processes)
        busy: dict[Any, int] = {}
        done: dict[int, Answer[Result]] = {}
        sent = turn = 0
        while True:
            # A worker has one unit at a time: it reads what is sent before it answers,
            # so that neither side waits for the other to read.
            while idle and sent < turn + len(self._processes) * _UNITS_AHEAD:
                try:
                    unit = next(rest)
                except StopIteration:
                    break
                worker = idle.pop()
                self._ask(worker, worker.send, unit)
                busy[worker] = sent
                sent += 1
            if turn in done:
                yield done.pop(turn).value()
                turn += 1
            elif busy:
                ready: Any
                for ready in wait(list(busy)):
                    done[busy.pop(ready)] = Answer.unpacked(self._ask(ready, ready.recv_bytes))
                    idle.append(ready)
            else:
                return

    def _ask(self, worker: Any, action: Callable[..., Any], *values: object) -> Any:
        """Send or receive; ``ChunkastError`` when nobody is at the other end any more."""
        try:
            return action(*values)
        except (EOFError, OSError):
            process = self._processes[worker]
            process.join(timeout=_PATIENCE)
            raise ChunkastError(f"a worker process was lost: {_end(process.exitcode)}") from None


def _end(code: int | None) -> str:
    """How a process ended."""
    if code is None:
        return "it does not answer"
    if code >= 0:
        return f"it ended with exit code {code}"
    if code == -_KILLED:
        return "it was killed, perhaps for lack of memory; try fewer processes"
    return f"it ended by signal {-code}"


class _RemoteError(Exception):
    """What happened in another process: its traceback."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[Result]):
    """A result, or the exception that was raised in place of it.

    ``trace`` is the traceback of an exception that came from another process.
    """

    result: Result | None = None
    error: BaseException | None = None
    trace: str = ""

    def value(self) -> Result:
        """The result; raises the exception if there is one."""
        if self.error is not None:
            raise self.exception()
        return cast("Result", self.result)

    def exception(self) -> BaseException:
        """The exception, whose cause is its traceback in the other process."""
        assert self.error is not None, "there is a result"
        if self.trace:
            self.error.__cause__ = _RemoteError(f"\n{self.trace}")
        return self.error

    def packed(self) -> bytes:
        """What another process can read with :meth:`unpacked`, whatever the answer holds."""
        import pickle

        if self.error is None:
            packed = attempt(lambda: pickle.dumps(self))
            if packed.error is None:
                return packed.value()
            return pickle.dumps(_sendable(packed.error))
        return pickle.dumps(_sendable(self.error))

    @staticmethod
    def unpacked(data: bytes) -> Answer[Any]:
        """The answer that another process has packed."""
        import pickle

        loaded: Answer[Answer[Any]] = attempt(lambda: pickle.loads(data))  # noqa: S301 - our own
        return loaded if loaded.error is not None else loaded.value()


def _sendable(error: BaseException) -> Answer[Any]:
    """The answer that tells of ``error``, or of what it says if it cannot be sent itself."""
    import pickle

    trace = attempt(lambda: "".join(traceback.format_exception(error))).result or ""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever its class does
        error = ChunkastError(f"in a worker process: {describe(error)}")
    return Answer(error=error, trace=trace)


def attempt(run: Callable[[], Result]) -> Answer[Result]:
    """What ``run`` gives or raises; what stops a program passes through.

    The exception keeps its traceback, but not what the variables there hold, which may be
    all memory there is.
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
    """``count`` processes; each calls ``start`` once, and what that gives for each unit.

    Where processes cannot be forked ``start`` must be picklable; ``ConfigError`` if it is
    not. On leaving, the processes are ended, whatever they are doing.
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
    # A forked process has copies of this one's connections. Left open, they would hide the
    # end of this one from it.
    copies = ours if context.get_start_method() == "fork" else ()
    process: BaseProcess = context.Process(
        target=_work, args=(connection, copies, start), daemon=True
    )
    return process


def _context() -> BaseContext:
    """Fork where that is safe: it takes no time, and what is loaded already is shared.

    It is not safe on macOS, nor once threads run. There a new interpreter is started, unless
    the program has chosen otherwise.
    """
    import multiprocessing

    chosen = multiprocessing.get_start_method(allow_none=True) or "fork"
    if chosen == "fork" and not (sys.platform == "linux" and _is_single_threaded()):
        chosen = "spawn"
    return multiprocessing.get_context(chosen)


def _is_single_threaded() -> bool:
    """Whether no other thread runs here, those of libraries included."""
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
        allowed = f"the configuration cannot be sent to other processes ({error}); allowed is 1"
        raise ConfigError("workers", count, allowed) from error


@contextmanager
def _signals_blocked(context: BaseContext) -> Iterator[None]:
    """Start processes that never see Ctrl-C, nor SIGHUP, which are meant for this one.

    SIGTERM waits until they have put away the handler that a fork gives them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    if context.get_start_method() != "fork":
        from multiprocessing import resource_tracker

        # It unblocks signals when it starts, which it would do with the first process.
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
    """What a process does until the other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    for copy in copies:
        copy.close()
    run = start()
    # What is loaded stays: the collector need not visit it, nor write to memory that a
    # forked process shares.
    gc.freeze()
    with suppress(EOFError, OSError):
        while True:
            unit = connection.recv()
            connection.send_bytes(attempt(lambda: run(unit)).packed())  # noqa: B023 - called here
