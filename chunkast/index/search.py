"""Selects the best hits for a query within a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from sys import maxsize
from typing import Final, NamedTuple

from chunkast.index.copies import Place, copy_keys, place_of
from chunkast.index.parts import Parts, Span, passage_of
from chunkast.index.ranking import Candidate, best_section
from chunkast.reading import Outline, Passage

__all__ = ("ExpandedChunks", "Hit", "WholeChunks", "hits", "take_best")

# The number of chunks without a part that fits, after which no more parts are sought.
_MAX_MISSES: Final = 4
# A search is full when it has taken a chunk and has room for fewer tokens than this.
_LEAST_ROOM: Final = 32
# The number of best chunks among which a full search still looks for copies.
_MAX_COPIES: Final = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matches a query, possibly expanded.

    id: the chunk's id.
    source: the document's name.
    text: the chunk's text without its overlap, or the expanded text.
    start_index: the start of ``text`` in the document, a character index from 0.
    end_index: the end of ``text`` in the document, an exclusive character index.
    start_line: the line in which ``text`` begins, from 1.
    end_line: the line of the last character of ``text``, from 1, inclusive.
    token_count: the number of tokens in ``text``.
    headings: the heading path of the section in which the chunk begins, outermost first.
    section: the heading path of the section in the chunk that matches the query best.
    anchor: the anchor of that section, such as "install" in ``guide.md#install``; empty if there is
        none, for example in a notebook.
    score: the relevance score, based on BM25, or on both rankings in a search by words and vectors;
        higher is better.
    pages: the first and the last page that the chunk is on, from 1; ``None`` for a document without
        pages.
    part: true if ``text`` is only a part of the chunk, because the budget has no room for all of
        it: whole sections, blocks or sentences around the best match.
    also: the places of the hit's copies, which are no hits of their own: matches of equal text, and
        of the same section in another version of the document (the same heading path and first
        sentence, and a path that differs in one part such as "v1", "2.0" or "latest").
    """

    id: str
    source: str
    text: str
    start_index: int
    end_index: int
    start_line: int
    end_line: int
    token_count: int
    headings: tuple[str, ...]
    score: float
    pages: tuple[int, int] | None = None
    section: tuple[str, ...] = ()
    anchor: str = ""
    part: bool = False
    also: tuple[Place, ...] = ()

    @property
    def place(self) -> str:
        """The source with the first and the last line, as ``source:first-last``."""
        return f"{self.source}:{self.start_line}-{self.end_line}"


class Taken(NamedTuple):
    """A chunk that a search has taken, with the passage to return for it."""

    candidate: Candidate
    passage: Passage
    part: bool = False


class WholeChunks:
    """The chunks that a search has taken, without their overlap.

    ``taken`` contains the chunks by their places, best first. ``find_parts`` is called when a chunk
    does not fit; if it returns ``None``, these chunks are not taken.
    """

    def __init__(self, find_parts: Callable[[], Parts | None]) -> None:
        self.taken: dict[tuple[str | None, int], Taken] = {}
        # Parts need the vocabulary, which takes long to load.
        self._find_parts = cache(find_parts)
        self._misses = 0

    def take(self, candidate: Candidate, room: int) -> int | None:
        """Take a chunk, or a part of it, if it fits in ``room`` tokens.

        Returns the number of tokens that the chunk adds, or ``None`` if it was not taken.
        """
        return self._take(candidate, _own_passage(candidate), _own_span(candidate), room)

    def _take(self, candidate: Candidate, passage: Passage, free: Span, room: int) -> int | None:
        """Take a passage if it fits, else the best part of the chunk in the span ``free``."""
        part = passage.tokens > room
        if part:
            if self._misses == _MAX_MISSES or room < 1 or free[0] >= free[1]:
                return None
            parts = self._find_parts()
            found = None if parts is None else parts.best(candidate.chunk, free, room)
            if found is None:
                self._misses += 1
                return None
            passage = found
        self.taken[candidate.place] = Taken(candidate, passage, part)
        return passage.tokens


def _own_span(candidate: Candidate) -> Span:
    chunk = candidate.chunk
    return Span(chunk.start_index + chunk.overlap, chunk.end_index)


def _own_passage(candidate: Candidate) -> Passage:
    """Return a chunk without its overlap as a passage."""
    return passage_of(candidate.chunk, _own_span(candidate), candidate.own_tokens)


class ExpandedChunks(WholeChunks):
    """The chunks that a search has taken, expanded to at most ``most`` tokens without shared text.

    ``outline_of`` returns the outline of a document, or ``None`` if its text cannot be read; in
    that case, the document's chunks are not expanded.
    """

    def __init__(
        self,
        find_parts: Callable[[], Parts | None],
        outline_of: Callable[[str], Outline | None],
        most: int,
    ) -> None:
        super().__init__(find_parts)
        self._outline_of = outline_of
        self._most = most

    def take(self, candidate: Candidate, room: int) -> int | None:
        """Expand a chunk and take it, or a part of it, if it fits in ``room`` tokens.

        Returns the number of tokens that the chunk adds, or ``None`` if it was not taken. A chunk
        is not taken if other passages already contain all of its text.
        """
        free, gap = self._free(candidate)
        if room < 1 or free[0] >= free[1]:
            return None
        outline = self._outline_of(candidate.chunk.source or "")
        if outline is None:
            passage = _own_passage(candidate)
        else:
            passage = outline.expand(free, min(self._most, room), inside=gap)
        return self._take(candidate, passage, free, room) if passage.text else None

    def _free(self, candidate: Candidate) -> tuple[Span, Span]:
        """Return the span of a chunk's own text, and of the document around it, without passages."""
        source, (start, end) = candidate.chunk.source, _own_span(candidate)
        others = [each.passage for each in self.taken.values() if each.passage.source == source]
        ends = (each.end_index for each in others if each.start_index <= start)
        starts = (each.start_index for each in others if each.start_index > start)
        gap = Span(max(ends, default=0), min(starts, default=maxsize))
        return Span(max(start, gap.start_index), min(end, gap.end_index)), gap


def take_best(
    candidates: Iterable[Candidate], budget: int, limit: int | None, selection: WholeChunks
) -> dict[str, list[Place]]:
    """Take the best chunks or parts that fit the budget, up to ``limit``, and skip the others.

    Copies of a chunk that was taken are skipped. Returns the places of the copies among the best
    chunks, by the id of the chunk that was taken.
    """
    # The id of the chunk that was taken, by the keys of its copies.
    taken: dict[Hashable, str] = {}
    also: defaultdict[str, list[Place]] = defaultdict(list)
    used = 0
    for rank, candidate in enumerate(candidates):
        full = limit is not None and len(selection.taken) >= limit
        full = full or (bool(selection.taken) and budget - used < _LEAST_ROOM)
        if full and rank >= _MAX_COPIES:
            break
        keys = copy_keys(candidate.chunk)
        first = next((taken[key] for key in keys if key in taken), None)
        if first is not None:
            taken = dict.fromkeys(keys, first) | taken
            also[first].append(place_of(candidate.chunk))
            continue
        more = None if full else selection.take(candidate, budget - used)
        if more is not None:
            taken |= dict.fromkeys(keys, candidate.chunk.id)
            used += more
    return also


def hits(selection: WholeChunks, query: str, also: Mapping[str, Sequence[Place]]) -> Iterator[Hit]:
    """Yield a hit for each chunk that was taken; ``also`` has the places of copies by its id."""
    for candidate, passage, part in selection.taken.values():
        chunk = candidate.chunk
        start, _ = best_section(query, chunk, (passage.start_index, passage.end_index))
        yield Hit(
            id=chunk.id,
            source=chunk.source or "",
            text=passage.text,
            start_index=passage.start_index,
            end_index=passage.end_index,
            start_line=passage.start_line,
            end_line=passage.end_line,
            token_count=passage.tokens,
            headings=chunk.headings,
            score=candidate.score,
            pages=chunk.pages,
            section=chunk.section_at(start),
            anchor=chunk.anchor_at(start),
            part=part,
            also=tuple(also.get(chunk.id, ())),
        )
