"""Find the anchor of each chunk's section, for links such as ``guide.md#install``."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter

from chunkast.analysis import structure_of
from chunkast.config import ChunkConfig
from chunkast.model import Chunk
from chunkast.reading import anchors_of
from chunkast.stores.target import clean

__all__ = ("anchors_in",)


def anchors_in(source: str, chunks: Sequence[Chunk]) -> dict[str, str]:
    """Return the anchor of the section in which each chunk of a document begins, by chunk id.

    A chunk before the first heading, in a cell of a notebook, or below a heading that only the
    options of its chunker find has no anchor.
    """
    own = [chunk for chunk in chunks if clean(chunk.source) == source]
    analysis = structure_of(_text(own), ChunkConfig(), source).analysis
    paths = {heading.start: heading.path for heading in analysis.headings}
    # The sections with the same path, in order.
    sections: defaultdict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
    for start, anchor in anchors_of(analysis):
        sections[paths[start]].append((start, anchor))
    found = {}
    for chunk in own:
        if same := sections.get(chunk.headings):
            start = chunk.start_index + chunk.overlap
            # A chunk may begin before its heading, with the line that opens the block around it.
            found[chunk.id] = same[max(bisect_right(same, start, key=itemgetter(0)) - 1, 0)][1]
    return found


def _text(chunks: Iterable[Chunk]) -> str:
    """Return the text of the chunks at their positions, with line feeds between them."""
    parts, end = [], 0
    for chunk in chunks:
        own = chunk.text[chunk.overlap :]
        parts += ["\n" * (chunk.end_index - len(own) - end), own]
        end = chunk.end_index
    return "".join(parts)
