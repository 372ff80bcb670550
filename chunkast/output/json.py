r"""Write chunks as JSON: one object per line, or one array with an object on each line.

The output is UTF-8 with only the necessary escapes. Lone surrogates, which UTF-8 cannot
represent, become ``\uXXXX`` escapes, which every JSON reader accepts and Python reads back.
(Two surrogates in a ``str`` that form a pair are read back as one character, because both have the
same JSON.)
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import BinaryIO

from chunkast.model import Chunk

__all__ = ("json_bytes", "write_json", "write_jsonl")


def write_jsonl(chunks: Iterable[Chunk], out: BinaryIO, _chunker: object = None) -> None:
    """Write the chunks as JSON Lines: one compact object per line."""
    out.writelines(json_bytes(chunk.to_dict()) + b"\n" for chunk in chunks)


def write_json(chunks: Iterable[Chunk], out: BinaryIO, _chunker: object = None) -> None:
    """Write the chunks as a JSON array, with one object per line."""
    before = b"[\n"
    for chunk in chunks:
        out.write(before + json_bytes(chunk.to_dict()))
        before = b",\n"
    out.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def json_bytes(value: object) -> bytes:
    """Return ``value`` as one line of compact JSON in UTF-8, without a line ending."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Only lone surrogates inside strings cannot be encoded; "backslashreplace" writes them as
    # JSON escapes.
    return text.encode("utf-8", "backslashreplace")
