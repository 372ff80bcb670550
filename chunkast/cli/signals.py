"""Signals that end a run: an exception, so that files and processes are cleaned up."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ("Stopped", "stoppable")

# SIGHUP, of a terminal that closes, is one that Windows has no name for.
_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")
# So many times Ctrl-C is meant, even if cleaning up is not done.
_INSISTING: Final = 3
# In seconds.
_SOON: Final = 0.02


class Stopped(KeyboardInterrupt):
    """A signal arrived. ``code`` is the exit code, as shells count: 128 and its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise :class:`Stopped` inside upon the first signal that ends a run.

    Signals that are ignored (by ``nohup``, in a shell's background job) stay so. Only the
    main thread may handle signals; in another one nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        arrived.append(number)
        # A second one, which a closing terminal sends, would interrupt the cleaning up.
        if len(arrived) == 1 or arrived.count(signal.SIGINT) >= _INSISTING:
            raise Stopped(number)

    def raise_again(lost: UnraisableHookArgs) -> None:
        # A finalizer or a callback was interrupted, which cannot hand the exception on. It
        # comes again soon: what is raised at once would be lost in here.
        if isinstance(lost.exc_value, Stopped):
            again = threading.Timer(_SOON, _thread.interrupt_main, arrived[:1])
            arrived.clear()
            again.daemon = True
            again.start()
        else:
            report(lost)

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    taken = [number for number in numbers if before[number] not in (signal.SIG_IGN, None)]
    report, sys.unraisablehook = sys.unraisablehook, raise_again
    try:
        for number in taken:
            signal.signal(number, stop)
        yield
    except Exception:
        # What was interrupted may say so in an exception of its own.
        if arrived:
            raise Stopped(arrived[0]) from None
        raise
    finally:
        for number in taken:
            signal.signal(number, before[number])
        sys.unraisablehook = report
