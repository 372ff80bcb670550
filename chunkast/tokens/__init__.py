"""Counting tokens: counters, the bundled vocabularies, and the index of one document."""

from __future__ import annotations

from collections.abc import Sequence

from chunkast.tokens.counter import Counter, Window
from chunkast.tokens.estimates import StartIndex
from chunkast.tokens.index import TokenIndex
from chunkast.tokens.resolve import resolve_counter
from chunkast.tokens.spans import NOT_EXACT, SpanCounts, is_far_above, remember
from chunkast.tokens.words import WordIndex

__all__ = (
    "NOT_EXACT",
    "Counter",
    "SpanCounts",
    "Window",
    "index_of",
    "is_far_above",
    "remember",
    "resolve_counter",
)


def index_of(text: str, counter: Counter, positions: Sequence[int]) -> SpanCounts:
    """The token counts of spans of a document; ``positions`` are starts of lines, sorted."""
    if counter.words is not None:
        return WordIndex(text, counter.words, trusted=counter.trusted)
    if counter.token_starts is not None and counter.trusted:
        return StartIndex(text, counter.count, counter.token_starts)
    return TokenIndex(text, counter, positions)
