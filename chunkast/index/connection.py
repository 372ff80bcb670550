"""Errors of an index that suggest a remedy."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from chunkast.errors import StoreError
from chunkast.files.database import index_command

__all__ = ("DamageError", "DamagedFileError", "store_errors")

# Parts of SQLite's messages about damaged files.
_DAMAGE: Final = re.compile(
    "malformed|corrupt|fts5|vtable constructor|Could not decode|no such (?:table|column)"
)


class DamageError(Exception):
    """An error for damaged data in the index; the message describes the damage."""


class DamagedFileError(StoreError):
    """An error for a file that SQLite cannot read because it is damaged."""


@contextmanager
def store_errors(path: str) -> Iterator[None]:
    """Convert SQLite errors and ``DamageError`` in a ``with`` block to ``StoreError``.

    A query that a signal handler has stopped with an exception raises ``KeyboardInterrupt``.
    """
    try:
        yield
    except sqlite3.Error as error:
        if str(error) == "interrupted":
            raise KeyboardInterrupt from None
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
