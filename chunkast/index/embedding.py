"""Embeds texts with a user's function, and checks the vectors that it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from chunkast.errors import StoreError, describe

__all__ = ("Embed", "embedded")

# Returns a vector for each text, in order: lists, tuples or the rows of an array.
Embed = Callable[[list[str]], Any]
# The largest number that a vector in single precision can have, and the smallest above 0.
_LARGEST: Final = 3.4e38
_SMALLEST: Final = 1.2e-38


def embedded(embed: Embed, texts: Sequence[str], size: int | None, name: str) -> list[list[float]]:
    """Return the vectors of ``texts``.

    ``size`` is the size of the vectors in the store called ``name``, or ``None`` if it has none.
    Raises ``StoreError`` if ``embed`` fails or returns anything but one such vector for each text.
    """
    try:
        vectors = [_numbers(vector) for vector in embed(list(texts))]
    except StoreError:
        raise
    except Exception as error:
        raise StoreError(name, f"embed failed: {describe(error)}") from error
    if len(vectors) != len(texts):
        reason = f"embed returned {len(vectors):,} vectors for {len(texts):,} texts"
        raise StoreError(name, reason)
    known = "the store has" if size else "the first one has"
    for vector in vectors:
        size = size or len(vector)
        if not vector or len(vector) != size:
            reason = f"embed returned a vector of {len(vector):,} numbers; {known} {size:,}"
            raise StoreError(name, reason)
        if not all(abs(number) <= _LARGEST for number in vector):
            raise StoreError(name, "embed returned a vector with a number that is not finite")
        if not any(abs(number) >= _SMALLEST for number in vector):
            raise StoreError(name, "embed returned a vector of zeros, which has no direction")
    return vectors


def _numbers(vector: Any) -> list[float]:
    if isinstance(vector, (str, bytes)):
        raise TypeError(f"a vector must be numbers, not {type(vector).__name__}")
    values: Iterable[Any] = vector.tolist() if hasattr(vector, "tolist") else vector
    return [float(value) for value in values]
