"""Find copies of a chunk: equal text, or the same section in another version of a document."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Final

from chunkast.model import Chunk
from chunkast.text.folding import composed, fold
from chunkast.text.hashes import normalize_text

__all__ = ("Place", "copy_keys")

# A part of a path that names a version, such as "v1", "2.0.x", "version-3" and "latest".
_VERSION: Final = re.compile(
    r"(?:(?:v|ver|version|release)[-_.]?\d{1,9}(?:\.(?:\d{1,9}|x))*|\d{1,9}(?:\.(?:\d{1,9}|x))+"
    r"|latest|stable|next|current|unreleased|nightly)"
    r"(?:[-_.]?(?:alpha|beta|rc|dev)[-_.]?\d{0,9})?(?:\.[a-z]{1,8})?",
    re.IGNORECASE,
)
# The headings and the first sentence of a chunk, without line ends.
_BEGINNING: Final = re.compile(r".{0,20}.*?(?:[.!?](?= )|\Z)")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a copy of a hit.

    source: the document's name.
    start_line: the 1-based number of the line in which the chunk begins.
    end_line: the 1-based line number of the chunk's last character.
    id: the chunk's id.
    """

    source: str
    start_line: int
    end_line: int
    id: str

    def __str__(self) -> str:
        """Return the source with the first and the last line, as ``source:first-last``."""
        return f"{self.source}:{self.start_line}-{self.end_line}"


def copy_keys(chunk: Chunk) -> set[Hashable]:
    """Return the keys of a chunk. Two chunks are copies if they share a key."""
    paths = [*_unversioned(chunk.source or "")]
    beginning = _BEGINNING.match(normalize_text(chunk.text[chunk.overlap :])) if paths else None
    section = chunk.headings, beginning and fold(composed(beginning[0]))
    return {chunk.content_hash, *((path, *section) for path in paths)}


def _unversioned(source: str) -> Iterator[tuple[str, ...]]:
    """Yield the parts of a path, each time without another part that names a version."""
    parts = tuple(source.split("/"))
    for slot, part in enumerate(parts):
        if _VERSION.fullmatch(part):
            yield (*parts[:slot], "", *parts[slot + 1 :])
