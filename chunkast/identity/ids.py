"""Chunk ids."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from chunkast.text.source_map import encode

__all__ = ("Location", "chunk_id")


def chunk_id(source: str, headings: Sequence[str], part: int) -> str:
    """The id of the ``part``-th chunk (from 0) under a heading path of a source: 16 digits.

    The first 16 hexadecimal digits of the SHA-256 of the source, the headings joined by
    " > ", and "#" with the part, on a line each.
    """
    return Location.of(source).at(tuple(headings)).id(part)


class Location:
    """Where chunks stand: a source and a heading path. Gives the ids of the chunks there.

    A path's hash goes on from that of the path around it, so that long titles are read
    once. ``key`` is equal for locations that give equal ids.
    """

    __slots__ = ("_below", "_hash", "_root", "key")

    def __init__(self, state: Any, *, root: bool) -> None:
        """``state`` has hashed everything before the part; ``root``: no heading yet."""
        self._hash = state
        self._root = root
        self._below: dict[str, Location] = {}
        self.key: bytes = state.digest()

    @classmethod
    def of(cls, source: str) -> Location:
        """The location before any heading of ``source``."""
        return cls(sha256(encode(f"{source}\n")), root=True)

    def at(self, headings: tuple[str, ...]) -> Location:
        """The location under ``headings``, the outermost first."""
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
        """The id of the ``part``-th chunk here: see :func:`chunk_id`."""
        state = self._hash.copy()
        state.update(f"\n#{part}".encode())
        return str(state.hexdigest()[:16])
