"""The exceptions and the warning of chunkast.

Chunking a str never raises an exception, unless a user's own token counter or heuristic does.
"""

from __future__ import annotations

import inspect
import warnings
from functools import partial
from pathlib import Path
from typing import Any, Final

__all__ = (
    "STOPS",
    "ChunkastError",
    "ChunkastWarning",
    "ConfigError",
    "HeuristicError",
    "MissingPackageError",
    "SourceError",
    "StoreError",
    "UsageError",
    "check_count",
    "counted",
    "describe",
    "shown",
    "warn",
)

# These end the program; any other exception is a failure of the current document. (Libraries
# written in Rust may raise one that is not an ``Exception``.)
STOPS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit)
# The maximum number of characters of a value in a message.
_MAX_SHOWN: Final = 80
_PACKAGE: Final = str(Path(__file__).parent)


class ChunkastError(Exception):
    """The base class of chunkast's own exceptions."""

    def __reduce__(self) -> str | tuple[Any, ...]:
        # The attributes of a subclass are the arguments of its constructor.
        own = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return (partial(type(self), **own), ()) if own else super().__reduce__()


class ChunkastWarning(UserWarning):
    """Issued, with the reason, if part of the input was skipped or not treated as expected."""


def warn(message: str) -> None:
    """Issue a ``ChunkastWarning`` for the line of the user's code that called this package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ChunkastWarning, stacklevel=level)


class ConfigError(ChunkastError, ValueError):
    """Raised for an invalid configuration value.

    The message contains these attributes:

    field: the name of the field.
    value: its invalid value.
    allowed: a description of the allowed values.
    """

    def __init__(self, field: str, value: object, allowed: str) -> None:
        super().__init__(f"{field}={shown(value)}: {allowed}")
        self.field = field
        self.value = value
        self.allowed = allowed


class HeuristicError(ChunkastError, ValueError):
    """Raised if a heuristic returns an invalid value.

    The message contains these attributes:

    heuristic: the heuristic's id.
    field: the name of the field, such as "break_points".
    value: its invalid value.
    allowed: a description of the allowed values.
    """

    def __init__(self, heuristic: str, field: str, value: object, allowed: str) -> None:
        super().__init__(f"heuristic {heuristic!r}: {field}={shown(value)}: {allowed}")
        self.heuristic = heuristic
        self.field = field
        self.value = value
        self.allowed = allowed


def check_count(name: str, value: object, *, least: int = 1, also: str = "") -> None:
    """Raise ``ConfigError`` unless ``value`` is a whole number of at least ``least``.

    ``also`` is appended to the message's list of allowed values.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(name, value, f"must be a whole number of at least {least}{also}")


def counted(count: int, noun: str) -> str:
    """Return ``count`` followed by ``noun``, in the plural unless ``count`` is 1."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shown(value: object) -> str:
    """Return a value's ``repr``, or its type if ``repr`` fails, in at most 80 characters."""
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001 - an integer with thousands of digits, a user's class
        shown = f"<{type(value).__qualname__}>"
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 3]}..."


def describe(error: BaseException) -> str:
    """Return an exception's type and message, for reports without a traceback."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


class MissingPackageError(ChunkastError, ImportError):
    """Raised if an optional package is not installed.

    ``package`` is the package's name; ``extra`` is the extra of chunkast that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"needs {package}: pip install 'chunkast[{extra}]'", name=package)
        self.package = package
        self.extra = extra


class SourceError(ChunkastError):
    """Raised if a file cannot be read or decoded.

    path: the file's path, as the caller gave it.
    reason: the problem, sometimes with a remedy.
    position: the byte offset of the problem, or None if it has no single position.
    """

    def __init__(self, path: str, reason: str, position: int | None = None) -> None:
        where = "" if position is None else f" at byte {position}"
        super().__init__(f"{path}{where}: {reason}")
        self.path = path
        self.reason = reason
        self.position = position


class StoreError(ChunkastError):
    """Raised if a database or a vector store cannot be used.

    ``path`` is the path as the caller gave it, or the store's name; ``reason`` is the problem.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class UsageError(ChunkastError):
    """Raised for invalid command-line arguments."""
