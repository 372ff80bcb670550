"""Compute chunk ids: hashes of a source, a heading path and a chunk's number."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from hashlib import sha256
from typing import Any

from chunkast.text.source_map import encode

__all__ = ("PartCounts", "chunk_id", "next_chunk_id")

# The number of chunks so far at each location: a source and a heading path. The keys are hashes,
# because a path may be long.
PartCounts = MutableMapping[bytes, int]


def chunk_id(source: str, headings: Sequence[str], part: int) -> str:
    """Return the id of a chunk: 16 hexadecimal digits.

    The id is the beginning of the SHA-256 of three lines: the source, the headings joined by " > ",
    and "#" followed by the part.

    source: the document's name.
    headings: the titles of the sections that contain the chunk, outermost first.
    part: the chunk's number, from 0, among the chunks with this source and these headings.

    >>> from chunkast import chunk_id
    >>> chunk_id("guide.md", ["Setup", "Linux"], 0)
    'e33bbeec7a485ef9'
    """
    return _numbered(sha256(_location(source, headings)), part)


def next_chunk_id(source: str, headings: Sequence[str], parts: PartCounts) -> str:
    """Return the id of the next chunk under a heading path, and count the chunk in ``parts``."""
    state = sha256(_location(source, headings))
    key = state.digest()
    parts[key] += 1
    return _numbered(state, parts[key] - 1)


def _numbered(location: Any, part: int) -> str:
    """Return the id of a part; the hash ``location`` is continued, so that it is made only once."""
    location.update(f"\n#{part}".encode())
    return str(location.hexdigest()[:16])


def _location(source: str, headings: Sequence[str]) -> bytes:
    return encode(f"{source}\n{' > '.join(headings)}")
