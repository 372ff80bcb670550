"""Counters for tests. A token is a letter "w", so that counts add up wherever a text is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkast.tokens import Counter

__all__ = ("W_ALONE", "W_ESTIMATED", "W", "tokens")


def tokens(text: str) -> int:
    return text.count("w")


def token_ends(text: str, start: int) -> Iterator[int]:
    return (start + match.end() for match in re.finditer("w", text))


# One that counts of neighbouring spans add up for, the same as a user's own, and one whose tokens
# are told only by about where they begin.
W = Counter("w", tokens, token_ends)
W_ALONE = Counter("w", tokens)
W_ESTIMATED = Counter(
    "w", tokens, token_starts=lambda text: (found.start() for found in re.finditer("w", text))
)
