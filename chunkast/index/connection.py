"""Errors of an index that suggest a remedy."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from chunkast.errors import StoreError
from chunkast.files.database import index_command

__all__ = ("DamageError", "store_errors")

# Parts of SQLite's messages about damage that a rebuild repairs.
_DAMAGE: Final = re.compile("fts5|vtable constructor|Could not decode|no such (?:table|column)")


class DamageError(Exception):
    """An error for damaged data in the index; the message describes the damage."""


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
            reason = f"damaged: {reason}; {index_command(path)} rebuilds it"
        elif "malformed" in reason or "corrupt" in reason:
            reason = (
                f"damaged: {reason}; delete it, and {index_command(path, 'PATHS')} makes it again"
            )
        raise StoreError(path, reason) from error
    except DamageError as error:
        raise StoreError(path, f"damaged: {error}; {index_command(path)} rebuilds it") from None
