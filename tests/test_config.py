"""Every field of the configuration times wrong values: a ``ConfigError``, or a chunker that works."""

from __future__ import annotations

import json
import math
import re
from contextlib import closing
from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from chunkast import ChunkConfig, Chunker, ConfigError
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.index import Store
from chunkast.testing.records import header_of
from tests.tables import Case, each_case

FIELDS = tuple(field.name for field in fields(ChunkConfig))
TEXT = "---\na: 1\n---\n# Title\n\nOne sentence. Another one.\n\n- item\n"
# More digits than Python writes out.
HUGE = 10**5_000


class NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


SCALARS: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 899, 900, 2**31, 2**63 - 1, 2**63, 10**400, HUGE, -HUGE),
    *(-0.5, -0.0, 0.5, 1.0, 1e308, -1e308, math.inf, -math.inf, math.nan),
    *(1j, Decimal(1), Decimal("NaN"), Fraction(1, 2), date(2000, 1, 1)),
    *("", " ", "a", "1", "tables", "h1", "split", "parsed ", "Sections", "\0", "\ud800", "é"),
    *("x" * 100_000, b"", b"tables", bytearray(b"a"), Path("a"), range(3), slice(3)),
    *(object(), NoRepr(), ..., object, NoRepr, ValueError("a"), json, ChunkConfig()),
)
WRAPPED: tuple[Any, ...] = (
    *([value] for value in SCALARS),
    *({"h1": value} for value in SCALARS),
    *({value: 1.0} for value in SCALARS if getattr(type(value), "__hash__", None)),
    *([], (), {}, set(), [[]], [{}], [None, 1, "a"], {"h1": {"h1": 1}}, ["tables", "tables", 5]),
)


@pytest.mark.parametrize("field", FIELDS)
def test_a_wrong_value_is_a_configuration_error(field: str) -> None:
    refused: list[tuple[Any, ConfigError]] = []
    for value in (*SCALARS, *WRAPPED, iter(["tables", 5]), (word for word in ("a", "b"))):
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
    assert len(refused) > 140
    for value, why in refused:
        assert why.field.startswith(field)
        # Of several values the one that is not allowed is named.
        assert why.value is value or field in (
            *("scores", "extensions", "heuristics", "tools", "front_matter_keys"),
        )
        assert why.allowed
        # The value is shown in at most 80 characters.
        assert len(str(why)) <= len(why.field) + 80 + len("=: ") + len(why.allowed)


@each_case("config", "messages")
def test_a_message_has_the_field_the_value_and_what_is_allowed(case: Case) -> None:
    with pytest.raises(ConfigError, match="^" + re.escape(case["message"])) as caught:
        Chunker(**case["options"])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        # What cannot be written out is named by its type.
        ({"max_tokens": HUGE}, "max_tokens=<int>: must be a whole number"),
        ({"model": NoRepr()}, "model=<NoRepr>: must be a model's name"),
        ({"config": ChunkConfig(), "decay": 0.5}, "decay=0.5: give a ChunkConfig or keywords"),
        ({"config": 512}, "config=512: must be a ChunkConfig, or keywords: Chunker(max_tokens="),
    ],
)
def test_objects_that_are_no_values_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match="^" + re.escape(message)):
        Chunker(**options)


def test_aliases_and_values_that_depend_on_the_budget() -> None:
    config = ChunkConfig(max_tokens=100, overlap=10)
    assert Chunker(chunk_size=100, chunk_overlap=10).config == config == Chunker(config).config
    assert ChunkConfig(max_tokens=450).window_tokens == 100
    for both in (
        Chunker(protocols=iter(["json", "xml"])).config,
        ChunkConfig.of({"protocols": ["xml", "json"]}),
    ):
        assert both.protocols == ("xml", "json")
    assert Chunker(protocols="xml").config == ChunkConfig()
    assert Chunker(protocols=["auto", "xml"]).config.protocols == "auto"
    assert ChunkConfig(max_tokens=200, overlap=0.15).overlap_tokens == 30
    assert ChunkConfig(scores={"h1": 1}).score_table["h1"] == 1
    assert len(Chunker(max_tokens=2**63 - 1).chunk(TEXT)) == 1


def test_a_percentage_and_names_to_take_away_are_kept_in_full() -> None:
    config = ChunkConfig(overlap="15%", extensions="-containers,-math")  # type: ignore[arg-type]
    kept = tuple(name for name in DEFAULT_EXTENSIONS if name not in ("containers", "math"))
    assert (config.overlap, config.extensions) == (0.15, kept)
    assert config == ChunkConfig(extensions=["-math", "-containers"])  # type: ignore[arg-type]
    assert Chunker(overlap="12.5%").config.overlap == 0.125
    names = set(DEFAULT_EXTENSIONS) - {"tables"}
    with closing(Store(":memory:", create=True)) as store:
        store.update([("a.md", TEXT)], Chunker(extensions="-tables"))
        remembered = json.loads(store.settings()["options"])["extensions"]
    assert set(remembered) == names
    header = header_of(Chunker(extensions="-tables"))
    assert set(header.config["extensions"]) == names
