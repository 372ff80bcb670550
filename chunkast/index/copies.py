"""Finds copies of a chunk: equal text, or the same section in another version of a document."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from chunkast.index.rows import JOINED, as_json, read_row
from chunkast.model import Chunk
from chunkast.text.hashes import normalize_text

__all__ = ("Place", "copies_among", "copy_keys")

# A part of a path that names a version, such as "v1", "2.0.x", "version-3" and "latest".
_VERSION: Final = re.compile(
    r"(?:(?:v|ver|version|release)[-_.]?\d{1,9}(?:\.(?:\d{1,9}|x))*|\d{1,9}(?:\.(?:\d{1,9}|x))+"
    r"|latest|stable|next|current|unreleased|nightly)"
    r"(?:[-_.]?(?:alpha|beta|rc|dev)[-_.]?\d{0,9})?(?:\.[a-z]{1,8})?",
    re.IGNORECASE,
)
# The headings at the beginning of a chunk.
_HEADINGS: Final = re.compile(
    r"(?:\s*(?=\S)(?:#{1,6}[ \t][^\r\n]*|[^\r\n]+(?:\r\n?|\n)(?:=+|-+)[ \t]*(?=[\r\n])))*\s*"
)
_SENTENCE_END: Final = re.compile(r"(?:\r\n?|\n)[ \t]*(?:\r\n?|\n)|(?<=[.!?])\s")
_CANDIDATES: Final = (
    f"{JOINED} WHERE chunks.number IN (SELECT value FROM json_each(?)) "  # noqa: S608  (constants)
    "AND (content_hash IN (SELECT value FROM json_each(?)) "
    "OR headings IN (SELECT value FROM json_each(?))) ORDER BY source, position"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Another place of a hit that has copies.

    source: the document's name.
    start_line: the line in which the chunk begins, from 1.
    end_line: the line of the chunk's last character, from 1, inclusive.
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
    """Return keys of a chunk: two chunks are copies if they have a key in common."""
    paths = [*_unversioned(chunk.source or "")]
    section = _section(chunk) if paths else ()
    return {chunk.content_hash, *((path, *section) for path in paths)}


def copies_among(
    connection: sqlite3.Connection, numbers: Iterable[int], taken: Mapping[Hashable, Chunk]
) -> dict[str, tuple[Place, ...]]:
    """Return the places of the copies of each chunk in ``taken``, by its id.

    ``numbers`` are the numbers of rows among which copies are sought, and ``taken`` has each chunk
    by its keys.
    """
    chunks = [*{chunk.id: chunk for chunk in taken.values()}.values()]
    hashes = [chunk.content_hash for chunk in chunks]
    headings = [as_json(each.headings) for each in chunks if any(_unversioned(each.source or ""))]
    values = json.dumps([*numbers]), json.dumps(hashes), json.dumps(headings)
    found: defaultdict[str, list[Place]] = defaultdict(list)
    for row in connection.execute(_CANDIDATES, values):
        other = read_row(row)[2]
        first = next((taken[key] for key in copy_keys(other) if key in taken), None)
        if first is not None and (first.source, first.index) != (other.source, other.index):
            place = Place(other.source or "", other.start_line, other.end_line, other.id)
            found[first.id].append(place)
    return {identity: tuple(places) for identity, places in found.items()}


def _unversioned(source: str) -> Iterator[tuple[str, ...]]:
    """Yield the parts of a path, each time without another part that names a version."""
    parts = tuple(source.split("/"))
    for slot, part in enumerate(parts):
        if _VERSION.fullmatch(part):
            yield (*parts[:slot], "", *parts[slot + 1 :])


def _section(chunk: Chunk) -> tuple[Hashable, ...]:
    """Return the heading paths and the text of the first sentence after the chunk's overlap."""
    headings = _HEADINGS.match(chunk.text, chunk.overlap)
    start = headings.end() if headings else chunk.overlap
    sentence = normalize_text(_SENTENCE_END.split(chunk.text[start:], maxsplit=1)[0])
    return chunk.headings, chunk.section_at(chunk.start_index + start), sentence
