"""Find the starts of a leaf's sentences, and the spans that must not be cut at a given budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from chunkast.analysis import InlineText, Inside, Structure
from chunkast.cutting.costs import Costs
from chunkast.cutting.headings_above import NOTHING_ABOVE, Above
from chunkast.model import Block
from chunkast.text.spans import SpanSet

__all__ = ("Blocked", "blocked_in", "sentence_cuts")


class Blocked(NamedTuple):
    """The spans of a leaf that are never cut, and the sorted starts of its sentences.

    ``spans`` has all grapheme clusters, and the links, inline code, HTML table tags and regions
    that fit the budget.
    """

    spans: SpanSet
    sentences: Sequence[int]
    inside: Inside


def blocked_in(
    structure: Structure, costs: Costs, protected: SpanSet, leaf: Block, end: int, *, above: Above
) -> Blocked:
    """Return the sentences of a leaf, and the blocked spans from its start to ``end``.

    If ``end`` is inside the leaf, the blocked spans of the whole leaf are returned.
    ``protected`` contains the regions that fit the budget. Tags and inline constructs are blocked
    only if they fit the budget together with the headings ``above``.
    """
    inside = structure.insides.of(leaf, end)
    clusters = SpanSet(inside.clusters)
    blocked = [*inside.clusters, *protected.within(leaf.start, max(leaf.end, end))]
    tables = inside.tables
    for tag in map(sorted, zip(tables.outer, tables.inner, strict=True)):
        first, last = tag
        if clusters.end(first) == first and costs.is_within(above.start(first), last):
            blocked.append((first, last))

    def fits(start: int, end: int) -> bool:
        """Return whether an inline construct fits when it is extended to whole clusters."""
        first, last = clusters.start(start), clusters.end(end)
        return not protected.crosses(first, last) and costs.is_within(above.start(first), last)

    sentences: set[int] = set()
    for text in _texts(structure, costs, leaf, inside):
        for pos in text.sentences:
            # If a sentence begins inside a region, a cut may fall at the region's edges instead.
            sentences |= {protected.start(pos), protected.end(pos)}
        blocked.extend(text.outermost(fits))
    return Blocked(SpanSet(blocked), sorted(sentences), inside)


def sentence_cuts(structure: Structure, costs: Costs, protected: SpanSet, leaf: Block) -> list[int]:
    """Return the starts of a leaf's sentences at which cuts are allowed."""
    text = structure.insides.several_sentences(leaf)
    if text is None:
        return []
    sentences = text.sentences
    if any(True for _ in protected.within(leaf.start, leaf.end)):
        blocked = blocked_in(structure, costs, protected, leaf, leaf.end, above=NOTHING_ABOVE)
        spans, sentences = blocked.spans, blocked.sentences
    else:
        # No sentence begins inside an inline construct.
        spans = SpanSet(structure.insides.clusters(leaf.start, leaf.end))
    return [pos for pos in sentences if leaf.start < pos < leaf.end and spans.end(pos) == pos]


def _texts(structure: Structure, costs: Costs, leaf: Block, inside: Inside) -> Iterator[InlineText]:
    """Yield the prose in a leaf: its own text, or the text of a table's cells that are too long."""
    if inside.text is not None:
        yield inside.text
    for row in pairwise([leaf.start, *inside.tables.rows, leaf.end]):
        if costs.is_within(*row):
            continue
        for cell in inside.tables.cells(*row):
            if not costs.is_within(cell.start, cell.end):
                yield structure.insides.cell_text(cell.text_start, cell.text_end)
