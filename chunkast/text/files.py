"""Reads files as UTF-8 text; a ``SourceError`` names the file, the byte and the problem."""

from __future__ import annotations

import codecs
from os import PathLike
from pathlib import Path
from typing import Final

from chunkast.errors import SourceError, describe

__all__ = ("decode", "read_bytes", "read_text", "undecodable")

# The byte order marks of other encodings. UTF-32's come first: one begins with UTF-16's.
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file, including its original line ends and any byte order mark.

    Raises ``SourceError`` if the file cannot be read or is not UTF-8.
    """
    return decode(read_bytes(path), str(path))


def read_bytes(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file. Raises ``SourceError`` if the file cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise SourceError(str(path), error.strerror or str(error)) from None
    except (MemoryError, ValueError) as error:  # ValueError: NUL in a path
        raise SourceError(str(path), describe(error)) from None


def decode(data: bytes, path: str) -> str:
    """Return the text of a file's ``data``. Raises ``SourceError`` if the data is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise undecodable(path, error, 0) from None


def undecodable(path: str, error: UnicodeDecodeError, base: int) -> SourceError:
    """Return the ``SourceError`` for ``error``; its bytes begin at byte ``base`` of the file."""
    data = error.object
    marks = _MARKS.items() if not base else ()
    wide = next((name for mark, name in marks if data.startswith(mark)), None)
    if wide is not None:
        return SourceError(path, f"this is {wide}; convert the file to UTF-8", 0)
    reason = f"0x{data[error.start]:02x} is not valid UTF-8 here ({error.reason})"
    return SourceError(path, f"{reason}; convert the file to UTF-8", base + error.start)
