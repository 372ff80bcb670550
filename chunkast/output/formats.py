"""Output formats: one table, which also has the choices of the command's ``--format``.

A writer takes an iterable of chunks, a binary stream, and the chunker that made them (for the
formats that store its configuration). A new format is a module and a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final

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

    write: writes chunks to a stream.
    endings: the extensions of files in this format, in lower case.
    binary: true if the output is unreadable in a terminal.
    encode: returns the bytes of some chunks, if those of all chunks are what ``write`` writes,
        one after another; else ``None``. Such chunks can be encoded in several processes.
    """

    write: Callable[[Iterable[Chunk], BinaryIO, Chunker], None]
    endings: tuple[str, ...]
    binary: bool = False
    encode: Callable[[Iterable[Chunk]], bytes] | None = None


# The first one is the default.
WRITERS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "jsonl": Format(write_jsonl, (".jsonl", ".ndjson"), encode=encode_jsonl),
        "json": Format(write_json, (".json",)),
        "text": Format(write_text, (".txt",), encode=encode_text),
        "parquet": Format(write_parquet, (".parquet",), binary=True),
        "sqlite": Format(write_sqlite, (".db", ".sqlite", ".sqlite3"), binary=True),
    }
)


def format_of(path: str | None) -> str:
    """Return the format of a file's extension; the default if no format has it."""
    name = (path or "").lower()
    known = (key for key, row in WRITERS.items() if name.endswith(row.endings))
    return next(known, next(iter(WRITERS)))
