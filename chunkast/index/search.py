"""Selects the best hits for a query within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from sys import maxsize
from typing import NamedTuple

from chunkast.errors import warn
from chunkast.index.ranking import Candidate, best_sections
from chunkast.reading import Outline, Passage
from chunkast.text.source_map import SourceMap

__all__ = ("ExpandedChunks", "Hit", "WholeChunks", "hits", "take_best")


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matches a query, possibly expanded.

    id: the chunk's id.
    source: the document's name.
    text: the chunk's text, without its overlap if the previous chunk is also a hit; or the expanded
        text.
    start_index: the start of ``text`` in the document, a character index from 0.
    end_index: the end of ``text`` in the document, an exclusive character index.
    start_line: the line in which ``text`` begins, from 1.
    end_line: the line of the last character of ``text``, from 1, inclusive.
    token_count: the number of tokens in ``text``.
    headings: the heading path of the section in which the chunk begins, outermost first.
    section: the heading path of the section in the chunk that matches the query best.
    anchor: the anchor of that section, such as "install" in ``guide.md#install``; empty if there is
        none, for example in a notebook.
    score: the relevance score, based on BM25; higher is better.
    pages: the first and the last page that the chunk is on, from 1; ``None`` for a document without
        pages.
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

    @property
    def place(self) -> str:
        """The source with the first and the last line, as ``source:first-last``."""
        return f"{self.source}:{self.start_line}-{self.end_line}"


class WholeChunks:
    """The chunks that a search has taken, without any overlap that repeats another taken chunk.

    ``taken`` contains each chunk with the passage to return for it, by its place, best first.
    """

    def __init__(self) -> None:
        self.taken: dict[tuple[str | None, int], tuple[Candidate, Passage]] = {}

    def take(self, candidate: Candidate, room: int) -> int | None:
        """Take a chunk if it fits in ``room`` tokens.

        Returns the number of tokens that the chunk adds, or ``None`` if it was not taken. If the
        next chunk of the document has already been taken, its overlap is now omitted, so the tokens
        of that overlap are subtracted from the result.
        """
        source, index = candidate.place
        passage = _passage_of(candidate, overlap=(source, index - 1) not in self.taken)
        entries = {candidate.place: (candidate, passage)}
        tokens = passage.tokens
        if (source, index + 1) in self.taken:
            following, before = self.taken[source, index + 1]
            shortened = _passage_of(following, overlap=False)
            entries[following.place] = following, shortened
            tokens -= before.tokens - shortened.tokens
        if tokens > room:
            return None
        self.taken |= entries
        return tokens


def _passage_of(candidate: Candidate, *, overlap: bool) -> Passage:
    """Return a chunk as a passage, including its overlap if ``overlap`` is true."""
    chunk = candidate.chunk
    left_out = 0 if overlap else chunk.overlap
    return Passage(
        text=chunk.text[left_out:],
        source=chunk.source,
        start_index=chunk.start_index + left_out,
        end_index=chunk.end_index,
        start_line=chunk.start_line + SourceMap(chunk.text).line(left_out) - 1,
        end_line=chunk.end_line,
        tokens=chunk.token_count if overlap else candidate.own_tokens,
    )


class _Span(NamedTuple):
    start_index: int
    end_index: int


class ExpandedChunks(WholeChunks):
    """The chunks that a search has taken, expanded to at most ``most`` tokens without shared text.

    If the best chunk does not fit the budget, only its beginning is taken.

    ``outline_of`` returns the outline of a document, or ``None`` if its text cannot be read; in
    that case, the document's chunks are not expanded.
    """

    def __init__(self, outline_of: Callable[[str], Outline | None], most: int) -> None:
        super().__init__()
        self._outline_of = outline_of
        self._most = most

    def take(self, candidate: Candidate, room: int) -> int | None:
        """Expand a chunk and take it if it fits in ``room`` tokens.

        Returns the number of tokens that the chunk adds, or ``None`` if it was not taken. A chunk
        is not taken if other passages already contain all of its text.
        """
        source, end = candidate.chunk.source, candidate.chunk.end_index
        start = candidate.chunk.start_index + candidate.chunk.overlap
        others = [other for _, other in self.taken.values() if other.source == source]
        ends = (other.end_index for other in others if other.start_index <= start)
        starts = (other.start_index for other in others if other.start_index > start)
        gap = _Span(max(ends, default=0), min(starts, default=maxsize))
        free = _Span(max(start, gap.start_index), min(end, gap.end_index))
        too_large = free == (start, end) and candidate.own_tokens > room
        if (too_large and self.taken) or room < 1 or free.start_index >= free.end_index:
            return None
        outline = self._outline_of(source or "")
        if outline is None:
            passage = _passage_of(candidate, overlap=False)
        else:
            passage = outline.expand(free, min(self._most, room), inside=gap, cut=too_large)
        if not passage.text or passage.tokens > room:
            return None
        self.taken[candidate.place] = candidate, passage
        return passage.tokens


def take_best(
    candidates: Iterable[Candidate], budget: int, limit: int | None, selection: WholeChunks
) -> None:
    """Take the best chunks that fit the budget, up to ``limit`` chunks, and skip the others.

    Issues a ``ChunkastWarning`` about better chunks that exceed the whole budget, so that a worse
    hit is not mistaken for the best.
    """
    larger: list[Candidate] = []
    better = used = 0
    for candidate in candidates:
        if limit is not None and len(selection.taken) >= limit:
            break
        more = selection.take(candidate, budget - used)
        if more is not None:
            used += more
            better = len(larger)
        elif candidate.own_tokens > budget:
            larger.append(candidate)
    if missed := larger[: better if selection.taken else None]:
        best = missed[0].chunk
        warn(
            f"skipped better hits: {len(missed)} larger than the budget of {budget:,} tokens, the "
            f"best of them {best.source}:{best.start_line}-{best.end_line} with "
            f"{best.token_count:,}; raise the budget, or expand hits to get its beginning"
        )


def hits(selection: WholeChunks, query: str, anchor_of: Callable[[str, int], str]) -> Iterator[Hit]:
    """Yield a hit for each chunk that was taken.

    ``anchor_of`` returns the anchor for a source and a position in that document.
    """
    taken = selection.taken.values()
    slots = best_sections(query, (candidate.chunk for candidate, _ in taken))
    for (candidate, passage), slot in zip(taken, slots, strict=True):
        chunk = candidate.chunk
        start = chunk.section_starts[slot] if chunk.section_starts else chunk.start_index
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
            anchor=anchor_of(chunk.source or "", start),
        )
