"""What is at a path, for every path: one that is too long, or loops, leads to nothing."""

from __future__ import annotations

import stat
from pathlib import Path

__all__ = ("is_file", "is_folder", "is_there")


def is_there(path: str | Path) -> bool:
    """Whether the path leads to anything."""
    return _mode(path) != 0


def is_file(path: str | Path) -> bool:
    """Whether the path leads to a regular file."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Whether the path leads to a folder."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: str | Path) -> int:
    # Path.exists() and its like raise for some of the errors before Python 3.14.
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):
        return 0
