"""The index that a command uses if none is given, and the command that writes an index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ("DATABASE", "SUFFIXES", "VARIABLE", "default_database", "index_command")

# The name of the index of a folder.
DATABASE: Final = ".chunkast.db"
# The environment variable with the path of the index.
VARIABLE: Final = "CHUNKAST_DB"
# The suffixes of an index and of the files that SQLite keeps beside it.
SUFFIXES: Final = ("", "-wal", "-shm", "-journal")


def default_database() -> str:
    """Return the path of the index if none is given.

    This is the environment variable's, or that of the nearest ``.chunkast.db`` in the current
    folder or above; if there is none, the one to make in the current folder.
    """
    if given := os.environ.get(VARIABLE):
        return given
    above = (str(folder / DATABASE) for folder in Path.cwd().parents)
    return next(filter(os.path.isfile, (DATABASE, *above)), DATABASE)


def index_command(path: str, *paths: str) -> str:
    """Return the command that indexes ``paths`` into the index at ``path``, in quotation marks."""
    database = () if path == default_database() else ("--db", path)
    return f"'{' '.join(('chunkast', 'index', *paths, *database))}'"
