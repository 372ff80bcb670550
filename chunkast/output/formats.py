"""The output formats, which are also the choices of the ``--format`` option.

A writer takes an iterable of chunks, a binary stream, and the chunker that made the chunks (for
formats that store its configuration). To add a format, write a module with a writer and add it
to ``WRITERS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final

from chunkast.errors import UsageError
from chunkast.model import Chunk
from chunkast.output.json import encode_jsonl, json_bytes, write_json, write_jsonl
from chunkast.output.parquet import write_parquet
from chunkast.output.sqlite import write_sqlite
from chunkast.output.text import encode_text, write_text

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = (
    "WRITERS",
    "Format",
    "format_of",
    "json_bytes",
    "write_json",
    "write_jsonl",
    "write_parquet",
    "write_sqlite",
    "write_text",
)


@dataclass(frozen=True, slots=True)
class Format:
    """An output format.

    write: the function that writes chunks to a stream.
    endings: the file extensions of the format, in lower case.
    binary: true if the output is unreadable in a terminal.
    encode: the function that returns the bytes of some chunks, so that several processes can encode
        chunks; ``None`` if outputs in this format cannot be concatenated.
    """

    write: Callable[[Iterable[Chunk], BinaryIO, Chunker], None]
    endings: tuple[str, ...]
    binary: bool = False
    encode: Callable[[Iterable[Chunk]], bytes] | None = None


# The first format is the default.
WRITERS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "jsonl": Format(write_jsonl, (".jsonl", ".ndjson"), encode=encode_jsonl),
        "json": Format(write_json, (".json",)),
        "text": Format(write_text, (".txt",), encode=encode_text),
        "parquet": Format(write_parquet, (".parquet",), binary=True),
        "sqlite": Format(write_sqlite, (".db", ".sqlite", ".sqlite3"), binary=True),
    }
)


def format_of(path: str | None, given: str | None = None) -> str:
    """Return the name of a file's format: ``given``, or else the format of the file's extension.

    The default is used for standard output (``None``), for devices and for names without an
    extension. Raises ``UsageError`` for an extension that contradicts ``given``, and for an unknown
    extension if ``given`` is ``None``.
    """
    default = next(iter(WRITERS))
    if path is None or path.startswith("/dev/"):
        return given or default
    name = path.lower()
    known = next((key for key, row in WRITERS.items() if name.endswith(row.endings)), None)
    if given is not None and known not in (None, given):
        raise UsageError(f"--format {given} contradicts --output {path}, which is {known}")
    if given is None and known is None and PurePath(path).suffix:
        choices = ", ".join(f"{' '.join(row.endings)} ({key})" for key, row in WRITERS.items())
        raise UsageError(f"--output {path}: unknown extension; give --format, or one of {choices}")
    return given or known or default
