"""The protected regions that fit the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from chunkast.markdown.kinds import kinds_where
from chunkast.model import ProtectedRegion
from chunkast.text.spans import SpanSet

__all__ = ("protected_spans",)

_BLOCK_KINDS: Final = kinds_where("protected") | kinds_where("tag")


def protected_spans(
    regions: Sequence[ProtectedRegion], fits: Callable[[int, int], bool]
) -> SpanSet:
    """Return the spans of the sorted ``regions`` for which ``fits(start, end)`` is true.

    A block that crosses a user's region or a tool call is dropped; blocks never cross each other.
    If two other regions cross and do not fit together, the later one is dropped.
    """
    foreign = [region for region in regions if region.kind not in _BLOCK_KINDS]
    if not foreign:
        return SpanSet(_uncrossed(regions, fits))
    first = SpanSet(_uncrossed(foreign, fits))
    blocks = _uncrossed([region for region in regions if region.kind in _BLOCK_KINDS], fits)
    kept = (span for span in blocks if not first.crosses(*span))
    return SpanSet([*first, *kept])


def _uncrossed(
    regions: Sequence[ProtectedRegion], fits: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sorted ``regions`` that fit.

    If two regions cross and their union does not fit, the later one is skipped.
    """
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
