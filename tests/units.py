"""A tokenizer of the tests' own: a token is a letter "w", so that counts add up wherever a text is cut."""

from __future__ import annotations

from typing import Any

from chunkast import ChunkConfig

__all__ = ("config", "tokens")


def tokens(text: str) -> int:
    return text.count("w")


def config(budget: int, **options: Any) -> ChunkConfig:
    """Return a configuration in which nothing but the budget decides, unless told."""
    return ChunkConfig(
        max_tokens=budget, **{"overlap": 0, "context": "none", "encoding": tokens, **options}
    )
