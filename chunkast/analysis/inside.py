"""Read the text inside a leaf: its sentences, and the spans in it that should not be cut.

Nothing here depends on the budget. Spans may be nested; the cutter keeps the outermost that fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chunkast.markdown.dialects import item_marks
from chunkast.markdown.dialects.text_tables import text_rows
from chunkast.markdown.html_tables import html_tables
from chunkast.markdown.inline import MAX_NESTED
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.pipe_tables import pipe_table
from chunkast.markdown.prose import Prose
from chunkast.markdown.tables import Tables
from chunkast.model import Analysis, Block
from chunkast.text.graphemes import joined_spans
from chunkast.text.sentences import has_sentences
from chunkast.text.spans import InlineSpan
from chunkast.text.turns import line_marks

__all__ = ("InlineText", "Inside", "Insides")

# Shape of a leaf -> the reader of its tables.
_TABLES: Final = {"table": pipe_table, "html-table": html_tables, "text-table": text_rows}


@dataclass(frozen=True, slots=True)
class InlineText:
    """A span of prose: the sorted starts of its sentences, and its inline constructs.

    ``marks`` are patterns of lines that begin an item, a turn of a conversation, or a reference.
    """

    sentences: Sequence[int]
    marks: Sequence[re.Pattern[str]]
    _prose: Prose
    _spans: Sequence[InlineSpan]

    def outermost(self, fits: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
        """Yield the spans of inline constructs, such as links: the outermost ones that fit."""
        source = self._prose.source
        spans = [(span, 0) for span in reversed(self._spans)]
        while spans:
            span, depth = spans.pop()
            start, end = source(span.start), source(span.end - 1) + 1
            if fits(start, end):
                yield start, end
            elif depth < MAX_NESTED:
                spans += ((inner, depth + 1) for inner in reversed(span.inside))


@dataclass(frozen=True, slots=True)
class Inside:
    """The text and tables inside a leaf.

    clusters: the spans of grapheme clusters with several characters.
    text: the leaf's prose, or None for a leaf that is not prose.
    tables: the rows and cells of the leaf's tables.
    """

    clusters: Sequence[tuple[int, int]]
    text: InlineText | None
    tables: Tables


class Insides:
    """Reads the text and tables inside the leaves of one document."""

    def __init__(self, analysis: Analysis, language: str) -> None:
        self._analysis = analysis
        self._parsed = analysis.masked or analysis.text
        self._language = language
        self._items = item_marks(analysis.extensions)

    def of(self, leaf: Block, end: int) -> Inside:
        """Return the ``Inside`` of a leaf, with clusters up to its end or, if later, ``end``."""
        shape = CONSTRUCTS[leaf.kind].shape
        return Inside(
            self.clusters(leaf.start, max(leaf.end, end)),
            self.text(leaf) if shape == "prose" else None,
            _TABLES[shape](self._parsed, leaf.start, leaf.end) if shape in _TABLES else Tables(),
        )

    def text(self, leaf: Block) -> InlineText:
        """Return the sentences and inline constructs of a leaf, read as prose."""
        return self._read(Prose(self._parsed, leaf))

    def several_sentences(self, leaf: Block) -> InlineText | None:
        """Return the result of :meth:`text`, or None for a leaf with a single sentence."""
        prose = Prose(self._parsed, leaf)
        several = has_sentences(prose.text, self._language) or line_marks(prose.text)
        return self._read(prose) if several else None

    def cell_text(self, start: int, end: int) -> InlineText:
        """Return the sentences and inline constructs of a table's cell."""
        return self.text(Block("paragraph", start, end))

    def clusters(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the spans of the grapheme clusters of several characters in ``[start, end)``."""
        return joined_spans(self._analysis.text, start, end)

    def _read(self, prose: Prose) -> InlineText:
        spans = prose.spans(self._analysis.references, self._analysis.extensions)
        marks = (*self._items, *line_marks(prose.text))
        sentences = list(prose.sentences(spans, self._language, marks))
        return InlineText(sentences, marks, prose, spans)
