"""Obsidian's block ids on lines of their own: they belong to the block before them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chunkast.model import BreakPoint

__all__ = ("with_ids_attached",)

_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+[ \t]*(?=[\r\n]|\Z)")


def with_ids_attached(
    text: str, points: Iterable[BreakPoint], lead_in: float
) -> Iterator[BreakPoint]:
    """``points``, with the score of "lead-in" for those before an id, which belongs to the block above."""
    for point in points:
        if text.startswith("^", point.pos) and _BLOCK_ID.match(text, point.pos):
            yield BreakPoint(point.pos, min(point.score, lead_in), "lead-in")
        else:
            yield point
