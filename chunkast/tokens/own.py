"""Counters for users' own callables and objects with an ``encode`` method."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from numbers import Real
from typing import Any, Final

from chunkast.errors import ConfigError
from chunkast.tokens.counter import TokenCounter

__all__ = ("own_counter",)

# Counted once when a chunker is made, so that a wrong counter is noticed at once.
_PROBE: Final = "One line of text, to see what is counted.\n"
_MOST_SHOWN: Final = 40
# So that sums of counts fit 64 bits.
_MOST: Final = 2**40


def own_counter(encoding: Any) -> TokenCounter | None:
    """Return a counter for an object with an ``encode`` method or a callable; None for others.

    Fractional counts are rounded up. This function and the counter raise ``ConfigError`` if a count
    is not a number from 0 to ``2**40``.
    """
    encode = getattr(encoding, "encode", None)
    if callable(encode):
        keywords = {"add_special_tokens": False} if _takes_special_tokens(encode) else {}

        def returned(text: str) -> object:
            tokens = encode(text, **keywords)
            # The length of a mapping such as {"input_ids": ...} is not a number of tokens.
            sized = hasattr(tokens, "__len__") and not isinstance(tokens, Mapping)
            return len(tokens) if sized else tokens

    elif callable(encoding):
        returned = encoding
    else:
        return None

    def count(text: str) -> int:
        value = returned(text)
        if type(value) is int and 0 <= value <= _MOST:
            return value
        return _whole(encoding, text, value)

    try:
        count(_PROBE)
    except ConfigError:
        raise
    except Exception:  # noqa: BLE001, S110 - raised again when a document is chunked
        pass
    name = getattr(encoding, "name", None) or getattr(encoding, "__qualname__", None)
    return TokenCounter(name if isinstance(name, str) else type(encoding).__qualname__, count)


def _whole(encoding: object, text: str, value: Any) -> int:
    number: Any = value
    if not isinstance(value, bool):
        with suppress(TypeError):
            number = operator.index(value)
        if isinstance(number, Real) and 0 <= number <= _MOST:  # type: ignore[operator]
            whole: int = math.ceil(number)  # type: ignore[assignment]
            return whole
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    raise ConfigError(
        "encoding",
        encoding,
        f"must count tokens as a number of at least 0 and at most 2**40; for {shown!r} it gave {value!r}",
    )


def _takes_special_tokens(encode: Callable[..., Any]) -> bool:
    """Return whether ``encode`` has a parameter ``add_special_tokens``, as in Hugging Face."""
    try:
        return "add_special_tokens" in inspect.signature(encode).parameters
    except (TypeError, ValueError):
        return False
