"""The parts of documents that a search returns: whole chunks or expanded chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import maxsize
from typing import NamedTuple, Protocol

from chunkast.index.ranking import Candidate
from chunkast.reading import Outline, Passage
from chunkast.text.source_map import SourceMap

__all__ = ("Grown", "Parts", "Whole")


class Parts(Protocol):
    """The parts of documents that a search has taken so far."""

    def take(self, found: Candidate, room: int) -> int | None:
        """Take a chunk if it fits in ``room`` tokens.

        Returns the number of tokens that the chunk adds, or ``None`` if it was not taken.
        """

    def taken(self) -> Iterator[tuple[Candidate, Passage]]:
        """Yield the taken chunks, each with the passage to return for it, in the order taken."""


def _part_of(found: Candidate, *, overlap: bool) -> Passage:
    """Return a chunk as a passage, including its overlap if ``overlap`` is true."""
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
    """Parts that are whole chunks, without any overlap that repeats another taken chunk."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str | None, int], Candidate] = {}

    def take(self, found: Candidate, room: int) -> int | None:
        """Take a chunk if it fits in ``room`` tokens.

        Returns the number of tokens that the chunk adds, or ``None`` if it was not taken. If the
        next chunk of the document has already been taken, its overlap is now omitted, so the tokens
        of that overlap are subtracted from the result.
        """
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
        """Yield the taken chunks, each with the passage to return for it, in the order taken."""
        for (source, index), found in self._taken.items():
            yield found, _part_of(found, overlap=(source, index - 1) not in self._taken)


class _Span(NamedTuple):
    start_index: int
    end_index: int


class Grown:
    """Parts that are expanded chunks of at most ``most`` tokens and do not share any text.

    If the best chunk does not fit the budget, only its beginning is taken.

    ``outline_of`` returns the outline of a document, or ``None`` if its text cannot be read; in
    that case, the document's chunks are not expanded.
    """

    def __init__(self, outline_of: Callable[[str], Outline | None], most: int) -> None:
        self._outline_of = outline_of
        self._most = most
        self._taken: list[tuple[Candidate, Passage]] = []

    def take(self, found: Candidate, room: int) -> int | None:
        """Expand a chunk and take it if it fits in ``room`` tokens.

        Returns the number of tokens that the chunk adds, or ``None`` if it was not taken. A chunk
        is not taken if other parts already contain all of its text.
        """
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
        if (too_large and self._taken) or room < 1 or free.start_index >= free.end_index:
            return None
        outline = self._outline_of(source or "")
        if outline is None:
            grown = _part_of(found, overlap=False)
        else:
            most = min(self._most, room)
            grown = outline.expand(free, most, inside=gap, cut=too_large)
        if not grown.text or grown.tokens > room:
            return None
        self._taken.append((found, grown))
        return grown.tokens

    def taken(self) -> Iterator[tuple[Candidate, Passage]]:
        """Yield the taken chunks, each with the passage to return for it, in the order taken."""
        yield from self._taken
