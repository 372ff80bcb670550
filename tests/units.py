"""A tokenizer of the tests' own: a token is a letter "w", so that counts add up wherever a text is cut."""

from __future__ import annotations

from typing import Any

<<<<<<< HEAD
from chunkast import ChunkConfig
=======
from chunkast.tokens import Counter
from chunkast.tokens.estimates import StartIndex
>>>>>>> d3be83c (Give counters one field for estimates, and span counts fewer questions)

__all__ = ("config", "tokens")


def tokens(text: str) -> int:
    return text.count("w")


<<<<<<< HEAD
def config(budget: int, **options: Any) -> ChunkConfig:
    """Return a configuration in which nothing but the budget decides, unless told."""
    return ChunkConfig(
        max_tokens=budget, **{"overlap": 0, "context": "none", "encoding": tokens, **options}
    )
=======
def token_ends(text: str, start: int) -> Iterator[int]:
    return (start + match.end() for match in re.finditer("w", text))


def token_starts(text: str) -> Iterator[int]:
    return (match.start() for match in re.finditer("w", text))


# One that counts of neighbouring spans add up for, the same as a user's own, and one whose tokens
# are told only by about where they begin.
W = Counter("w", tokens, token_ends)
W_ALONE = Counter("w", tokens)
W_ESTIMATED = Counter("w", tokens, estimates=lambda text: StartIndex(text, tokens, token_starts))
>>>>>>> d3be83c (Give counters one field for estimates, and span counts fewer questions)
