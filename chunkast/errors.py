"""The exceptions chunkast raises. Chunking a string raises none of them."""

from __future__ import annotations

from typing import Final

__all__ = (
    "STOPS",
    "ChunkastError",
    "ChunkastWarning",
    "ConfigError",
    "MissingPackageError",
    "SourceError",
    "StoreError",
    "describe",
)

# What ends a run: no failure of the document at hand, as any other exception is. (The
# libraries that are written in Rust have one that is no ``Exception``.)
STOPS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit)
# The most characters of a value that a message shows.
_SHOWN: Final = 80


class ChunkastError(Exception):
    """Root of every exception chunkast raises on purpose."""


class ChunkastWarning(UserWarning):
    """Something given was left out, and the rest done: what, and why."""


class ConfigError(ChunkastError, ValueError):
    """A configuration value that is not allowed.

    The message names the field, the value and what is allowed. ``field`` holds
    the field's name.
    """

    def __init__(self, field: str, value: object, allowed: str) -> None:
        super().__init__(f"{field}={_shown(value)}: {allowed}")
        self.field = field
        self.value = value
        self.allowed = allowed

    def __reduce__(self) -> tuple[type[ConfigError], tuple[str, object, str]]:
        return ConfigError, (self.field, self.value, self.allowed)


def _shown(value: object) -> str:
    """A value in at most 80 characters; its type where it cannot be written out."""
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001 - an integer of thousands of digits, a class of the user's
        shown = f"<{type(value).__qualname__}>"
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


def describe(error: BaseException) -> str:
    """An exception's type and message, for a reader who has no traceback."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a broken __str__ is no reason to fail
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


class MissingPackageError(ChunkastError, ImportError):
    """A package that an adapter is for is not installed: which, and the extra that has it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"needs {package}: pip install 'chunkast[{extra}]'", name=package)
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingPackageError], tuple[str, str]]:
        return MissingPackageError, (self.package, self.extra)


class SourceError(ChunkastError):
    """A file that cannot be read or decoded: which, where and what to do.

    ``path`` is the file's name as it was given, ``position`` the offset in bytes
    of what is wrong in it, or ``None`` when that is no single place.
    """

    def __init__(self, path: str, reason: str, position: int | None = None) -> None:
        where = "" if position is None else f" at byte {position}"
        super().__init__(f"{path}{where}: {reason}")
        self.path = path
        self.reason = reason
        self.position = position

    def __reduce__(self) -> tuple[type[SourceError], tuple[str, str, int | None]]:
        return SourceError, (self.path, self.reason, self.position)


class StoreError(ChunkastError):
    """A database that cannot be used: which, and why. ``path`` is its name as it was given."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[type[StoreError], tuple[str, str]]:
        return StoreError, (self.path, self.reason)
