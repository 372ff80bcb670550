"""Chunk ids: hashes of a source, a heading path and a chunk's number."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from hashlib import sha256
from typing import Any

from chunkast.text.source_map import encode

__all__ = ("Location", "PartCounts", "chunk_id")

# The number of chunks so far at each location, by the location's key.
PartCounts = MutableMapping[bytes, int]


def chunk_id(source: str, headings: Sequence[str], part: int) -> str:
    """Return the id of a chunk: 16 hexadecimal digits.

    The digits are the first ones of the SHA-256 of three lines: the source, the headings joined by
    " > ", and "#" followed by the part.

    source: the document's name.
    headings: the titles of the sections that contain the chunk, outermost first.
    part: the chunk's number, from 0, among the chunks with this source and these headings.

    >>> from chunkast import chunk_id
    >>> chunk_id("guide.md", ["Setup", "Linux"], 0)
    'e33bbeec7a485ef9'
    """
    return Location.of(source).at(tuple(headings)).id(part)


class Location:
    """A source and a heading path, from which the ids of the chunks there are computed.

    The hash of a path continues the hash of the enclosing path, so that each title is hashed only
    once. Two locations with the same ``key`` have the same ids.
    """

    __slots__ = ("_below", "_hash", "_root", "key")

    def __init__(self, state: Any, *, root: bool) -> None:
        """Make a location; ``state`` is its hash, and ``root`` is true before the first heading."""
        self._hash = state
        self._root = root
        self._below: dict[str, Location] = {}
        self.key: bytes = state.digest()

    @classmethod
    def of(cls, source: str) -> Location:
        """Return the location of the text before the first heading of ``source``."""
        return cls(sha256(encode(f"{source}\n")), root=True)

    def at(self, headings: tuple[str, ...]) -> Location:
        """Return the location under ``headings``, which are outermost first."""
        location = self
        for title in headings:
            below = location._below.get(title)
            if below is None:
                state = location._hash.copy()
                state.update(encode(title if location._root else f" > {title}"))
                below = location._below[title] = Location(state, root=False)
            location = below
        return location

    def id(self, part: int) -> str:
        """Return the id of chunk number ``part`` at this location; see :func:`chunk_id`."""
        state = self._hash.copy()
        state.update(f"\n#{part}".encode())
        return str(state.hexdigest()[:16])
