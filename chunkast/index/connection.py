"""Connections to SQLite: long queries that can be interrupted, errors that say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from chunkast.errors import StoreError
from chunkast.index.rows import DamageError

__all__ = ("Connection", "store_errors")

# How many instructions of SQLite's machine lie between two looks for signals: a few
# milliseconds of work.
_INSTRUCTIONS: Final = 100_000
# What SQLite says, in part, of a file that no statement can mend.
_BEYOND_REPAIR: Final = ("malformed", "corrupt", "not a database", "fts5", "vtable constructor")


class Connection(sqlite3.Connection):
    """A connection during whose queries Python's signal handlers run.

    ``stopped`` holds the exception that such a handler raised, for SQLite passes none on.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.stopped: list[BaseException] = []
        watch = _watch(self.stopped)
        # Signals arrive inside the generator's ``try`` only once it has begun.
        next(watch)
        self.set_progress_handler(watch.__next__, _INSTRUCTIONS)


def _watch(stopped: list[BaseException]) -> Iterator[int]:
    """Give 0 to go on, and 1 once a signal handler has raised something, which is noted.

    A function would do, but for a signal that arrives as it is entered: what its handler
    raises there leaves the function before any ``try`` of its own.
    """
    go_on = 0
    while True:
        try:
            yield go_on
            go_on = 0
        except GeneratorExit:
            return
        except BaseException as error:  # noqa: BLE001  (raised again where the query ends)
            stopped.append(error)
            go_on = 1


@contextmanager
def store_errors(path: str, connection: Connection | None = None) -> Iterator[None]:
    """Raise ``StoreError`` for what SQLite raises and for damage.

    What a signal handler raised during a query is raised as it was.
    """
    try:
        yield
    except sqlite3.Error as error:
        if connection is not None and connection.stopped:
            raise connection.stopped.pop() from None
        raise StoreError(path, _reason(error)) from error
    except DamageError as error:
        raise StoreError(path, f"{error}; 'chunkast index DIR --db FILE' mends it") from None


def _reason(error: sqlite3.Error) -> str:
    # The text that cannot be decoded is quoted whole.
    reason = str(error).partition(" with text ")[0]
    if reason.startswith("Could not decode"):
        return f"damaged ({reason}); 'chunkast index DIR --db FILE' mends it"
    if any(part in reason for part in _BEYOND_REPAIR):
        return (
            f"{reason}; if it is a database of chunkast's, it is damaged: remove it, and "
            "'chunkast index DIR --db FILE' makes it anew"
        )
    return reason
