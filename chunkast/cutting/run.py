"""The steps from the analysis of a document to its chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from chunkast.analysis.leaves import Leaves
from chunkast.config import ChunkConfig
from chunkast.cutting.assemble import Cut, assemble
from chunkast.cutting.context import Context
from chunkast.cutting.divide import Division, divide
from chunkast.cutting.document import Document
from chunkast.cutting.frames import Frames
from chunkast.cutting.measure import Measure
from chunkast.cutting.overlap import Overlap
from chunkast.cutting.pack import pack
from chunkast.cutting.replaced import Replaced
from chunkast.cutting.section_units import sections_of
from chunkast.cutting.units import Units, cut_points, units_of
from chunkast.errors import warn
from chunkast.identity import PartCounts
from chunkast.model import Analysis, Block, Chunk
from chunkast.text.opaque import OpaqueRun
from chunkast.tokens import TokenCounter, index_of

__all__ = ("chunks_of",)

# Replaces the tree once its leaves are known.
_NO_TREE: Final = Block("document", 0, 0)


def chunks_of(
    analysis: Analysis,
    config: ChunkConfig,
    counter: TokenCounter,
    source: str | None,
    parts: PartCounts,
) -> Iterator[Chunk]:
    """Return an iterator over the chunks of an analysed document, in order.

    All pieces have been packed when this function returns. ``parts`` counts the chunks at each
    location across documents.
    """
    leaves = Leaves(analysis.text, analysis.blocks)
    # The tree takes more memory than everything after it, which only needs the leaves.
    analysis = replace(analysis, blocks=_NO_TREE)
    cut = _cut(analysis, leaves, config, counter)
    if counter.is_estimated and not _estimates_hold(cut):
        cut = _cut(analysis, leaves, config, replace(counter, trusted=False))
    if cut.split:
        _warn(cut.split, source)
    return assemble(cut, source, parts)


def _cut(analysis: Analysis, leaves: Leaves, config: ChunkConfig, counter: TokenCounter) -> Cut:
    """Cut an analysed document into pieces."""
    index = index_of(analysis.text, counter, leaves.starts)
    document = Document(analysis, leaves, index, counter, config)
    units, division = _units(document)
    context = Context(document, Frames(division.frames, config.budget // 2, counter.count))
    replaced = Replaced(document, [*division.replaced, *analysis.replacements])
    measure = Measure(document, units, context, replaced)
    sections = sections_of(document, units)
    overlap = Overlap(document, measure, sections)
    pieces = pack(document, measure, sections, overlap)
    return Cut(document, measure, context, overlap, pieces, division.split)


def _units(document: Document) -> tuple[Units, Division]:
    """Return the units of a document, and the division of the blocks that exceed the budget."""
    points = cut_points(document, document.analysis.break_points)
    division = divide(document, points)
    points = sorted([*points, *division.points], key=lambda point: point.pos)
    return units_of(document, points), division


def _estimates_hold(cut: Cut) -> bool:
    """Return whether the estimated token counts of all pieces are as accurate as assumed."""
    near = cut.document.index.is_near
    return all(near(*cut.measure.span(*piece)) for piece in cut.pieces)


def _warn(runs: Sequence[OpaqueRun], source: str | None) -> None:
    """Warn that opaque data was split across chunks."""
    largest = max(runs, key=lambda run: run.end - run.start).placeholder
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    warn(
        f"{source or 'a document'}: opaque data was split across chunks: {largest}{more}; "
        "opaque='keep' (--opaque keep) keeps it whole"
    )
