"""Rows of units whose sizes are known, for tests of what the packer and its parts promise.

A token is a letter "w", so that counts add up wherever a text is cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any
from unittest.mock import patch

from chunkast import BreakPoint, ChunkConfig
from chunkast.core.layout import Layout
from chunkast.core.replaced import Replaced
from chunkast.model import Replacement
from chunkast.scores import SCORES
from chunkast.tokens import Counter, index_of, resolve_counter
from chunkast.tokens.vocabulary import load_encoding

__all__ = ("W_ALONE", "W_ESTIMATED", "Unit", "W", "by_tiktoken", "config", "row", "tokens")

# A unit is its text, or how many tokens it has: then it is a block with a blank line after it.
Unit = int | str


def tokens(text: str) -> int:
    return text.count("w")


def token_ends(text: str, start: int) -> Iterator[int]:
    return (start + match.end() for match in re.finditer("w", text))


# One that counts of neighbouring spans add up for, the same as a user's own, and one whose tokens
# are told only by about where they begin.
W = Counter("w", tokens, token_ends)
W_ALONE = Counter("w", tokens)
W_ESTIMATED = Counter(
    "w", tokens, token_starts=lambda text: (found.start() for found in re.finditer("w", text))
)


def config(budget: int, **options: Any) -> ChunkConfig:
    given = {"overlap": 0, "context": "none", "encoding": tokens, **options}
    return ChunkConfig(max_tokens=budget, **given)


def nothing(_: int) -> int:
    return 0


def row(
    units: Sequence[Unit],
    budget: int,
    *,
    kinds: Mapping[int, str] | None = None,
    scores: Mapping[int, float] | None = None,
    divided: Sequence[int] = (),
    counter: Counter = W,
    context: Callable[[int], int] = nothing,
    suffix: Callable[[int], int] | None = None,
    frame: Callable[[int], int] = nothing,
    replaced: Mapping[int, str] | None = None,
    **options: Any,
) -> Layout:
    """The layout of ``units``; before each is a point of its kind ("paragraph") and score.

    ``divided`` are the units that begin inside a block. ``context``, ``suffix`` and ``frame``
    take the number of a unit in place of its position. ``replaced`` is what is embedded of units.
    """
    texts = [unit if isinstance(unit, str) else "w" * unit + "\n\n" for unit in units]
    starts = list(accumulate(map(len, texts), initial=0))
    known = [pos for unit, pos in enumerate(starts[:-1]) if unit not in divided]
    points = []
    for unit, pos in enumerate(starts[1:-1], 1):
        kind = (kinds or {}).get(unit, "paragraph")
        points.append(BreakPoint(pos, (scores or {}).get(unit, SCORES[kind]), kind))
    text = "".join(texts)
    shown = [
        Replacement(starts[unit], starts[unit + 1], part) for unit, part in (replaced or {}).items()
    ]
    return Layout(
        text,
        index_of(text, counter, known),
        points,
        config(budget, **options),
        context_tokens=lambda pos: context(starts.index(pos)),
        suffix_tokens=(lambda pos: suffix(starts.index(pos))) if suffix is not None else None,
        most_suffix_tokens=max(map(suffix, range(len(starts)))) if suffix is not None else 0,
        frame_tokens=lambda pos: frame(starts.index(pos)),
        replaced=Replaced(text, shown, counter.count, trim=True),
    )


def by_tiktoken(encoding: object) -> Counter:
    """The counter of one of tiktoken's encodings, without the faster encoder."""
    with patch("chunkast.tokens.resolve.by_fast_encoder", lambda _encoding, others, _table: others):
        return resolve_counter(load_encoding(encoding) if isinstance(encoding, str) else encoding)
