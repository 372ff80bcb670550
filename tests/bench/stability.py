"""Texts to re-embed after a small edit: chunkast and its peers.

Random one-line edits of real documents: a word put into a line, a word taken out, a line
taken out, a sentence put after a paragraph. All contenders chunk the same text before and
after. What is counted is texts to embed that the old state did not have, so an embedding
may be found again wherever its text has moved to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from math import sqrt
from statistics import mean, stdev

from tests.bench.contenders import Contender, chunkast_contenders, peers
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "run")

KEY = "stability"
SEED = 1
SENTENCE = "This was added later, and it says no more than it has to."


def run(setting: Setting) -> Iterator[Table]:
    """Yield a table for each budget and overlap."""
    texts = list(chain.from_iterable(setting.corpora.values()))
    for budget in (256, 512):
        # A document of a few chunks at least, or there is nothing to be disturbed.
        long = [text for text in texts if len(text) > 12 * budget]
        edits = _edits(long, 5 if setting.smoke else 300)
        for share in (0.0, 0.15):
            setting.say(f"stability: {budget} tokens, overlap {share:g}")
            rows = [
                _row(contender.name, *_embedded_again(contender, edits))
                for contender in _contenders(budget, share, setting)
            ]
            yield Table(
                f"{KEY}, {budget} tokens, overlap {share:g}",
                f"Embedded again: {budget} tokens, overlap {share:g}",
                f"Texts to embed after a small edit that were not there before: {len(edits)} "
                f"random edits of {len(long):,} documents. *error*: the standard error of the mean. "
                "*chunks*: of all documents after their edit. "
                "*failed*: edits on which it raised.",
                (
                    ("", ""),
                    ("mean", ".2f"),
                    ("error", ".2f"),
                    ("p95", ",d"),
                    ("most", ",d"),
                    ("chunks", ",d"),
                    ("failed", ",d"),
                ),
                tuple(rows),
            )


def _row(name: str, counts: list[int], chunks: int, failed: int) -> tuple[Cell, ...]:
    if len(counts) < 2:
        return name, None, None, None, None, None, failed
    p95 = counts[-(-len(counts) * 95 // 100) - 1]
    error = stdev(counts) / sqrt(len(counts))
    return name, mean(counts), error, p95, counts[-1], chunks, failed


def _contenders(budget: int, share: float, setting: Setting) -> list[Contender]:
    mark = f"overlap {share:g}"
    own = chunkast_contenders(budget, setting.encoding)
    return [
        *(contender for contender in own if mark in contender.name.split(", ")),
        *peers(budget, setting.encoding, setting.say, int(budget * share)),
    ]


def _embedded_again(
    contender: Contender, edits: list[tuple[str, str]]
) -> tuple[list[int], int, int]:
    """How many texts of each edit, sorted; all chunks after edits; edits on which a peer failed."""
    chunk = contender.make().chunk
    counts: list[int] = []
    chunks = failed = 0
    for edit in edits:
        try:
            before, after = map(chunk, edit)
        except Exception:
            if not contender.may_fail:
                raise
            failed += 1
            continue
        counts.append((Counter(after) - Counter(before)).total())
        chunks += len(after)
    return sorted(counts), chunks, failed


def _edits(texts: list[str], count: int) -> list[tuple[str, str]]:
    chance = random.Random(SEED)
    edits: list[tuple[str, str]] = []
    while len(edits) < count:
        before = chance.choice(texts)
        after = _edited(before, chance)
        if after != before:
            edits.append((before, after))
    return edits


def _edited(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    place = chance.choice([number for number, line in enumerate(lines) if line.strip()])
    words = lines[place].split(" ")
    at = chance.randrange(len(words))
    kind = chance.randrange(4)
    if kind == 0:
        words.insert(at + 1, "indeed")
        lines[place] = " ".join(words)
    elif kind == 1 and len(words) > 3:
        del words[at]
        lines[place] = " ".join(words)
    elif kind == 2:
        del lines[place]
    else:
        lines.insert(place + 1, SENTENCE)
    return "\n".join(lines)
