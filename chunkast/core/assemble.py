"""From the packer's pieces to chunks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from chunkast.core.document import Document
from chunkast.core.embed import Context
from chunkast.core.layout import Layout
from chunkast.core.overlap import Overlap
from chunkast.core.piece import Piece
from chunkast.core.replaced import Replaced
from chunkast.identity import Location, Parts
from chunkast.model import Analysis, Annotation, Chunk, mutable_type
from chunkast.text.pages import pages_of_text
from chunkast.text.source_map import SourceMap
from chunkast.text.spans import trim_start

__all__ = ("Origin", "assemble")

_MutableChunk: Final = mutable_type(Chunk)
_bare_chunk = _MutableChunk.__new__


@dataclass(frozen=True, slots=True)
class Origin:
    """What chunks say of the document that they come from, beside its text."""

    source: str | None
    front_matter: str | Mapping[str, Any]
    annotations: Sequence[Annotation]
    pages: Sequence[tuple[int, int]] = ()

    @classmethod
    def of(cls, analysis: Analysis, source: str | None) -> Origin:
        """The origin of an analysis: its front matter as data where that was asked for."""
        data = analysis.front_matter_data
        front_matter = analysis.front_matter if data is None else data
        return cls(source, front_matter, analysis.annotations, analysis.pages)

    def metadata(self, start: int, end: int) -> dict[str, Any]:
        """The document's front matter, and what is annotated of ``[start, end)``."""
        found: dict[str, Any] = {"front_matter": self.front_matter} if self.front_matter else {}
        if self.annotations:
            first = bisect_left(self.annotations, start, key=_start)
            for mark in self.annotations[first : bisect_left(self.annotations, end, key=_start)]:
                found.setdefault(mark.key, []).append(mark.value)
        return found


def _start(mark: Annotation) -> int:
    return mark.start


def assemble(
    document: Document,
    layout: Layout,
    context: Context,
    pieces: Iterable[Piece],
    *,
    overlap: Overlap,
    replaced: Replaced,
    origin: Origin,
    parts: Parts,
) -> Iterator[Chunk]:
    """The chunks of the pieces that are more than white space; ``parts`` goes on counting."""
    location = Location.of(origin.source or "")
    source_map = SourceMap(document.text)
    budget = document.config.budget
    number = 0
    previous: Piece | None = None
    for piece in pieces:
        own, end = layout.span(piece.first, piece.last)
        if own >= end:
            continue
        if previous is None or context.is_heading(layout.pos[piece.first]):
            start, tokens = own, layout.count(piece.first, piece.last)
        else:
            room = budget - layout.context(piece.first)
            start, tokens = overlap.start(previous, piece, room)
        text = document.text[start:end]
        body = replaced.body(start, end) if replaced else None
        if body is None or body[1] > budget >= tokens:
            body = text, tokens
        before, after, embed_tokens = context.around(
            *body, start, own, layout.pos[piece.last], verbatim=body[0] is text
        )
        headings = context.path(own)
        place = location.at(headings)
        part = parts[place.key]
        parts[place.key] += 1
        # The hashes are not set: they are computed when they are read.
        chunk: Any = _bare_chunk(_MutableChunk)
        chunk.id = place.id(part)
        chunk.index = number
        chunk.source = origin.source
        chunk.text = text
        chunk.start_index = start
        chunk.end_index = end
        chunk.start_byte = source_map.byte(start)
        chunk.end_byte = source_map.byte(end)
        chunk.start_line = source_map.line(start)
        chunk.end_line = source_map.line(end - 1)
        chunk.token_count = tokens
        chunk.overlap = own - start
        chunk.headings = headings
        # Blank lines after dropped front matter belong to its leaf.
        first = trim_start(text, 0, len(text)) if start == document.dropped else 0
        chunk.kinds = document.leaves.kinds(start + first, end)
        chunk.embed_text = before + body[0] + after
        chunk.embed_token_count = embed_tokens
        chunk.oversize = tokens > budget
        chunk.metadata = origin.metadata(own, end)
        chunk.pages = pages_of_text(origin.pages, text, start)
        chunk.__class__ = Chunk
        yield chunk
        number += 1
        previous = piece
        # The next chunk may repeat the end of this one, and nothing before it.
        document.index.release(layout.pos[piece.first])
