"""The units that chunks are packed from, and the positions between them.

Unit ``i`` is ``text[pos[i]:pos[i + 1]]``: a leaf, a protected region, or a part of a block over
budget. ``(i, j)`` means the units from ``i`` up to, but not including, ``j``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from chunkast.analysis.points import merge_break_points
from chunkast.cutting.document import Document
from chunkast.cutting.inside import inside_of
from chunkast.markdown.kinds import kinds_where
from chunkast.model import Block, BreakPoint
from chunkast.text.source_map import make_array
from chunkast.text.spans import SpanSet
from chunkast.text.white_space import is_blank

__all__ = ("Piece", "Units", "cut_points", "units_of")

# Headings and front matter stay with the text after them.
_WITHOUT_TEXT: Final = kinds_where("heads") | {"front-matter"}


class Piece(NamedTuple):
    """The range of units in one chunk; ``last`` is the unit after the range."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Units:
    """Positions where a cut may fall, each with the score and kind of its break point.

    The first and last positions are the start and end of the text to cut. ``depth`` has the number
    of containers that a cut at each position would divide. ``texts`` has the number of units before
    each position that contain more than headings and front matter.
    """

    pos: Sequence[int]
    score: Sequence[float]
    kind: Sequence[str]
    depth: Sequence[int]
    texts: Sequence[int]

    def __len__(self) -> int:
        return len(self.pos) - 1

    def at(self, pos: int) -> int:
        """Return the first unit that begins at or after ``pos``."""
        return bisect_left(self.pos, pos)

    def has_text(self, i: int, j: int) -> bool:
        """Return whether the units ``(i, j)`` contain more than headings and front matter."""
        return self.texts[j] > self.texts[i]


def units_of(document: Document, points: Sequence[BreakPoint]) -> Units:
    """Return the units between the sorted ``points``."""
    size = len(document.text)
    places = [point.pos for point in points]
    inner = points[bisect_right(places, document.dropped) : bisect_left(places, size)]
    pos = make_array([document.dropped, *(point.pos for point in inner), size], size)
    depth, has_text = bytearray(), bytearray()
    for (start, end), (leaf, shared) in zip(
        pairwise(pos), document.leaves.beginning_at(pos[:-1]), strict=True
    ):
        depth.append(shared)
        has_text.append(_has_text(document.text, leaf, start, end))
    return Units(
        pos,
        [0.0, *(point.score for point in inner), 0.0],
        ["", *(point.kind for point in inner), ""],
        bytes([*depth, 0]),
        make_array(accumulate(has_text, initial=0), size),
    )


def _has_text(text: str, leaf: Block | None, start: int, end: int) -> bool:
    if leaf is None or leaf.kind in _WITHOUT_TEXT:
        return not is_blank(text[leaf.end if leaf else start : end])
    return True


def cut_points(document: Document, points: Sequence[BreakPoint]) -> list[BreakPoint]:
    """Return the sorted break ``points`` that are not inside a protected region that fits."""
    found = _outside(points, document.protected)
    starts = document.leaves.starts
    if starts and starts[0]:
        # Blank lines before the first block are a unit of their own.
        found.insert(0, BreakPoint(starts[0], 0.0, "paragraph"))
    if document.analysis.extended:
        found = merge_break_points(found, _region_edges(document))
        found = list(_outside_inline(document, found))
    return found


def _outside(points: Sequence[BreakPoint], protected: SpanSet) -> list[BreakPoint]:
    """Return the sorted ``points`` that are not strictly inside a protected span."""
    positions = [point.pos for point in points]
    kept: list[BreakPoint] = []
    at = 0
    for start, end in protected:
        first = bisect_right(positions, start, at)
        last = bisect_left(positions, end, first)
        kept.extend(points[at:first])
        at = last
    kept.extend(points[at:])
    return kept


def _region_edges(document: Document) -> Iterator[BreakPoint]:
    """Yield points at the edges of protected regions that begin and end in different leaves.

    Only heuristics and tool calls create such regions. Every unit must belong to one leaf or to one
    region.
    """
    leaves = document.leaves
    score = document.config.score_table["line"]
    for start, end in document.protected:
        leaf, last = leaves.around(start), leaves.around(end)
        if leaf is not None and end <= leaf.end:
            continue
        if leaf is None or leaf.start < start:
            yield BreakPoint(start, score, "line")
        if last is not None and not is_blank(document.text[end : last.end]):
            yield BreakPoint(end, score, "line")


def _outside_inline(document: Document, points: Iterable[BreakPoint]) -> Iterator[BreakPoint]:
    """Yield the sorted ``points`` that are not inside a link, inline code or grapheme cluster."""
    known: Block | None = None
    blocked = SpanSet(())
    for point in points:
        leaf = document.leaves.around(point.pos)
        if leaf is not None and leaf is not known:
            known, blocked = leaf, inside_of(document, leaf, leaf.end).blocked
        if leaf is None or blocked.end(point.pos) == point.pos:
            yield point
