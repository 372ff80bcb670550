"""Every field of the configuration times wrong values: a ``ConfigError``, or a chunker that works."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import date
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from chunkast import ChunkConfig, Chunker, ConfigError

FIELDS = tuple(field.name for field in fields(ChunkConfig))
TEXT = "---\na: 1\n---\n# Title\n\nOne sentence. Another one.\n\n- item\n"
# More digits than Python writes out.
HUGE = 10**5_000


class Number(IntEnum):
    ONE = 1


class NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class NoTruth:
    def __bool__(self) -> bool:
        raise RuntimeError("no truth value")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


class NoItems:
    def __iter__(self) -> Iterator[str]:
        yield "tables"
        raise RuntimeError("no more items")


class NoValues(Mapping[str, float]):
    def __getitem__(self, key: str) -> float:
        raise RuntimeError("no values")

    def __iter__(self) -> Iterator[str]:
        return iter(("h1",))

    def __len__(self) -> int:
        return 1


SCALARS: tuple[Any, ...] = (
    None,
    True,
    False,
    *(-1, 0, 1, 899, 900, -(2**31), 2**31, 2**53, 2**63 - 1, 2**63, 10**400, HUGE, -HUGE),
    *(-0.5, -0.0, 0.5, 1.0, 1e308, -1e308, math.inf, -math.inf, math.nan),
    *(1j, Decimal(1), Decimal("NaN"), Fraction(1, 2), Number.ONE, date(2000, 1, 1)),
    *("", " ", "a", "1", "tables", "h1", "split", "parsed ", "Sections", "\0", "\ud800", "é"),
    *("x" * 100_000, b"", b"tables", bytearray(b"a"), Path("a"), range(3), slice(3)),
    *(object(), NoRepr(), NoTruth(), NoItems(), NoValues(), ..., NotImplemented),
    *(object, NoRepr, ValueError("a"), json, ChunkConfig()),
)
WRAPPED: tuple[Any, ...] = (
    *([value] for value in SCALARS),
    *((value, value) for value in SCALARS),
    *([[value]] for value in SCALARS),
    *({"h1": value} for value in SCALARS),
    *({"name": value} for value in SCALARS),
    *({value: 1.0} for value in SCALARS if getattr(type(value), "__hash__", None)),
    *(frozenset({value}) for value in SCALARS if getattr(type(value), "__hash__", None)),
    *([], (), {}, set(), [[]], [{}], [None, 1, "a"], {"h1": {"h1": 1}}, ["tables", "tables", 5]),
)


def once() -> list[Any]:
    """Values that can be looked at a single time."""
    return [iter(["tables", 5]), (word for word in ("a", "b")), itertools.count(), map(int, "a")]


@pytest.mark.parametrize("field", FIELDS)
def test_a_wrong_value_is_a_configuration_error(field: str) -> None:
    refused: list[tuple[Any, ConfigError]] = []
    for value in (*SCALARS, *WRAPPED, *once()):
        try:
            chunker = Chunker(**{field: value})
        except ConfigError as error:
            refused.append((value, error))
            continue
        assert hash(chunker.config) == hash(
            Chunker(**{field: getattr(chunker.config, field)}).config
        )
        # A callable is a counter of the user's own, and what it raises is the user's.
        if field != "encoding" or not callable(value):
            assert chunker.chunk(TEXT)
    assert len(refused) > 300
    for value, why in refused:
        assert why.field.startswith(field)
        # Of several values the one that is not allowed is named.
        assert why.value is value or field in (
            *("scores", "extensions", "heuristics", "tools", "front_matter_keys"),
        )
        assert why.allowed
        # The value is shown in at most 80 characters.
        assert len(str(why)) <= len(why.field) + 80 + len("=: ") + len(why.allowed)


def test_whole_numbers_have_a_bound() -> None:
    for field in ("max_tokens", "min_tokens", "window"):
        assert len(Chunker(ChunkConfig.of({field: 2**63 - 1})).chunk(TEXT)) == 1
        with pytest.raises(ConfigError, match=rf"^{field}=9223372036854775808: .* at most 2\*\*63"):
            ChunkConfig.of({field: 2**63})


def test_a_value_that_cannot_be_written_out_is_named_by_its_type() -> None:
    with pytest.raises(ConfigError, match=r"^max_tokens=<int>: must be a whole number"):
        ChunkConfig(max_tokens=HUGE)
    with pytest.raises(ConfigError, match=r"^decay=<int>: must be a number from 0 to 1"):
        ChunkConfig(decay=HUGE)
    with pytest.raises(ConfigError, match=r"^model=<NoRepr>: must be a model's name"):
        ChunkConfig(model=NoRepr())  # type: ignore[arg-type]
