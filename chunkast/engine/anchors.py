"""Anchors: cuts that depend on the text around them alone.

Every other cut depends on where the one before it fell, so that an edit could move all
cuts after it, to the end of a long list. An anchor is the best point far and wide, by its
score and then by a hash of the text that follows it; whatever is edited elsewhere, it stays,
and the cuts after it with it. (The idea of content-defined chunking, on break points.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, TypeAlias
from zlib import crc32

from chunkast.engine.layout import Layout
from chunkast.text.source_map import encode

__all__ = ("anchors",)

# The score of a point, and a hash of the text that follows it.
_Key: TypeAlias = tuple[float, int]
# An anchor is the best point among those at most this number of budgets away on either side.
# On 300 random one-line edits of real documents, cut at 256 tokens, 1.41 chunks an edit had
# to be embedded again without anchors, 1.19 with them, for 3 % more chunks; a larger radius
# gained less, a smaller one cost more chunks (1: 7 %) for hardly anything (1.18).
_RADIUS: Final = 2
# Characters after a point that tell it from others.
_SAMPLE: Final = 80


def anchors(layout: Layout, first: int, last: int) -> list[int]:
    """The anchors strictly inside the units ``(first, last)``, in order.

    They keep the radius from both ends, so a span of at most four budgets has none, and
    only a point that is no penalty is one.
    """
    radius = _RADIUS * layout.config.budget
    before = layout.before
    if before[last] - before[first] <= 2 * radius:
        return []
    found: list[int] = []
    ahead = _points(layout, first, last)
    following = next(ahead, None)
    # The points in reach that no later one surpasses, with their keys: the best comes first.
    window: deque[tuple[int, _Key]] = deque()
    for h in range(first + 1, last):
        if layout.score[h] <= 0:
            continue
        while following is not None and before[following[0]] - before[h] <= radius:
            while window and window[-1][1] < following[1]:
                window.pop()
            window.append(following)
            following = next(ahead, None)
        while before[h] - before[window[0][0]] > radius:
            window.popleft()
        best, key = window[0]
        # Of equal ones none is an anchor: which one it is would depend on where one begins.
        tied = len(window) > 1 and window[1][1] == key
        inside = before[h] - before[first] >= radius and before[last] - before[h] >= radius
        if best == h and not tied and inside:
            found.append(h)
    return found


def _points(layout: Layout, first: int, last: int) -> Iterator[tuple[int, _Key]]:
    """The points that are no penalties, with their keys, in order."""
    return ((h, _key(layout, h)) for h in range(first + 1, last) if layout.score[h] > 0)


def _key(layout: Layout, h: int) -> _Key:
    pos = layout.pos[h]
    return layout.score[h], crc32(encode(layout.text[pos : pos + _SAMPLE]))
