"""Convert SQLite errors to ``StoreError``, whose message gives a remedy."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from chunkast.errors import StoreError
from chunkast.files.database import index_command

__all__ = ("DamageError", "store_errors")

# Parts of SQLite's messages and error names for damage that a rebuild repairs.
_DAMAGE: Final = re.compile(
    "(?!vtable constructor).*(?:fts5|VTAB|logic error|Could not decode|no such (?:table|column))"
)


class DamageError(Exception):
    """Raised for damaged data in the index. The message describes the damage."""


@contextmanager
def store_errors(path: str) -> Iterator[None]:
    """Within the block, convert SQLite errors and ``DamageError`` to ``StoreError``.

    If a signal handler interrupts a query, ``KeyboardInterrupt`` is raised.
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
        elif _DAMAGE.match(f"{reason} {getattr(error, 'sqlite_errorname', '')}"):
            reason = f"damaged: {reason}; {index_command(path)} rebuilds it"
        elif re.search("malformed|corrupt|vtable constructor", reason):
            command = index_command(path, "PATHS")
            reason = f"damaged: {reason}; delete it, and {command} makes it again"
        raise StoreError(path, reason) from error
    except DamageError as error:
        raise StoreError(path, f"damaged: {error}; {index_command(path)} rebuilds it") from None
