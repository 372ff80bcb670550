"""Which protected regions close their inside: those that fit the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import ProtectedRegion
from chunkast.text.spans import SpanSet

__all__ = ("protected_spans",)

_BLOCKS: Final = frozenset(
    ("tag", *(kind for kind, construct in CONSTRUCTS.items() if construct.protected))
)


def protected_spans(
    regions: Sequence[ProtectedRegion], fits: Callable[[int, int], bool]
) -> SpanSet:
    """The spans of the sorted ``regions`` that fit, by ``fits(start, end)``.

    Where two cross and do not fit together, one gives way: blocks, which never cross each
    other, to a user's regions and to tool calls, and of those the later to the first.
    """
    foreign = [region for region in regions if region.kind not in _BLOCKS]
    if not foreign:
        return SpanSet(_uncrossed(regions, fits))
    first = SpanSet(_uncrossed(foreign, fits))
    blocks = _uncrossed([region for region in regions if region.kind in _BLOCKS], fits)
    kept = (span for span in blocks if not first.crosses(*span))
    return SpanSet([*first, *kept])


def _uncrossed(
    regions: Sequence[ProtectedRegion], fits: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Of sorted regions those that fit; of two that cross both only if their union fits."""
    first = last = 0
    for region in regions:
        start, end = region.start, region.end
        if end <= last or not fits(start, end):
            continue
        if start >= last:
            first = start
        elif not fits(first, end):
            continue
        last = end
        yield start, end
