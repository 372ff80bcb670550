"""Text for reading: each chunk below a line with its place.

    docs/guide.md:12-40  312 tokens  Guide > Set-up

The chunk follows verbatim (lone surrogates excepted, which are escaped), then a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Final

from chunkast.model import Chunk
from chunkast.text.pages import pages_note

__all__ = ("encode_text", "page", "write_text")

_RULE: Final = "─" * 72


def write_text(chunks: Iterable[Chunk], out: BinaryIO, _chunker: object = None) -> None:
    """Write each chunk with a header line before it and a rule after it."""
    out.writelines(_pages(chunks))


def encode_text(chunks: Iterable[Chunk]) -> bytes:
    """Each chunk with a header line before it and a rule after it."""
    return b"".join(_pages(chunks))


def _pages(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    for chunk in chunks:
        source = "-" if chunk.source is None else chunk.source
        place = f"{source}:{chunk.start_line}-{chunk.end_line}{pages_note(chunk.pages)}"
        written = page(
            place, chunk.token_count, chunk.headings, chunk.text, oversize=chunk.oversize
        )
        yield written.encode("utf-8", "backslashreplace")


def page(
    place: str, token_count: int, headings: Sequence[str], text: str, *, oversize: bool = False
) -> str:
    """A text between a header line, with its place, tokens and headings, and a rule."""
    tokens = f"{token_count} token{'' if token_count == 1 else 's'}"
    if oversize:
        tokens += " (oversize)"
    header = "  ".join(filter(None, (place, tokens, " > ".join(headings))))
    end = "" if text.endswith("\n") else "\n"
    return f"{header}\n\n{text}{end}{_RULE}\n"
