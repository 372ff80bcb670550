"""One document's way from its analysis to its chunks, each step entered once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from chunkast.config import ChunkConfig
from chunkast.core.assemble import Origin, assemble
from chunkast.core.divide import Divider
from chunkast.core.document import Document
from chunkast.core.embed import Context
from chunkast.core.layout import Layout
from chunkast.core.leaves import Leaves
from chunkast.core.overlap import Overlap, sentences_of
from chunkast.core.packer import pack
from chunkast.core.refine import refine
from chunkast.core.replaced import Replaced
from chunkast.core.sections import sections_of
from chunkast.errors import ChunkastWarning
from chunkast.identity import Parts
from chunkast.model import Analysis, Block, Chunk
from chunkast.text.opaque import OpaqueRun
from chunkast.tokens import Counter

__all__ = ("chunks_of",)

# In place of a tree of which all that is needed was taken.
_NO_TREE: Final = Block("document", 0, 0)


def chunks_of(
    analysis: Analysis,
    config: ChunkConfig,
    counter: Counter,
    source: str | None,
    parts: Parts,
) -> Iterator[Chunk]:
    """The chunks of an analysed document, in order, made as they are asked for.

    All is packed when this returns. ``parts`` counts the chunks of each location, and goes on
    from document to document.
    """
    unpacked = analysis if counter.is_estimated else None
    leaves = Leaves(analysis.text, analysis.blocks)
    # The tree takes more memory than all that comes after it, which needs the leaves.
    analysis = replace(analysis, blocks=_NO_TREE)
    document = Document.of(analysis, leaves, config, counter)
    divider = Divider(document)
    refined = refine(document, analysis.break_points, divider, extended=analysis.extended)
    headings, front_matter, path = analysis.headings, analysis.front_matter, analysis.path
    origin = Origin.of(analysis, source)
    if divider.opaque:
        _warn(divider.opaque, source)
    replacements = (*refined.replaced, *analysis.replacements)
    replaced = Replaced(document.text, replacements, counter.count, trim=config.trim)
    # Its points are in ``refined``.
    del analysis
    context = Context(
        config,
        headings,
        refined.frames,
        front_matter,
        path=path,
        count=counter.count,
        count_after=document.index.count_after,
        adds_up=document.index.adds_up_after_line_end,
    )
    layout = Layout(
        document.text,
        document.index,
        refined.points,
        config,
        context_tokens=context.tokens,
        frame_tokens=context.frame_tokens if refined.frames else None,
        suffix_tokens=context.suffix_tokens if refined.frames else None,
        most_suffix_tokens=context.most_suffix_tokens,
        replaced=replaced,
        dropped=document.dropped,
    )
    sections = sections_of(headings, layout)
    overlap = Overlap(layout, sections, sentences_of(document, layout, divider))
    pieces = pack(
        layout,
        sections,
        overlap,
        leaves.says(document.text, layout.pos),
        lambda unit: leaves.depth(layout.pos[unit]),
    )
    near = document.index.is_near
    if unpacked and not all(near(*layout.span(piece.first, piece.last)) for piece in pieces):
        counter = replace(counter, trusted=False)
        return chunks_of(unpacked, config, counter, source, parts)
    return assemble(
        document,
        layout,
        context,
        pieces,
        overlap=overlap,
        replaced=replaced,
        origin=origin,
        parts=parts,
    )


def _warn(runs: Sequence[OpaqueRun], source: str | None) -> None:
    """Say that opaque ``runs`` were divided into chunks, and how they are not."""
    largest = max(runs, key=lambda run: run.end - run.start).placeholder
    what, whole = f"{len(runs)} runs that say nothing were divided, the largest", "each"
    if len(runs) == 1:
        what, whole = "a run that says nothing was divided,", "it"
    warnings.warn(
        f"{source or 'a document'}: {what} {largest}; opaque='keep' (--opaque keep) makes one "
        f"chunk of {whole}",
        ChunkastWarning,
        stacklevel=2,
    )
