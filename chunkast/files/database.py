"""The index that a command uses if none is given, and the command that writes an index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from chunkast.errors import warn

__all__ = (
    "DATABASE",
    "SUFFIXES",
    "VARIABLE",
    "default_database",
    "index_command",
    "is_inside",
    "why_foreign",
)

# The name of the index of a folder.
DATABASE: Final = ".chunkast.db"
# The environment variable with the path of the index.
VARIABLE: Final = "CHUNKAST_DB"
# The suffixes of an index and of the files that SQLite keeps beside it.
SUFFIXES: Final = ("", "-wal", "-shm", "-journal")


def default_database() -> str:
    """Return the path of the index if none is given.

    This is the environment variable's, or that of the nearest ``.chunkast.db`` in the current
    folder or above, up to the nearest folder with ``.git`` or the home folder; outside of both, only
    the current folder counts. If there is none, it is the one to make in the current folder. Links,
    and files and folders of other users, are skipped with a ``ChunkastWarning``.
    """
    if given := os.environ.get(VARIABLE):
        return given
    here, home = Path.cwd(), os.path.expanduser("~")
    around = [here, *here.parents]
    tops = (n for n, at in enumerate(around) if os.path.exists(at / ".git") or str(at) == home)
    found = [DATABASE, *(str(at / DATABASE) for at in around[1 : next(tops, 0) + 1])]
    for path in filter(os.path.isfile, found):
        reason = path != DATABASE and why_foreign(path)
        if not reason:
            return path
        warn(f"{path} is not used, because {reason}")
    return DATABASE


def why_foreign(path: str) -> str:
    """Return why a file that was not named may be a stranger's, or an empty string."""
    if os.path.islink(path):
        return "it is a link"
    if not hasattr(os, "getuid"):
        return ""
    owners = (os.stat(each).st_uid for each in (path, os.path.dirname(os.path.abspath(path))))
    return "" if {*owners} == {os.getuid()} else "it or its folder belongs to another user"


def is_inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder or inside it; links are followed."""
    top, at = os.path.realpath(folder), os.path.realpath(path)
    return at == top or at.startswith(os.path.join(top, ""))


def index_command(path: str, *paths: str) -> str:
    """Return the command that indexes ``paths`` into the index at ``path``, in quotation marks."""
    database = () if path == default_database() else ("--db", path)
    return f"'{' '.join(('chunkast', 'index', *paths, *database))}'"
