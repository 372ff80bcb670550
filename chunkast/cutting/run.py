"""Turn the structure of a document into its chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chunkast.analysis import Structure
from chunkast.config import ChunkConfig
from chunkast.cutting.assemble import assemble
from chunkast.cutting.costs import Costs
from chunkast.cutting.divide import Divider
from chunkast.cutting.top_down import Cutter
from chunkast.cutting.units import UnitFinder
from chunkast.errors import warn
from chunkast.identity import PartCounts
from chunkast.model import Chunk
from chunkast.text.opaque import OpaqueRun
from chunkast.tokens import TokenCounter

__all__ = ("chunks_of",)


def chunks_of(
    structure: Structure,
    config: ChunkConfig,
    counter: TokenCounter,
    source: str | None,
    parts: PartCounts,
) -> Iterator[Chunk]:
    """Return an iterator over the chunks of a document, in order.

    All pieces have been cut when this function returns. ``parts`` counts the chunks under each
    heading path across documents.
    """
    costs = Costs(structure, config, counter)
    divider = Divider(structure, costs, config)
    cutter = Cutter(structure, config, costs, UnitFinder(structure, costs, divider))
    pieces = cutter.pieces()
    if costs.estimated and not all(costs.is_near(*piece) for piece in pieces):
        # An estimate was too far off.
        return chunks_of(structure, config, replace(counter, trusted=False), source, parts)
    if divider.split:
        _warn(divider.split, source)
    return assemble(structure, costs, cutter.overlap, pieces, source=source, parts=parts)


def _warn(runs: Sequence[OpaqueRun], source: str | None) -> None:
    """Warn that opaque data was split across chunks."""
    largest = max(runs, key=lambda run: run.end - run.start).placeholder
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    warn(
        f"{source or 'a document'}: opaque data was split across chunks: {largest}{more}; "
        "opaque='keep' (--opaque keep) keeps it whole"
    )
