"""The parts of documents that a search returns: chunks whole, or grown to more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import maxsize
from typing import NamedTuple, Protocol

from chunkast.index.ranking import Candidate
from chunkast.reading import Outline, Passage
from chunkast.text.source_map import SourceMap

__all__ = ("Grown", "Parts", "Whole", "part_of")


class Parts(Protocol):
    """The parts taken so far."""

    def take(self, found: Candidate, room: int) -> int | None:
        """Take a chunk; return the tokens that it adds, or ``None`` if they exceed ``room``."""

    def taken(self) -> Iterator[tuple[Candidate, Passage]]:
        """Yield each chunk taken with its part, in order."""


def part_of(found: Candidate, *, overlap: bool) -> Passage:
    """Return a chunk as a passage, with its overlap or without."""
    chunk = found.chunk
    left_out = 0 if overlap else chunk.overlap
    return Passage(
        text=chunk.text[left_out:],
        source=chunk.source,
        start_index=chunk.start_index + left_out,
        end_index=chunk.end_index,
        start_line=chunk.start_line + SourceMap(chunk.text).line(left_out) - 1,
        end_line=chunk.end_line,
        tokens=chunk.token_count if overlap else found.own_tokens,
    )


class Whole:
    """Takes chunks whole, but for an overlap with another."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str | None, int], Candidate] = {}

    def take(self, found: Candidate, room: int) -> int | None:
        """Take a chunk; the tokens are less the overlap that the chunk after it then omits."""
        source, index = found.place
        tokens = self._tokens(found, alone=(source, index - 1) not in self._taken)
        following = self._taken.get((source, index + 1))
        if following is not None:
            tokens -= self._tokens(following, alone=True) - self._tokens(following, alone=False)
        if tokens > room:
            return None
        self._taken[found.place] = found
        return tokens

    @staticmethod
    def _tokens(found: Candidate, *, alone: bool) -> int:
        return found.chunk.token_count if alone else found.own_tokens

    def taken(self) -> Iterator[tuple[Candidate, Passage]]:
        """Yield each chunk taken with its part, in order."""
        for (source, index), found in self._taken.items():
            yield found, part_of(found, overlap=(source, index - 1) not in self._taken)


class _Span(NamedTuple):
    start_index: int
    end_index: int


class Grown:
    """Grows chunks to at most ``most`` tokens, each into what no other has taken.

    ``outline_of`` returns the outline of a document, or ``None`` if it has no text to read; its
    chunks are taken as they are.
    """

    def __init__(self, outline_of: Callable[[str], Outline | None], most: int) -> None:
        self._outline_of = outline_of
        self._most = most
        self._taken: list[tuple[Candidate, Passage]] = []

    def take(self, found: Candidate, room: int) -> int | None:
        """Take what grows from a chunk; ``None`` also if the others have all of it already."""
        source, end = found.chunk.source, found.chunk.end_index
        start = found.chunk.start_index + found.chunk.overlap
        others = [other for _, other in self._taken if other.source == source]
        gap = _Span(
            max((other.end_index for other in others if other.start_index <= start), default=0),
            min(
                (other.start_index for other in others if other.start_index > start),
                default=maxsize,
            ),
        )
        free = _Span(max(start, gap.start_index), min(end, gap.end_index))
        too_large = free == (start, end) and found.own_tokens > room
        if too_large or room < 1 or free.start_index >= free.end_index:
            return None
        outline = self._outline_of(source or "")
        if outline is None:
            grown = part_of(found, overlap=False)
        else:
            grown = outline.expand(free, min(self._most, room), inside=gap)
        if not grown.text or grown.tokens > room:
            return None
        self._taken.append((found, grown))
        return grown.tokens

    def taken(self) -> Iterator[tuple[Candidate, Passage]]:
        """Yield each chunk taken with its part, in order."""
        yield from self._taken
