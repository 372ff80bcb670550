"""How much has to be embedded again after a small edit: chunkast and its peers.

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
from statistics import mean

from tests.bench.contenders import Contender, chunkast_contenders, peers
from tests.bench.tables import Setting, Table

__all__ = ("KEY", "run")

KEY = "stability"
SEED = 1
SENTENCE = "This was added later, and it says no more than it has to."


def run(setting: Setting) -> Iterator[Table]:
    """A table for each budget and overlap."""
    texts = list(chain.from_iterable(setting.corpora.values()))
    for budget in (256, 512):
        # A document of a few chunks at least, or there is nothing to be disturbed.
        long = [text for text in texts if len(text) > 12 * budget]
        edits = _edits(long, 5 if setting.smoke else 300)
        for share in (0.0, 0.15):
            setting.say(f"stability: {budget} tokens, overlap {share:g}")
            rows = []
            for contender in _contenders(budget, share, setting):
                counts = _embedded_again(contender, edits)
                p95 = counts[-(-len(counts) * 95 // 100) - 1] if counts else None
                rows.append(
                    (
                        contender.name,
                        mean(counts) if counts else None,
                        p95,
                        counts[-1] if counts else None,
                        len(edits) - len(counts),
                    )
                )
            yield Table(
                f"{KEY}, {budget} tokens, overlap {share:g}",
                f"Embedded again: {budget} tokens, overlap {share:g}",
                f"Texts to embed after a small edit that were not there before: {len(edits)} "
                f"random edits of {len(long):,} documents. *failed*: edits on which it raised.",
                (("", ""), ("mean", ".2f"), ("p95", ",d"), ("most", ",d"), ("failed", ",d")),
                tuple(rows),
            )


def _contenders(budget: int, share: float, setting: Setting) -> list[Contender]:
    mark = f"overlap {share:g}"
    own = chunkast_contenders(budget, setting.encoding)
    return [
        *(contender for contender in own if mark in contender.name.split(", ")),
        *peers(budget, setting.encoding, setting.say, int(budget * share)),
    ]


def _embedded_again(contender: Contender, edits: list[tuple[str, str]]) -> list[int]:
    """How many texts of each edit, sorted; less those edits on which a peer failed."""
    chunk = contender.make()
    counts: list[int] = []
    for before, after in edits:
        try:
            counts.append((Counter(chunk(after)) - Counter(chunk(before))).total())
        except Exception:
            if not contender.may_fail:
                raise
    return sorted(counts)


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
