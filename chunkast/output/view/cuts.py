"""Find the break point at which each chunk begins."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from chunkast.model import Analysis, BreakPoint, Chunk

__all__ = ("Cut", "find_cuts")


@dataclass(frozen=True, slots=True)
class Cut:
    """The start of a chunk after its overlap, and the break point that was chosen for it.

    pos: the character index of the start.
    kind: the kind of the break point, or "inside X" for a cut within a block of kind X.
    point: the break point, or ``None`` for a cut within a block.
    """

    pos: int
    kind: str
    point: BreakPoint | None = None


def find_cuts(analysis: Analysis, chunks: Sequence[Chunk]) -> list[Cut]:
    """Return the cut before each of a document's ``chunks`` except the first."""
    points = analysis.break_points
    positions = [point.pos for point in points]
    leaves = list(analysis.blocks.leaves())
    starts = [leaf.start for leaf in leaves]
    cuts = []
    for before, chunk in pairwise(chunks):
        pos = chunk.start_index + chunk.overlap
        # A chunk usually begins at a break point. Otherwise, the chosen point may be in the white
        # space that was trimmed before the chunk.
        gap = points[bisect_left(positions, before.end_index) : bisect_right(positions, pos)]
        point = max(gap, key=lambda point: (point.pos == pos, point.score), default=None)
        kind = point.kind if point else f"inside {leaves[bisect_right(starts, pos) - 1].kind}"
        cuts.append(Cut(pos, kind, point))
    return cuts
