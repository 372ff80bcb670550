"""Finds the passage of a chunk that fits a token budget, around its best match for a query."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, NamedTuple

from chunkast.analysis import Structure
from chunkast.config import ChunkConfig
from chunkast.cutting.costs import Costs
from chunkast.cutting.divide import Divider
from chunkast.cutting.units import Bodies
from chunkast.index.ranking import best_section, chunk_text, relevance
from chunkast.model import Chunk
from chunkast.reading import Passage
from chunkast.reading.passages import grown
from chunkast.text.source_map import SourceMap
from chunkast.text.spans import trim_span
from chunkast.tokens import TokenCounter

__all__ = ("Parts", "Span", "passage_of")

# The kinds of break points that divide a sentence or a row.
_DIVIDING: Final = frozenset({"word", "grapheme", "cell"})


class Span(NamedTuple):
    """A span of a document, in character indices; the end is exclusive."""

    start_index: int
    end_index: int


@dataclass(frozen=True)
class Parts:
    """The best parts of chunks for a query, counted with ``counter``.

    ``structure_of`` returns the structure of a text that contains a chunk, and the start of this
    text in the document. ``config`` has the options that determine how documents are read.
    """

    query: str
    structure_of: Callable[[Chunk], tuple[Structure, int]]
    config: ChunkConfig
    counter: TokenCounter

    def best(self, chunk: Chunk, inside: Span, room: int) -> Passage | None:
        """Return the best part of a chunk that has at most ``room`` tokens.

        The part lies in the span ``inside`` of the chunk. It is the section that matches the query
        best. If this section does not fit, the part is its block or sentence that matches best,
        with as many neighbouring ones as fit. Returns ``None`` if none that matches fits.
        """

        def tokens(start: int, end: int) -> int:
            return self.counter.count(chunk_text(chunk, *_trimmed(chunk, start, end)))

        edges = self._edges(chunk, inside, room)
        section = best_section(self.query, chunk, inside)
        # A heading without text of its own stays with the text below it.
        first = max(bisect_right(edges, section[0]) - 1, 0)
        edges = edges[first : max(bisect_left(edges, section[1]), first + 1) + 1]
        start, end = edges[0], edges[-1]
        if tokens(start, end) > room:
            units = list(pairwise(edges))
            scores = relevance(self.query, (("", chunk_text(chunk, *unit)) for unit in units))
            # If only a title above the chunk matches, the part is its beginning.
            matching = [at for at, score in enumerate(scores) if score > 0] or [0]
            matching.sort(key=lambda at: -scores[at])
            unit = next((units[at] for at in matching if tokens(*units[at]) <= room), None)
            if unit is None:
                return None
            start, end = grown(edges, *unit, tokens, room)
        span = _trimmed(chunk, start, end)
        return passage_of(chunk, span, tokens(*span)) if span[0] < span[1] else None

    def _edges(self, chunk: Chunk, span: Span, room: int) -> list[int]:
        """Return the sorted positions that separate the blocks or sentences in a span."""
        structure, offset = self.structure_of(chunk)
        config = replace(self.config, max_tokens=room, context="none", overlap=0)
        costs = Costs(structure, config, self.counter)
        bodies = Bodies(structure, costs, Divider(structure, costs, config))
        start, end = span[0] - offset, span[1] - offset
        points = bodies.between(start, end).points[1:-1]
        cuts = (each.pos for each in points if each.score >= 0 and each.kind not in _DIVIDING)
        return [span[0], *(pos + offset for pos in cuts), span[1]]


def passage_of(chunk: Chunk, span: tuple[int, int], tokens: int) -> Passage:
    """Return a span of a chunk as a passage with this token count."""
    start, end = span
    places = SourceMap(chunk.text)
    first = chunk.start_line - 1
    return Passage(
        text=chunk_text(chunk, start, end),
        source=chunk.source,
        start_index=start,
        end_index=end,
        start_line=first + places.line(start - chunk.start_index),
        end_line=first + places.line(end - chunk.start_index - 1),
        tokens=tokens,
    )


def _trimmed(chunk: Chunk, start: int, end: int) -> Span:
    """Return a span of a chunk without leading blank lines and trailing white space."""
    offset = chunk.start_index
    first, last = trim_span(chunk.text, start - offset, end - offset)
    return Span(offset + first, offset + last)
