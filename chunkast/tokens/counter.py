"""Token counters, and the context windows of models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chunkast.errors import ConfigError
from chunkast.text.source_map import spans_between
from chunkast.tokens.pretokens import PretokenCounter
from chunkast.tokens.span_counts import SpanCounts

__all__ = ("TokenCounter", "Window")


@dataclass(frozen=True, slots=True)
class Window:
    """A model's context window.

    tokens: the size of the window.
    special: the number of special tokens that the tokenizer adds to a text.
    """

    tokens: int
    special: int

    @property
    def room(self) -> int:
        """The number of tokens in the window that are available for text."""
        return self.tokens - self.special


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A function that counts tokens, and faster ways to get the same counts.

    name: the tokenizer's name.
    count: returns the exact number of tokens in a text.
    pretokens: counts by pre-tokens; None for tokenizers whose safe positions are unknown.
    estimates: takes a document, and returns an index that estimates counts far from a limit; None
        if there is no such index.
    trusted: whether ``estimates`` may be used.
    window: the model's context window, or None if the tokenizer does not state it.
    """

    name: str
    count: Callable[[str], int]
    pretokens: PretokenCounter | None = None
    estimates: Callable[[str], SpanCounts] | None = None
    trusted: bool = True
    window: Window | None = None

    @property
    def is_estimated(self) -> bool:
        """True if token counts far from a limit are estimated."""
        return self.trusted and self.estimates is not None

    def each(self, text: str, positions: Sequence[int]) -> Iterable[int]:
        """Return the token count of each span between adjacent ``positions``, in order."""
        if self.pretokens is not None:
            return self.pretokens.counts(text, positions)
        return map(self.count, spans_between(text, positions))

    def check_budget(self, max_tokens: int, reserved: int) -> None:
        """Raise ``ConfigError`` if special and reserved tokens exceed ``max_tokens``.

        Only users' own counters count special tokens. An exception in such a counter is ignored
        here, and raised when a document is chunked.
        """
        try:
            special = self.count("")
        except Exception:  # noqa: BLE001
            return
        if special > max_tokens - reserved:
            allowed = (
                f"must be at least {special + reserved}, as the encoding counts {special} for an "
                "empty text"
            )
            raise ConfigError("max_tokens", max_tokens, allowed)

    def window_room(self) -> int:
        """Return the maximum number of tokens in a text that fits the model's context window.

        Raises ``ConfigError`` if the context window is unknown or special tokens fill it.
        """
        why = "the encoding has no limit of its own"
        if self.window is not None:
            if self.window.room > 0:
                return self.window.room
            why = f"special tokens take all {self.window.tokens}"
        raise ConfigError("max_tokens", "model", f"must be a whole number, as {why}")

    def cut_off(self, tokens: int) -> int:
        """Return how many of ``tokens`` exceed the model's window; 0 if the window is unknown."""
        return max(tokens - self.window.room, 0) if self.window else 0
