"""Chunk ids and content hashes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from chunkast.text.source_map import encode
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("Location", "chunk_id", "content_hash", "hash_of_normalized", "normalize_text")

_SPACES: Final = re.compile(f"[{WHITE_SPACE}]+")
# Where Python's own white space is another.
_DIFFERENT: Final = ("\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\ufeff")


def normalize_text(text: str) -> str:
    """``text`` with every run of (JavaScript's) white space as one space, ends trimmed."""
    for character in _DIFFERENT:
        if character in text:
            return _SPACES.sub(" ", text).strip(" ")
    return " ".join(text.split())  # the same, several times as fast


def content_hash(text: str) -> str:
    """SHA-256 of the normalized text: 64 lower-case hexadecimal digits."""
    return hash_of_normalized(normalize_text(text))


def hash_of_normalized(text: str) -> str:
    """The :func:`content_hash` of a text that :func:`normalize_text` gave."""
    return sha256(encode(text)).hexdigest()


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
