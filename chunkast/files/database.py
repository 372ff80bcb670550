"""Find the default index, and name the command that updates an index."""

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
    """Return the path of the default index, which may not exist yet.

    This is the first of:

    - the path in the environment variable ``CHUNKAST_DB``;
    - the nearest ``.chunkast.db`` in the current folder or above it, up to the first folder that
      has ``.git`` or is the home folder; without such a folder, only in the current folder;
    - ``.chunkast.db`` in the current folder.

    In folders above, links and files of other users are skipped with a ``ChunkastWarning``.
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
    """Return the reason why the file at ``path`` may be another user's, or ""."""
    if os.path.islink(path):
        return "it is a link"
    if not hasattr(os, "getuid"):
        return ""
    owners = (os.stat(each).st_uid for each in (path, os.path.dirname(os.path.abspath(path))))
    return "" if {*owners} == {os.getuid()} else "it or its folder belongs to another user"


def is_inside(path: str, folder: str) -> bool:
    """Return whether ``path`` is ``folder`` or inside it, after resolving links."""
    top, at = os.path.realpath(folder), os.path.realpath(path)
    return at == top or at.startswith(os.path.join(top, ""))


def index_command(path: str, *paths: str) -> str:
    """Return, in single quotes, the command that indexes ``paths`` in the database ``path``."""
    database = () if path == default_database() else ("--db", path)
    return f"'{' '.join(('chunkast', 'index', *paths, *database))}'"
