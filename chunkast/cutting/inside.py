"""The sentences inside a leaf, and the spans inside it that are never cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from chunkast.cutting.document import Document
from chunkast.markdown.dialects import item_marks
from chunkast.markdown.html_rows import HtmlTables, html_tables
from chunkast.markdown.inline import MAX_NESTED
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.pipe_tables import cell_content, cell_spans
from chunkast.markdown.prose import Prose
from chunkast.model import Block
from chunkast.text.graphemes import joined_spans
from chunkast.text.sentences import sentence_starts
from chunkast.text.source_map import line_starts
from chunkast.text.spans import InlineSpan, SpanSet

__all__ = ("Inside", "inside_of", "sentences_inside")


@dataclass(frozen=True, slots=True)
class Inside:
    """The spans of a leaf that are never cut, and the sorted starts of its sentences.

    ``blocked`` has all grapheme clusters, and the links, inline code and regions that fit the
    budget.
    """

    blocked: SpanSet
    sentences: Sequence[int]
    tables: HtmlTables = field(default_factory=HtmlTables)


def inside_of(document: Document, leaf: Block, end: int) -> Inside:
    """Return the blocked spans and sentences of a leaf and of the text after it, up to ``end``."""
    last = max(leaf.end, end)
    clusters = joined_spans(document.text, leaf.start, last)
    whole = SpanSet(clusters)
    protected = document.protected
    blocked = [*clusters, *protected.within(leaf.start, last)]
    tables = HtmlTables()
    if CONSTRUCTS[leaf.kind].shape == "html-table":
        tables = html_tables(document.parsed, leaf.start, leaf.end)
        tags = map(sorted, zip(tables.outer, tables.inner, strict=True))
        blocked += (
            (start, end)
            for start, end in tags
            if whole.end(start) == start and document.fits(start, end)
        )
    items = item_marks(document.analysis.extensions)
    sentences: set[int] = set()
    for prose in _prose_of(document, leaf, tables):
        spans = prose.spans(document.analysis.references, document.analysis.extensions)
        for pos in prose.sentences(spans, document.language, items):
            # If a sentence begins inside a region, a cut may fall at the region's edges instead.
            sentences |= {protected.start(pos), protected.end(pos)}
        # Each span is freed once it is used: there may be one for every two characters.
        while spans:
            blocked.extend(_whole_spans(document, prose, spans.pop(), whole))
    return Inside(SpanSet(blocked), sorted(sentences), tables)


def sentences_inside(document: Document, leaf: Block) -> list[int]:
    """Return the positions between sentences of a prose leaf at which cuts are allowed."""
    if not sentence_starts(Prose(document.parsed, leaf).text, language=document.language):
        return []
    inside = inside_of(document, leaf, leaf.end)
    return [
        pos
        for pos in inside.sentences
        if leaf.start < pos < leaf.end and inside.blocked.end(pos) == pos
    ]


def _prose_of(document: Document, leaf: Block, tables: HtmlTables) -> Iterator[Prose]:
    """Yield the prose of a leaf: its text, or a table's cells that are too long."""
    parsed, shape = document.parsed, CONSTRUCTS[leaf.kind].shape
    if shape == "prose":
        yield Prose(parsed, leaf)
    elif shape == "html-table":
        for cell in pairwise(sorted([leaf.start, *tables.rows, *tables.cells, leaf.end])):
            if not document.fits(*cell):
                yield Prose(parsed, Block("paragraph", *cell))
    elif shape == "table":
        for row in pairwise(line_starts(parsed, leaf.start, leaf.end)):
            if document.fits(*row):
                continue
            for cell in cell_spans(parsed, *row):
                if not document.fits(*cell):
                    yield Prose(parsed, Block("paragraph", *cell_content(parsed, *cell)))


def _whole_spans(
    document: Document, prose: Prose, span: InlineSpan, clusters: SpanSet, depth: int = 0
) -> Iterator[tuple[int, int]]:
    """Yield an inline span, as source positions, if it fits, or else the spans inside it."""
    # The span is extended to whole grapheme clusters.
    first = clusters.start(prose.source(span.start))
    last = clusters.end(prose.source(span.end - 1) + 1)
    if not document.protected.crosses(first, last) and document.fits(first, last):
        yield first, last
    elif depth < MAX_NESTED:
        for inner in span.inside:
            yield from _whole_spans(document, prose, inner, clusters, depth + 1)
