"""Counters for tests. A token is a letter "w", so that counts add up wherever a text is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unittest.mock import patch

from chunkast.tokens import Counter, resolve_counter
from chunkast.tokens.vocabulary import load_encoding

__all__ = ("W_ALONE", "W_ESTIMATED", "W", "by_tiktoken", "tokens")


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


def by_tiktoken(encoding: object) -> Counter:
    """The counter of one of tiktoken's encodings, without the faster encoder."""
    with patch("chunkast.tokens.resolve.by_fast_encoder", lambda _encoding, others, _table: others):
        return resolve_counter(load_encoding(encoding) if isinstance(encoding, str) else encoding)
