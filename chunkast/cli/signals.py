"""Convert termination signals to an exception, so that files and processes are cleaned up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

__all__ = ("Stopped", "stoppable")

# SIGHUP, which a closing terminal sends, does not exist on Windows.
_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")
# This many Ctrl-C presses interrupt even the cleanup.
_INSISTING: Final = 3


class Stopped(KeyboardInterrupt):
    """The exception raised when a signal ends the run.

    ``code`` is the exit code: 128 plus the number of the signal, as in shells. ``written`` is a
    message for the user about the output that has already been written.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number
        self.written = ""


@contextmanager
def stoppable() -> Iterator[None]:
    """Within the block, raise :class:`Stopped` when a termination signal arrives.

    Signals that are already ignored (under ``nohup``, or in a background job of a shell) stay
    ignored. Only the main thread can handle signals; in other threads, this has no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        arrived.append(number)
        # A second signal, for example from a closing terminal, must not interrupt the cleanup.
        if len(arrived) == 1 or arrived.count(signal.SIGINT) >= _INSISTING:
            raise Stopped(number)

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    taken = [number for number in numbers if before[number] not in (signal.SIG_IGN, None)]
    try:
        for number in taken:
            signal.signal(number, stop)
        yield
    except (Exception, KeyboardInterrupt) as error:
        # Interrupted code may raise an exception of its own.
        if arrived and not isinstance(error, Stopped):
            raise Stopped(arrived[0]) from None
        raise
    finally:
        for number in taken:
            signal.signal(number, before[number])
