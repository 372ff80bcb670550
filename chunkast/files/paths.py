"""Name files and folders relative to a root."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

from chunkast.errors import UsageError

__all__ = ("Root",)


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that names are relative to.

    path: its path as given.
    real: its path with all symbolic links resolved.
    """

    path: str
    real: str

    @classmethod
    def at(cls, path: str) -> Root:
        """Return the root at ``path``."""
        return cls(path, os.path.realpath(path))

    @classmethod
    def around(cls, *paths: str) -> Root:
        """Return the current folder if it contains all ``paths``, else the innermost that does.

        If that is the root of a file system, or there is none, the current folder is returned.
        """
        here = cls.at(".")
        if None not in map(here.find, paths):
            return here
        folders = [path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths]
        if len(folders) > 1:
            try:
                folders = [os.path.commonpath(map(os.path.realpath, folders))]
            except ValueError:  # on several drives
                return here
        root = cls.at(folders[0])
        return here if root.real == os.path.dirname(root.real) else root

    def find(self, path: str) -> str | None:
        """Return the name of a file or folder, or ``None`` if ``path`` is outside the root.

        The name is the path relative to the root, with forward slashes; the name of the root itself
        is an empty string. Symbolic links are followed, so that each file has only one name. A link
        to a target outside the root is named by its own path.
        """
        name = _below(self.real, os.path.realpath(path))
        if name is None:
            absolute = os.path.abspath(path)
            folder, last = os.path.split(absolute)
            name = _below(self.real, os.path.join(os.path.realpath(folder), last))
            name = _below(os.path.abspath(self.path), absolute) if name is None else name
        return name

    def name(self, path: str) -> str:
        """Return the name of a file or folder as :meth:`find` does.

        Raises ``UsageError`` if ``path`` is outside the root.
        """
        within = self.find(path)
        if within is None:
            root = "the current folder" if self.path == "." else f"the root {self.path}"
            raise UsageError(
                f"{path}: outside {root}, which sources are relative to; "
                "give a folder above all inputs as --root"
            )
        return within


def _below(root: str, place: str) -> str | None:
    """Return ``place`` relative to ``root``, with forward slashes, or ``None`` if it is outside."""
    within = os.path.join(root, "")
    if os.path.join(place, "") == within:
        return ""
    return PurePath(place[len(within) :]).as_posix() if place.startswith(within) else None
