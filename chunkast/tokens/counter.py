"""Token counters, and the context window of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chunkast.errors import ConfigError
from chunkast.text.source_map import spans_between
from chunkast.tokens.spans import SpanCounts

__all__ = ("Counter", "Window")


@dataclass(frozen=True, slots=True)
class Window:
    """The most ``tokens`` that a model reads at once; ``special`` of them are special tokens."""

    tokens: int
    special: int

    @property
    def room(self) -> int:
        """The number of tokens left for a text."""
        return self.tokens - self.special


@dataclass(frozen=True, slots=True)
class Counter:
    """A token counter: ``count(text)`` is exact, ``name`` identifies the tokenizer.

    The other fields are optional:

    ``token_ends(text, start)`` yields, for each token of a text that begins at index ``start``, a
    character index at or before the token's end and in the same pre-token. It is only set for
    encodings for which the proof in ``tokens/index.py`` holds.

    ``counts(text, positions)`` yields the counts of the spans between sorted ``positions``. It is
    faster than a call of ``count`` for each span.

    ``estimates(text)`` returns the index of a document in which estimates replace counts that are
    far from a limit. It is only used while the counter is ``trusted``.

    ``window`` is the model's window, if the tokenizer states it.
    """

    name: str
    count: Callable[[str], int]
    token_ends: Callable[[str, int], Iterable[int]] | None = None
    counts: Callable[[str, Sequence[int]], Iterable[int]] | None = None
    estimates: Callable[[str], SpanCounts] | None = None
    trusted: bool = True
    window: Window | None = None

    @property
    def is_estimated(self) -> bool:
        """True if estimates replace counts that are far from a limit."""
        return self.trusted and self.estimates is not None

    def each(self, text: str, positions: Sequence[int]) -> Iterable[int]:
        """Return the token count of each span between neighbouring ``positions``."""
        if self.counts is not None:
            return self.counts(text, positions)
        return map(self.count, spans_between(text, positions))

    def window_room(self) -> int:
        """Return the most tokens of a text that the model reads.

        Raises ``ConfigError`` if the window is unknown or special tokens take all of it.
        """
        if self.window is None:
            allowed = "must be a whole number, as the encoding has no limit of its own"
            raise ConfigError("max_tokens", "model", allowed)
        if self.window.room < 1:
            allowed = f"must be a whole number, as special tokens take all {self.window.tokens}"
            raise ConfigError("max_tokens", "model", allowed)
        return self.window.room

    def cut_off(self, tokens: int) -> int:
        """Return how many of a text's ``tokens`` are beyond the model's window, if it is known."""
        return max(tokens - self.window.room, 0) if self.window else 0
