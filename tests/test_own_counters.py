"""Token counters of a user's own: what they may return, and when it is checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from chunkast import ChunkConfig, Chunker, ConfigError, count_tokens
from tests.checks import check_promises
from tests.strategies import documents

TEXT = "# A\n\nOne two three.\n\nFour five six.\n"


class Whole:
    """A number of another library: no int, but an index."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize(
    "count",
    [
        lambda text: len(text) / 4,
        lambda text: Fraction(len(text), 3),
        lambda text: Whole(len(text)),
        lambda text: float(len(text)),
    ],
)
def test_fractions_are_rounded_up(count: Callable[[str], Any]) -> None:
    assert count_tokens("abcde", count) == math.ceil(
        getattr(count("abcde"), "value", count("abcde"))
    )
    chunks = Chunker(max_tokens=6, overlap=0, encoding=count).chunk(TEXT)
    assert all(type(chunk.token_count) is int for chunk in chunks)
    own = "".join(chunk.text for chunk in chunks)
    assert "".join(own.split()) == "".join(TEXT.split())


@pytest.mark.parametrize("value", [None, "12", math.nan, math.inf, -1, -0.5, True, 10**400, [1]])
def test_other_values_are_configuration_errors_at_once(value: Any) -> None:
    for make in (
        lambda: Chunker(encoding=lambda _text: value),
        lambda: count_tokens("x", lambda _text: value),
    ):
        with pytest.raises(ConfigError, match=r"^encoding=.*: must count tokens as a number"):
            make()


def test_a_later_value_is_a_configuration_error_too() -> None:
    chunker = Chunker(encoding=lambda text: None if "three" in text else len(text))
    assert chunker.chunk("One.")
    with pytest.raises(ConfigError, match=r"three.* it gave None"):
        chunker.chunk(TEXT)
    told: list[int] = []
    found = chunker.chunk_batch([TEXT, "One."], on_error=lambda number, *_: told.append(number))
    assert (told, [len(chunks) for chunks in found]) == ([0], [0, 1])


def test_an_error_of_the_counter_is_raised_where_a_text_is_chunked() -> None:
    def count(text: str) -> int:
        raise KeyError(text)

    chunker = Chunker(encoding=count)
    with pytest.raises(KeyError):
        chunker.chunk("One.")


def test_an_encode_method_returns_tokens() -> None:
    class Words:
        def encode(self, text: str) -> Any:
            return text.split()

    class Fields:
        def encode(self, text: str) -> Any:
            return {"input_ids": text.split(), "attention_mask": []}

    assert count_tokens("a b c", Words()) == 3
    with pytest.raises(ConfigError, match="must count tokens as a number"):
        Chunker(encoding=Fields())


@given(documents())
def test_the_promises_hold_for_an_estimate(text: str) -> None:
    check_promises(text, ChunkConfig(max_tokens=20, overlap=4, encoding=lambda t: len(t) / 4))


def test_a_decimal_is_a_number_that_python_does_not_call_real() -> None:
    with pytest.raises(ConfigError):
        Chunker(encoding=lambda text: Decimal(len(text)))
