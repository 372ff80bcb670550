"""Build chunks from the packer's pieces."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chunkast.cutting.context import Context
from chunkast.cutting.document import Document
from chunkast.cutting.measure import Measure
from chunkast.cutting.overlap import Overlap
from chunkast.cutting.units import Piece
from chunkast.identity import Location, PartCounts
from chunkast.model import Analysis, Annotation, Chunk
from chunkast.text.opaque import OpaqueRun
from chunkast.text.pages import pages_of_text
from chunkast.text.source_map import SourceMap
from chunkast.text.spans import trim_start

__all__ = ("Cut", "assemble")


@dataclass(frozen=True, slots=True)
class Cut:
    """A document that was cut into pieces; ``split`` lists the opaque runs that were cut."""

    document: Document
    measure: Measure
    context: Context
    overlap: Overlap
    pieces: Sequence[Piece]
    split: Sequence[OpaqueRun]


def assemble(cut: Cut, source: str | None, parts: PartCounts) -> Iterator[Chunk]:
    """Yield a chunk for each piece that has text.

    ``parts`` counts the chunks at each location, and is updated.
    """
    document, measure = cut.document, cut.measure
    location = Location.of(source or "")
    source_map = SourceMap(document.text)
    number = 0
    previous: Piece | None = None
    for piece in cut.pieces:
        own, end = measure.span(*piece)
        if own >= end:
            continue
        start, tokens = cut.overlap.start(previous, piece, measure.room(piece.first))
        text = document.text[start:end]
        before, body, after, embed_tokens = _embedded(cut, piece, (start, own, end), tokens)
        headings, _ = document.headings.at(own)
        sections = document.headings.sections(own, end, document.title)
        place = location.at(headings)
        part = parts[place.key]
        parts[place.key] += 1
        # Blank lines after dropped front matter belong to its leaf.
        blank = trim_start(text, 0, len(text)) if start == document.dropped else 0
        yield Chunk(
            id=place.id(part),
            index=number,
            source=source,
            text=text,
            start_index=start,
            end_index=end,
            start_byte=source_map.byte(start),
            end_byte=source_map.byte(end),
            start_line=source_map.line(start),
            end_line=source_map.line(end - 1),
            token_count=tokens,
            overlap=own - start,
            headings=headings,
            kinds=document.leaves.kinds(start + blank, end),
            embed_text=before + body + after,
            embed_token_count=embed_tokens,
            oversize=tokens > measure.budget,
            metadata=_metadata(document.analysis, own, end),
            pages=pages_of_text(document.analysis.pages, text, start),
            sections=tuple(path for _, path in sections),
            section_starts=tuple(begin for begin, _ in sections),
        )
        number += 1
        previous = piece
        # The next chunk may repeat the end of this one, and nothing before it.
        document.index.release(measure.units.pos[piece.first])


def _embedded(
    cut: Cut, piece: Piece, place: tuple[int, int, int], tokens: int
) -> tuple[str, str, str, int]:
    """Return the context, body and suffix of ``embed_text``, and their total token count.

    ``place`` has the start of the chunk, the start of its own text after the overlap, and its end.
    """
    measure, (start, own, end) = cut.measure, place
    text = cut.document.text[start:end]
    replaced = measure.replaced.body(start, end) if measure.replaced else None
    if replaced is None or replaced[1] > measure.budget >= tokens:
        replaced = text, tokens
    before, after, embed_tokens = cut.context.around(
        *replaced, start, own, measure.units.pos[piece.last], verbatim=replaced[0] is text
    )
    return before, replaced[0], after, embed_tokens


def _metadata(analysis: Analysis, start: int, end: int) -> dict[str, Any]:
    """Return the metadata of a span: front matter (as data if it was parsed) and annotations."""
    data = analysis.front_matter_data
    front_matter = analysis.front_matter if data is None else data
    found: dict[str, Any] = {"front_matter": front_matter} if front_matter else {}
    marks = analysis.annotations
    if marks:
        first = bisect_left(marks, start, key=_start)
        for mark in marks[first : bisect_left(marks, end, key=_start)]:
            found.setdefault(mark.key, []).append(mark.value)
    return found


def _start(mark: Annotation) -> int:
    return mark.start
