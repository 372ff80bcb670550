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
from chunkast.output.json import json_bytes, write_json, write_jsonl
from chunkast.output.parquet import write_parquet
from chunkast.output.text import write_text

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = ("WRITERS", "Format", "format_of", "json_bytes")


@dataclass(frozen=True, slots=True)
class Format:
    """An output format.

    write: the function that writes chunks to a stream.
    endings: the file extensions of the format, in lower case.
    binary: true if the output is unreadable in a terminal.
    joins: true if outputs can be concatenated, so that several processes can write chunks.
    """

    write: Callable[[Iterable[Chunk], BinaryIO, Chunker], None]
    endings: tuple[str, ...] = ()
    binary: bool = False
    joins: bool = False


# The first format is the default.
WRITERS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "jsonl": Format(write_jsonl, (".jsonl", ".ndjson"), joins=True),
        "json": Format(write_json, (".json",)),
        "text": Format(write_text, (".txt",), joins=True),
        "parquet": Format(write_parquet, (".parquet",), binary=True),
    }
)
# Databases are written by ``chunkast index``.
_DATABASES: Final = (".db", ".sqlite", ".sqlite3")


def format_of(path: str | None, chosen: str | None = None) -> str:
    """Return the name of the output format: ``chosen``, or the format of the file's extension.

    ``path`` is ``None`` for standard output. If ``chosen`` is ``None``, the default format is used
    for standard output, for devices, and for names without an extension.

    Raises ``UsageError`` for the extension of a database, for an extension that contradicts
    ``chosen``, and for an unknown extension if ``chosen`` is ``None``.
    """
    default = next(iter(WRITERS))
    if path is None or path.startswith("/dev/"):
        return chosen or default
    name = path.lower()
    if name.endswith(_DATABASES):
        raise UsageError(
            f"--output {path}: databases are written by another command: "
            f"chunkast index PATHS --db {path}"
        )
    known = next((key for key, row in WRITERS.items() if name.endswith(row.endings)), None)
    if chosen is not None and known not in (None, chosen):
        raise UsageError(f"--format {chosen} contradicts --output {path}, which is {known}")
    if chosen is None and known is None and PurePath(path).suffix:
        choices = ", ".join(f"{' '.join(row.endings)} ({key})" for key, row in WRITERS.items())
        raise UsageError(f"--output {path}: unknown extension; give --format, or one of {choices}")
    return chosen or known or default
