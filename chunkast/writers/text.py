"""Text for reading: each chunk below a line that says where it is from.

    docs/guide.md:12-40  312 tokens  Guide > Set-up

The chunk follows verbatim (lone surrogates excepted, which are escaped), then a rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO, Final

from chunkast.model import Chunk

__all__ = ("write_text",)

_RULE: Final = "─" * 72


def write_text(chunks: Iterable[Chunk], out: BinaryIO) -> None:
    """Write each chunk with a header line before it and a rule behind it."""
    for chunk in chunks:
        end = "" if chunk.text.endswith("\n") else "\n"
        page = f"{_header(chunk)}\n\n{chunk.text}{end}{_RULE}\n"
        out.write(page.encode("utf-8", "backslashreplace"))


def _header(chunk: Chunk) -> str:
    source = "-" if chunk.source is None else chunk.source
    tokens = f"{chunk.token_count} token{'' if chunk.token_count == 1 else 's'}"
    if chunk.oversize:
        tokens += " (oversize)"
    place = f"{source}:{chunk.start_line}-{chunk.end_line}"
    path = " > ".join(chunk.headings)
    return "  ".join(filter(None, (place, tokens, path)))
