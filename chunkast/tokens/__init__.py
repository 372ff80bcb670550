"""Token counters, bundled vocabularies, and indexes that count tokens in spans of a document."""

from __future__ import annotations

from collections.abc import Sequence

from chunkast.tokens.counter import TokenCounter
from chunkast.tokens.resolve import resolve_counter
from chunkast.tokens.span_counts import NOT_EXACT, Remembered, SpanCounts, remember
from chunkast.tokens.token_index import TokenIndex

__all__ = (
    "NOT_EXACT",
    "Remembered",
    "SpanCounts",
    "TokenCounter",
    "index_of",
    "remember",
    "resolve_counter",
)


def index_of(text: str, counter: TokenCounter, positions: Sequence[int]) -> SpanCounts:
    """Return an index that counts the tokens in any span of ``text``.

    ``positions`` are the sorted starts of the lines at which chunks are likely to begin.
    """
    if counter.is_estimated and counter.estimates is not None:
        return counter.estimates(text)
    return TokenIndex(text, counter, positions)
