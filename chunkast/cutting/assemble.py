"""Build chunks from the pieces of a document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, Final

from chunkast.analysis import Structure, anchors_by_run
from chunkast.cutting.costs import JOINED, Costs
from chunkast.cutting.overlap import Overlap
from chunkast.cutting.units import Piece
from chunkast.identity import PartCounts, next_chunk_id
from chunkast.model import Chunk, mutable_type
from chunkast.text.pages import pages_of_text
from chunkast.text.source_map import SourceMap
from chunkast.text.spans import trim_start

__all__ = ("assemble",)

_START = attrgetter("start")
_MutableChunk: Final = mutable_type(Chunk)
_new = _MutableChunk.__new__


def assemble(
    structure: Structure,
    costs: Costs,
    overlap: Overlap,
    pieces: Iterable[Piece],
    *,
    source: str | None,
    parts: PartCounts,
) -> Iterator[Chunk]:
    """Yield a chunk for each piece that has text.

    ``parts`` counts the chunks under each heading path, and is updated.
    """
    source_map = SourceMap(structure.text)
    headings, analysis = structure.headings, structure.analysis
    anchors = anchors_by_run(headings)
    number = 0
    previous: Piece | None = None
    for piece in pieces:
        own, end = costs.span(*piece)
        if own >= end:
            continue
        start, tokens = overlap.start(previous, piece)
        text = structure.text[start:end]
        embed_text, embed_tokens = _embedded(costs, piece, (start, own, end), tokens)
        path = headings.path(headings.number_at(own))
        sections = headings.sections(own, end)
        # Blank lines after dropped front matter belong to its leaf.
        after = costs.resumed[headings.page_at(own).number]
        blank = trim_start(text, 0, len(text)) if start == after else 0
        # The frozen class's own constructor would take several times as long.
        chunk: Any = _new(_MutableChunk)
        chunk.id = next_chunk_id(source or "", path, parts)
        chunk.index = number
        chunk.source = source
        chunk.text = text
        chunk.start_index = start
        chunk.end_index = end
        chunk.start_byte = source_map.byte(start)
        chunk.end_byte = source_map.byte(end)
        chunk.start_line = source_map.line(start)
        chunk.end_line = source_map.line(end - 1)
        chunk.token_count = tokens
        chunk.overlap = own - start
        chunk.headings = path
        chunk.kinds = structure.kinds(start + blank, end)
        chunk.embed_text = embed_text
        chunk.embed_token_count = embed_tokens
        chunk.oversize = tokens > costs.budget
        chunk.metadata = _metadata(structure, own, end)
        chunk.pages = pages_of_text(analysis.pages, text, start)
        chunk.sections = tuple([path for _, path, _ in sections])
        chunk.section_starts = tuple([begin for begin, _, _ in sections])
        chunk.section_anchors = tuple([anchors[run] for _, _, run in sections])
        chunk.__class__ = Chunk
        yield chunk
        number += 1
        previous = piece
        # The next chunk may repeat the end of this one, and nothing before it.
        costs.release(piece.start)


def _embedded(
    costs: Costs, piece: Piece, place: tuple[int, int, int], tokens: int
) -> tuple[str, int]:
    """Return the text to embed and its token count.

    ``place`` has the start of the chunk, the start of its own text after the overlap, and its end.
    The context is as long as the budget allows.
    """
    start, own, end = place
    body, verbatim = costs.text[start:end], True
    embedded = costs.embedded(start, end)
    if embedded is not None and not embedded[1] > costs.budget >= tokens:
        (body, tokens), verbatim = embedded, False
    context = costs.context
    inside, suffix = context.frame_at(start) is not None, context.suffix(piece.end)
    # Either both fence lines are added or neither is.
    for closing in (suffix,) if inside else dict.fromkeys((suffix, "")):
        for before in context.before(start, own):
            if not before and (inside or not closing):
                break  # the text alone has been counted
            if tokens + costs.count(before) > costs.budget + JOINED:
                continue
            if closing or not verbatim:
                count = costs.count_once(before + body + closing)
            else:
                count = costs.count_after(before, start, end, tokens)
            if count <= costs.budget:
                return before + body + closing, count
    return body, tokens


def _metadata(structure: Structure, start: int, end: int) -> dict[str, Any]:
    """Return the metadata of a span: the front matter of its page, and annotations."""
    front_matter = structure.front_matter_at(start)
    metadata: dict[str, Any] = {"front_matter": front_matter} if front_matter else {}
    marks = structure.analysis.annotations
    if marks:
        first = bisect_left(marks, start, key=_START)
        for mark in marks[first : bisect_left(marks, end, key=_START)]:
            metadata.setdefault(mark.key, []).append(mark.value)
    return metadata
