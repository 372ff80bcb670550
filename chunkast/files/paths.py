"""Check what paths lead to, and name files and folders relative to a root.

A path that is too long, or that contains a loop of symbolic links, does not lead to anything.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

from chunkast.errors import UsageError

__all__ = ("Root", "is_file", "is_folder", "is_there")


# Whether a path leads to anything, to a regular file or to a folder, following symbolic links.
is_there, is_file, is_folder = os.path.exists, os.path.isfile, os.path.isdir


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that names are relative to.

    ``path`` is its path as given, and ``real`` its path with all symbolic links resolved.
    """

    path: str
    real: str

    @classmethod
    def at(cls, path: str) -> Root:
        """Return the root at ``path``."""
        return cls(path, os.path.realpath(path))

    def find(self, path: str) -> str | None:
        """Return the name of a file or folder, or ``None`` if ``path`` is outside the root.

        The name is the path relative to the root, with forward slashes; the name of the root itself
        is an empty string. Symbolic links are followed, so that each file has only one name. A link
        to a target outside the root is named by its own path.
        """
        found = _below(self.real, os.path.realpath(path))
        if found is None:
            folder, last = os.path.split(os.path.abspath(path))
            found = _below(self.real, os.path.join(os.path.realpath(folder), last))
        if found is None:
            found = _below(os.path.abspath(self.path), os.path.abspath(path))
        return found

    def name(self, path: str) -> str:
        """Return the name of a file or folder as :meth:`find` does.

        Raises ``UsageError`` if ``path`` is outside the root.
        """
        found = self.find(path)
        if found is None:
            root = "the current folder" if self.path == "." else f"the root {self.path}"
            raise UsageError(
                f"{path}: outside {root}, which sources are relative to; "
                "give a folder above all inputs as --root"
            )
        return found


def _below(root: str, place: str) -> str | None:
    """Return ``place`` relative to ``root``, with forward slashes, or ``None`` if it is outside."""
    within = os.path.join(root, "")
    if os.path.join(place, "") == within:
        return ""
    return PurePath(place[len(within) :]).as_posix() if place.startswith(within) else None
