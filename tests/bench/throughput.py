"""Chunkast and its peers against the speed of the tokenizer alone.

All contenders take turns in one process, some of the texts at a time, so that what the
machine does meanwhile meets them all. Times are CPU times, the tables show medians.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import process_time

from tests.bench.contenders import (
    FLOOR,
    Chunk,
    Contender,
    chunkast_contenders,
    floor,
    peers,
    warm_up,
)
from tests.bench.tables import Setting, Table

__all__ = ("KEY", "run")

KEY = "throughput"
# How many characters are about as many as a turn has.
_TURN = 500_000


@dataclass(slots=True)
class _Turns:
    """Times of one contender by round, and counts of its chunks and failures."""

    seconds: list[float] = field(default_factory=list)
    chunks: int = 0
    failed: int = 0

    def begin_round(self) -> None:
        self.seconds.append(0.0)
        self.chunks = self.failed = 0


def run(setting: Setting) -> Iterator[Table]:
    """Yield a table for each language."""
    contenders = [
        floor(setting.encoding),
        *chunkast_contenders(setting.budget, setting.encoding),
        *peers(setting.budget, setting.encoding, setting.say),
    ]
    warm_up(contenders)
    for language, texts in setting.corpora.items():
        yield _speeds(language, _measure(contenders, texts, setting), setting)


def _measure(
    contenders: Sequence[Contender], texts: Sequence[str], setting: Setting
) -> dict[str, _Turns]:
    turns = {contender.name: _Turns() for contender in contenders}
    for _ in range(setting.rounds):
        fresh = [(contender, contender.make().chunk) for contender in contenders]
        for taken in turns.values():
            taken.begin_round()
        for part in _parts(texts):
            for contender, chunk in fresh:
                _take_turn(contender, chunk, part, turns[contender.name])
    return turns


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in groups, one for each turn."""
    part: list[str] = []
    for text in texts:
        part.append(text)
        if sum(map(len, part)) >= _TURN:
            yield part
            part = []
    if part:
        yield part


def _take_turn(contender: Contender, chunk: Chunk, texts: Sequence[str], turns: _Turns) -> None:
    gc.collect()
    before = process_time()
    for text in texts:
        try:
            turns.chunks += len(chunk(text))
        except Exception:
            if not contender.may_fail:
                raise
            turns.failed += 1
    turns.seconds[-1] += process_time() - before


def _speeds(language: str, turns: dict[str, _Turns], setting: Setting) -> Table:
    texts = setting.corpora[language]
    size = sum(len(text.encode(errors="replace")) for text in texts)
    fastest = median(turns[FLOOR].seconds)
    return Table(
        f"{KEY}, {language}",
        f"Throughput: {language}",
        f"{len(texts):,} documents, {size / 1e6:.2f} MB; {setting.budget} tokens of "
        f"{setting.encoding}; median of {setting.rounds} interleaved rounds. *of floor*: as a "
        "share of the speed of encoding each text once. *failed*: documents that raised.",
        (("", ""), ("MB/s", ".2f"), ("of floor", ".1%"), ("chunks", ",d"), ("failed", ",d")),
        tuple(
            (
                name,
                size / median(taken.seconds) / 1e6,
                fastest / median(taken.seconds),
                taken.chunks or None,
                taken.failed,
            )
            for name, taken in turns.items()
        ),
    )
