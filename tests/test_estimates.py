"""Estimates decide far from a limit; near one, an exact count does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from chunkast.tokens import SpanCounts
from chunkast.tokens.estimates import StartIndex
from chunkast.tokens.words import Pieces, WordIndex, Words

TEXT = "some words " * 160


def starts(text: str) -> Iterator[int]:
    return (match.start() for match in re.finditer(r"\S+", text))


def index_of_words(off: int) -> StartIndex:
    return StartIndex(TEXT, lambda text: len(text.split()) + off, starts)


def index_of_letters(off: int) -> WordIndex:
    """A token is a letter; the counts of parts of the one word are ``off``."""
    text = "é" * 800

    def count(piece: str) -> int:
        return len(piece) + (off if len(piece) < len(text) else 0)

    return WordIndex(text, Words(Pieces(lambda text: [text], count, count)))


@pytest.mark.parametrize(
    ("make", "end", "tokens"), [(index_of_words, 440, 80), (index_of_letters, 400, 400)]
)
def test_a_count_decides_near_the_limit(
    make: Callable[[int], SpanCounts], end: int, tokens: int
) -> None:
    for off in (-5, 0, 5):
        index = make(off)
        assert index.count(0, end) == tokens + off
        assert [index.is_within(0, end, tokens + off + more) for more in (-1, 0)] == [False, True]
        assert index.is_near(0, end)


@pytest.mark.parametrize("off", [-11, 11])
def test_a_count_beyond_the_margin_is_noticed(off: int) -> None:
    # The margin is 8 tokens and one in 32 of the 80.
    assert not index_of_words(off).is_near(0, 440)
    assert index_of_words(off * 10 // 11).is_near(0, 440)
