"""SQLite connections whose queries can be interrupted, and errors that suggest a remedy."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from chunkast.errors import StoreError
from chunkast.files.database import index_command

__all__ = ("Connection", "DamageError", "DamagedFileError", "store_errors")

# The number of SQLite's virtual machine instructions between two checks for signals: a few
# milliseconds.
_INSTRUCTIONS_PER_CHECK: Final = 100_000
# Parts of SQLite's messages about damaged files.
_DAMAGE: Final = re.compile(
    "malformed|corrupt|fts5|vtable constructor|Could not decode|no such (?:table|column)"
)


class Connection(sqlite3.Connection):
    """A connection that runs Python's signal handlers during its queries.

    An exception that a handler raises is kept in ``stopped``, because SQLite does not propagate it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.stopped: list[BaseException] = []
        watch = _watch(self.stopped)
        # Signals arrive inside the generator's ``try`` only once it has begun.
        next(watch)
        self.set_progress_handler(watch.__next__, _INSTRUCTIONS_PER_CHECK)


def _watch(stopped: list[BaseException]) -> Iterator[int]:
    """Yield 0 to continue a query, or 1 to stop it after a signal handler has raised an exception.

    The exception is appended to ``stopped``. This is a generator because a handler may raise while
    a function is being entered, before the function's own ``try`` can catch the exception.
    """
    stop = 0
    while True:
        try:
            yield stop
            stop = 0
        except GeneratorExit:
            return
        except BaseException as error:  # noqa: BLE001  (raised again where the query ends)
            stopped.append(error)
            stop = 1


class DamageError(Exception):
    """An error for damaged data in the index; the message describes the damage."""


class DamagedFileError(StoreError):
    """An error for a file that SQLite cannot read because it is damaged."""


@contextmanager
def store_errors(path: str, connection: Connection | None = None) -> Iterator[None]:
    """Convert SQLite errors and ``DamageError`` in a ``with`` block to ``StoreError``.

    An exception that a signal handler raised during a query is raised unchanged.
    """
    try:
        yield
    except sqlite3.Error as error:
        if connection is not None and connection.stopped:
            raise connection.stopped.pop() from None
        # Omit the undecodable text, which the message quotes in full.
        reason = str(error).partition(" with text ")[0]
        if "not a database" in reason:
            reason = f"not an index of chunkast ({reason}); give another file"
        elif _DAMAGE.search(reason):
            raise DamagedFileError(path, _damaged(path, reason)) from error
        raise StoreError(path, reason) from error
    except DamageError as error:
        raise StoreError(path, _damaged(path, str(error))) from None


def _damaged(path: str, reason: str) -> str:
    return f"damaged: {reason}; {index_command(path)} rebuilds it"
