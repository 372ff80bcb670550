"""Read files as UTF-8 text. A ``SourceError`` names the file and the problem."""

from __future__ import annotations

import codecs
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Final

from chunkast.errors import SourceError, describe

__all__ = ("check_is_text", "decode", "read_bytes", "read_text", "tokenizer_file", "undecodable")

# The byte order marks of UTF-16.
_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# The first bytes of formats that are no text.
_FORMATS: Final = {
    b"%PDF-": "a PDF",
    b"%!PS": "PostScript",
    b"{\\rtf": "RTF",
    b"PK\x03\x04": "a ZIP file (Word, PowerPoint, EPUB ...)",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    **dict.fromkeys((b"GIF87a", b"GIF89a"), "a GIF image"),
    b"SQLite format 3\0": "an SQLite database",
    b"\x1f\x8b": "gzip",
}
_CONVERT: Final = "convert it to Markdown, for example with Docling, MarkItDown, marker or pandoc"
# Control characters that few texts have, and the least share of them in data that is no text.
_CONTROLS: Final = bytes({*range(0x20)} - {*b"\b\t\n\v\f\r\x1b"})
_CONTROL_SHARE: Final = 1 / 8
_HEAD: Final = 4096


def check_is_text(data: bytes, path: str) -> None:
    """Raise ``SourceError`` if the beginning of ``data`` looks like binary data."""
    head = data[:_HEAD]
    if name := next((name for magic, name in _FORMATS.items() if head.startswith(magic)), ""):
        raise SourceError(path, f"this is {name}; {_CONVERT}")
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > len(head) * _CONTROL_SHARE and not head.startswith(_MARKS):
        raise SourceError(path, "this is binary, or UTF-16; convert it to text in UTF-8")


def tokenizer_file(value: Any) -> Any:
    """Return the path of ``tokenizer.json`` in the folder ``value``, or else ``value`` itself."""
    if isinstance(value, (str, PathLike)) and value:
        with suppress(OSError, ValueError, TypeError):
            path = Path(value, "tokenizer.json")
            return str(path) if path.is_file() else value
    return value


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file, including its original line endings and any byte order mark.

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
    check_is_text(data, path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise undecodable(path, error, 0) from None


def undecodable(path: str, error: UnicodeDecodeError, base: int) -> SourceError:
    """Return the ``SourceError`` for ``error``, whose data begins at byte ``base`` of the file."""
    data = error.object
    if not base and data.startswith(_MARKS):
        return SourceError(path, "this is UTF-16; convert the file to UTF-8", 0)
    reason = f"0x{data[error.start]:02x} is not valid UTF-8 here ({error.reason})"
    return SourceError(path, f"{reason}; convert the file to UTF-8", base + error.start)
