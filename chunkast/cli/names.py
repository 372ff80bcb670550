"""The names of files: their paths relative to one root, however they are typed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

from chunkast.cli.messages import UsageError

__all__ = ("Root",)


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that names are relative to: ``path`` as it was given, ``real`` without links."""

    path: str
    real: str

    @classmethod
    def at(cls, path: str) -> Root:
        """The root at ``path``."""
        return cls(path, os.path.realpath(path))

    def find(self, path: str) -> str | None:
        """The name of a file or a folder, with forward slashes; "" for the root itself.

        Links are followed, so that a file has one name. A link that leads out of the root is
        named itself. ``None`` for what is outside.
        """
        found = _below(self.real, os.path.realpath(path))
        if found is None:
            folder, last = os.path.split(os.path.abspath(path))
            found = _below(self.real, os.path.join(os.path.realpath(folder), last))
        if found is None:
            found = _below(os.path.abspath(self.path), os.path.abspath(path))
        return found

    def name(self, path: str) -> str:
        """The same; raises ``UsageError`` for what is outside."""
        found = self.find(path)
        if found is None:
            raise UsageError(
                f"{path}: outside the root {self.path}, which names are relative to; "
                "give a folder above all inputs as --root"
            )
        return found


def _below(root: str, place: str) -> str | None:
    """The path of ``place`` relative to ``root``, with forward slashes."""
    within = os.path.join(root, "")
    if os.path.join(place, "") == within:
        return ""
    return PurePath(place[len(within) :]).as_posix() if place.startswith(within) else None
