"""Select the best hits for a query within a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from sys import maxsize
from typing import Final, NamedTuple

from chunkast.analysis import structure_of
from chunkast.config import ChunkConfig
from chunkast.cutting.costs import Costs
from chunkast.cutting.divide import Divider
from chunkast.cutting.units import UnitFinder
from chunkast.index.copies import Place, copy_keys
from chunkast.index.ranking import Candidate, Query, best_section, chunk_text, most_relevant
from chunkast.model import Chunk
from chunkast.reading import Outline, Passage
from chunkast.reading.passages import grown
from chunkast.sources.documents import document_of
from chunkast.text.spans import trim_span
from chunkast.tokens import TokenCounter

__all__ = ("Hit", "Parts", "Selection", "hits", "take_best")

# A search is full when it has taken a chunk and has room for fewer tokens than this.
_LEAST_ROOM: Final = 32
# The number of best chunks among which a full search still looks for copies.
_MAX_COPIES: Final = 50


# The kinds of break points that divide a sentence or a row.
_DIVIDING: Final = frozenset({"word", "grapheme", "cell"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matches a query, possibly expanded.

    id: the chunk's id.
    source: the document's name.
    text: the chunk's text without its overlap, or the expanded text.
    start_index: the start of ``text`` in the document, a character index from 0.
    end_index: the end of ``text`` in the document, an exclusive character index.
    start_line: the 1-based number of the line in which ``text`` begins.
    end_line: the 1-based line number of the last character of ``text``.
    token_count: the number of tokens in ``text``.
    headings: the heading path of the section in which the chunk begins, outermost first.
    section: the heading path of the chunk's section that matches the query best.
    anchor: the anchor of that section, such as "install" in ``guide.md#install``; "" if it has no
        anchor, for example in a notebook.
    score: the relevance score; higher is better. It is based on BM25 or, in a search by words and
        vectors, on both rankings.
    pages: the 1-based first and last page of the chunk; ``None`` for a document without pages.
    part: true if the chunk exceeds the remaining budget, so that ``text`` is only a part of it:
        whole sections, blocks or sentences around the best match.
    also: the places of the hit's copies, which are not separate hits. A copy has equal text, or the
        same heading path and first sentence in another version of the document. The source of this
        version differs in one part such as "v1", "2.0" or "latest".
    stale: true if the document differed from its file at the last call of :meth:`Store.stale`.
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
    stale: bool = False

    @property
    def place(self) -> str:
        """The source with the first and the last line, as ``source:first-last``."""
        return f"{self.source}:{self.start_line}-{self.end_line}"


class Span(NamedTuple):
    """A span of a document, in character indices; the end is exclusive."""

    start_index: int
    end_index: int


@dataclass(frozen=True)
class Parts:
    """Finds the best parts of chunks for a query.

    ``counter`` counts their tokens; ``config`` is the configuration for reading documents.
    """

    query: Query
    config: ChunkConfig
    counter: TokenCounter

    def best(self, chunk: Chunk, inside: Span, room: int) -> Passage | None:
        """Return the best part of a chunk, with at most ``room`` tokens.

        The part is the section, within the span ``inside``, that matches the query best. If the
        section does not fit, the part is its block or sentence that matches best, with as many
        adjacent ones as fit. Returns ``None`` if no matching part fits.
        """
        begin, end = best_section(self.query, chunk, inside)
        text = chunk_text(chunk, begin, end)
        config = replace(self.config, max_tokens=room, overlap=0, context="none")
        language = "text" if chunk.metadata.get("cell_type") in ("code", "raw") else None
        structure = structure_of(text, config, chunk.source, language)
        costs = Costs(structure, config, self.counter)
        finder = UnitFinder(structure, costs, Divider(structure, costs, config))
        points = finder.between(0, len(text)).points[1:-1]
        cuts = (each.pos for each in points if each.score >= 0 and each.kind not in _DIVIDING)
        edges = [0, *cuts, len(text)]

        def tokens(start: int, end: int) -> int:
            return self.counter.count(text[slice(*trim_span(text, start, end))])

        units = [unit for unit in pairwise(edges) if tokens(*unit) <= room]
        at = most_relevant(self.query, [("", text[slice(*unit)]) for unit in units])
        # If only a title above the chunk matches, the part is its beginning.
        unit = (edges[0], edges[1]) if at is None else units[at]
        if tokens(*unit) > room:
            return None
        first, last = trim_span(text, *grown(edges, *unit, tokens, room))
        return Passage.of(chunk, (begin + first, begin + last), tokens(first, last))


@dataclass(frozen=True)
class Selection:
    """The chunks that a search has selected, without overlaps and without repeated text.

    find_parts: returns the finder of parts for chunks that do not fit, or ``None`` to skip them.
    outline_of: returns the outline of a document in which chunks are expanded, or ``None``.
    most: the maximum size of an expanded chunk, in tokens; ``None`` if chunks are not expanded.
    taken: by the place of each chunk, best first: the chunk, the passage to return for it, and
        whether the passage is only a part of the chunk.
    """

    find_parts: Callable[[], Parts | None]
    outline_of: Callable[[str], Outline | None]
    most: int | None
    taken: dict[tuple[str | None, int], tuple[Candidate, Passage, bool]] = field(
        default_factory=dict
    )

    def take(self, candidate: Candidate, room: int) -> int | None:
        """Select a chunk, or the best part of it, if it fits in ``room`` tokens.

        Returns the number of tokens that the chunk adds, or ``None`` if it was not selected. A
        chunk is not selected if other passages already contain all of its text.
        """
        chunk = candidate.chunk
        own = Span(chunk.start_index + chunk.overlap, chunk.end_index)
        free, gap = self._free(chunk.source, own)
        if room < 1 or free.start_index >= free.end_index:
            return None
        passage = Passage.of(chunk, own, candidate.own_tokens)
        if self.most is not None and (outline := self.outline_of(chunk.source or "")):
            passage = outline.expand(free, min(self.most, room), inside=gap)
        found: Passage | None = passage
        part = passage.tokens > room
        if part:
            parts = self.find_parts()
            found = parts.best(chunk, free, room) if parts else None
        if found is None or not found.text:
            return None
        self.taken[candidate.place] = candidate, found, part
        return found.tokens

    def _free(self, source: str | None, own: Span) -> tuple[Span, Span]:
        """Return the span of a chunk's own text, and of the document around it, without passages."""
        others = [each for _, each, _ in self.taken.values() if each.source == source]
        ends = (each.end_index for each in others if each.start_index <= own.start_index)
        starts = (each.start_index for each in others if each.start_index > own.start_index)
        gap = Span(max(ends, default=0), min(starts, default=maxsize))
        return Span(max(own.start_index, gap.start_index), min(own.end_index, gap.end_index)), gap


def take_best(
    candidates: Iterable[Candidate], budget: int, limit: int | None, selection: Selection
) -> dict[str, list[Place]]:
    """Select the best chunks or parts that fit the budget, at most ``limit`` of them.

    Copies of a selected chunk are skipped. Returns a dict that maps the selected chunk's id to the
    places of its copies among the best chunks.
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
            copy = candidate.chunk
            also[first].append(Place(copy.source or "", copy.start_line, copy.end_line, copy.id))
            continue
        more = None if full else selection.take(candidate, budget - used)
        if more is not None:
            taken |= dict.fromkeys(keys, candidate.chunk.id)
            used += more
    return also


def hits(
    selection: Selection, query: Query, also: Mapping[str, Sequence[Place]], stale: Collection[str]
) -> Iterator[Hit]:
    """Yield a hit for each selected chunk.

    ``also`` maps each chunk's id to the places of its copies. ``stale`` contains the documents that
    are out of date.
    """
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
            stale=document_of(chunk.source) in stale,
        )
