"""Paths: their kind, and their names relative to a root.

A path that is too long, or loops, leads to nothing.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePath

from chunkast.errors import UsageError

__all__ = ("Root", "is_file", "is_folder", "is_there")


def is_there(path: str | Path) -> bool:
    """Return true if the path leads to anything."""
    return _mode(path) != 0


def is_file(path: str | Path) -> bool:
    """Return true if the path leads to a regular file."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Return true if the path leads to a folder."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: str | Path) -> int:
    # Path.exists() and its like raise for some of the errors before Python 3.14.
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):
        return 0


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that names are relative to: ``path`` as given, ``real`` without links."""

    path: str
    real: str

    @classmethod
    def at(cls, path: str) -> Root:
        """Return the root at ``path``."""
        return cls(path, os.path.realpath(path))

    def find(self, path: str) -> str | None:
        """Return the name of a file or folder with forward slashes; "" for the root itself.

        Links are followed, so that a file has one name. A link that leads out of the root has
        its own name. Returns ``None`` for a path outside the root.
        """
        found = _below(self.real, os.path.realpath(path))
        if found is None:
            folder, last = os.path.split(os.path.abspath(path))
            found = _below(self.real, os.path.join(os.path.realpath(folder), last))
        if found is None:
            found = _below(os.path.abspath(self.path), os.path.abspath(path))
        return found

    def name(self, path: str) -> str:
        """Return the name as :meth:`find` does; raise ``UsageError`` for a path outside the root."""
        found = self.find(path)
        if found is None:
            root = "the current folder" if self.path == "." else f"the root {self.path}"
            raise UsageError(
                f"{path}: outside {root}, which sources are relative to; "
                "give a folder above all inputs as --root"
            )
        return found


def _below(root: str, place: str) -> str | None:
    """Return the path of ``place`` relative to ``root``, with forward slashes."""
    within = os.path.join(root, "")
    if os.path.join(place, "") == within:
        return ""
    return PurePath(place[len(within) :]).as_posix() if place.startswith(within) else None
