"""Embed texts with a user's function, and check the vectors that it returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from chunkast.errors import StoreError, describe

__all__ = ("Embed", "embedded")

# Returns a vector for each text, in order: lists, tuples or the rows of an array.
Embed = Callable[[list[str]], Any]


def embedded(embed: Embed, texts: Sequence[str], size: int | None, name: str) -> list[list[float]]:
    """Return the vectors of ``texts``.

    ``size`` is the size of the vectors in the store called ``name``, or None if it is not known.
    Raises ``StoreError`` if ``embed`` fails or returns anything but one such vector for each text.
    """
    try:
        vectors = [_numbers(vector) for vector in embed(list(texts))]
    except Exception as error:
        raise StoreError(name, f"embed failed: {describe(error)}") from error
    if len(vectors) != len(texts):
        reason = f"embed returned {len(vectors):,} vectors for {len(texts):,} texts"
        raise StoreError(name, reason)
    wanted = len(vectors[0]) if size is None else size
    for vector in vectors:
        if len(vector) != wanted or not vector:
            where = "the store has" if size is not None else "the first one has"
            reason = f"embed returned a vector of {len(vector):,} numbers; {where} {wanted:,}"
            raise StoreError(name, reason)
        if not all(map(math.isfinite, vector)):
            raise StoreError(name, "embed returned a vector with a number that is not finite")
    return vectors


def _numbers(vector: Any) -> list[float]:
    return list(map(float, vector.tolist() if hasattr(vector, "tolist") else vector))
