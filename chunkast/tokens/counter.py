"""What counts tokens, and what is known of the model that it counts for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chunkast.errors import ConfigError
from chunkast.text.source_map import spans_between
from chunkast.tokens.words import Words

__all__ = ("Counter", "Window")


@dataclass(frozen=True, slots=True)
class Window:
    """How many ``tokens`` a model reads of a text, and how many ``special`` ones are among them."""

    tokens: int
    special: int

    @property
    def room(self) -> int:
        """The tokens that are left for a text."""
        return self.tokens - self.special


@dataclass(frozen=True, slots=True)
class Counter:
    """How many tokens a text has: ``count(text)``, under the encoding's ``name``.

    ``token_ends(text, start)`` gives for each token of a text a character index that it ends
    at or before, in the same pre-token; the text itself begins at index ``start``. It is None
    for an encoding that does not split text at the boundaries which ``tokens/index.py`` proves.

    ``counts(text, positions)`` gives the counts of the spans between neighbours of sorted
    positions, where that is faster than to count one after the other.

    ``words`` counts by pieces between boundaries that hold in any text; ``count`` is theirs.

    ``token_starts(text)`` gives for each token of a text, in order, about where it begins: a
    character index. Nothing is known then of counts that add up.

    ``trusted``: whether by one of the last two estimates may stand in for counts.

    ``window`` is what the tokenizer says of its model's limit, if it does.
    """

    name: str
    count: Callable[[str], int]
    token_ends: Callable[[str, int], Iterable[int]] | None = None
    counts: Callable[[str, Sequence[int]], Iterable[int]] | None = None
    words: Words | None = None
    token_starts: Callable[[str], Iterable[int]] | None = None
    trusted: bool = True
    window: Window | None = None

    @property
    def is_estimated(self) -> bool:
        """Whether estimates stand in for counts."""
        return self.trusted and (self.words is not None or self.token_starts is not None)

    def each(self, text: str, positions: Sequence[int]) -> Iterable[int]:
        """How many tokens each span of ``text`` between neighbouring ``positions`` has."""
        if self.counts is not None:
            return self.counts(text, positions)
        return map(self.count, spans_between(text, positions))

    def window_room(self) -> int:
        """The most tokens of a text that the model reads whole.

        Raises ``ConfigError`` where that is not known, and where special tokens take all.
        """
        if self.window is None:
            allowed = "must be a whole number, as the encoding has no limit of its own"
            raise ConfigError("max_tokens", "model", allowed)
        if self.window.room < 1:
            allowed = f"must be a whole number, as special tokens take all {self.window.tokens}"
            raise ConfigError("max_tokens", "model", allowed)
        return self.window.room

    def cut_off(self, tokens: int) -> int:
        """How many of a text's ``tokens`` the model would not read, as far as is known."""
        return max(tokens - self.window.room, 0) if self.window else 0
