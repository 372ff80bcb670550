"""A tokenizer of the tests' own: a token is a letter "w", so that counts add up wherever a text is cut."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from chunkast import ChunkConfig
from chunkast.tokens import Counter, resolve_counter
from chunkast.tokens.vocabulary import load_encoding

__all__ = ("by_tiktoken", "config", "tokens")


def tokens(text: str) -> int:
    return text.count("w")


def config(budget: int, **options: Any) -> ChunkConfig:
    """Return a configuration in which nothing but the budget decides, unless told."""
    return ChunkConfig(
        max_tokens=budget, **{"overlap": 0, "context": "none", "encoding": tokens, **options}
    )


def by_tiktoken(encoding: object) -> Counter:
    """Return the counter of one of tiktoken's encodings, without a faster encoder."""
    by_tiktoken_alone = patch(
        "chunkast.tokens.resolve.by_fast_encoder",
        lambda _encoding, others, _table: others,
        create=True,
    )
    with by_tiktoken_alone:
        return resolve_counter(load_encoding(encoding) if isinstance(encoding, str) else encoding)
