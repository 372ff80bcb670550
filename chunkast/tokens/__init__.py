"""Counting tokens: counters, the bundled vocabularies, and the index of one document."""

from chunkast.tokens.counter import Counter, Window
from chunkast.tokens.index import NOT_EXACT, TokenIndex, is_far_above
from chunkast.tokens.resolve import resolve_counter

__all__ = ("NOT_EXACT", "Counter", "TokenIndex", "Window", "is_far_above", "resolve_counter")
