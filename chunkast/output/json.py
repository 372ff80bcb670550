r"""JSON: an object per line, or one array with an object per line.

The bytes are UTF-8, with only the necessary escapes. Lone surrogates, which UTF-8 cannot
represent, become ``\uXXXX`` escapes, which every JSON reader accepts and Python reads back.
(Two characters of a ``str`` that form a pair of surrogates are read back as one character: JSON
cannot distinguish them.)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from chunkast.model import Chunk

__all__ = ("encode_jsonl", "json_bytes", "write_json", "write_jsonl")


def write_jsonl(chunks: Iterable[Chunk], out: BinaryIO, _chunker: object = None) -> None:
    """Write one compact object per line."""
    out.writelines(_lines(chunks))


def encode_jsonl(chunks: Iterable[Chunk]) -> bytes:
    """Return one compact object per line."""
    return b"".join(_lines(chunks))


def write_json(chunks: Iterable[Chunk], out: BinaryIO, _chunker: object = None) -> None:
    """Write one array, an object per line."""
    before = b"[\n"
    for chunk in chunks:
        out.write(before + json_bytes(chunk.to_dict()))
        before = b",\n"
    out.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def _lines(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    return (json_bytes(chunk.to_dict()) + b"\n" for chunk in chunks)


def json_bytes(value: object) -> bytes:
    """Return JSON data as one compact line, without a line end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Only lone surrogates inside strings cannot be encoded; "backslashreplace" writes them as
    # JSON escapes.
    return text.encode("utf-8", "backslashreplace")
