"""How much has to be embedded again after a small edit: chunkast and its peers.

Random one-line edits of real documents: a word put into a line, a word taken out, a line
taken out, a sentence put behind a paragraph. All contenders chunk the same text before and
after. What is counted is texts to embed that the old state did not have, so an embedding
may be found again wherever its text has moved to.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import Counter
from collections.abc import Sequence
from statistics import mean

from chunkast.tokens.counter import VOCABULARY
from tests.bench.contenders import Contender, chunkast_contenders, peers
from tests.bench.corpus import load_corpus

ENCODING = "cl100k_base"
SENTENCE = "This was added later, and it says no more than it has to."


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each budget and overlap."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.stability", description=__doc__)
    parser.add_argument("--edits", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smoke", action="store_true", help="fixtures only, few edits")
    options = parser.parse_args(arguments)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(VOCABULARY)  # for the peers' own tiktoken
    texts = load_corpus(smoke=options.smoke)
    for budget in (256, 512):
        # A document of a few chunks at least, or there is nothing to be disturbed.
        long = [text for text in texts if len(text) > 12 * budget]
        edits = _edits(long, 20 if options.smoke else options.edits, options.seed)
        for share in (0.0, 0.15):
            print(
                f"\n{budget} tokens, overlap {share:g}: {len(edits)} edits of {len(long)} documents"
            )
            print(f"{'':58} mean   p95   max")
            for contender in _contenders(budget, share):
                counts = sorted(_embedded_again(contender, edits))
                p95 = counts[-(-len(counts) * 95 // 100) - 1]
                print(f"{contender.name:58} {mean(counts):4.2f} {p95:5} {counts[-1]:5}", flush=True)
    return 0


def _contenders(budget: int, share: float) -> list[Contender]:
    mark = f"overlap {share:g}"
    own = [row for row in chunkast_contenders(budget, ENCODING) if mark in row.name.split(", ")]
    return [*own, *peers(budget, ENCODING, print, int(budget * share))]


def _embedded_again(contender: Contender, edits: list[tuple[str, str]]) -> list[int]:
    chunk = contender.make()
    return [(Counter(chunk(after)) - Counter(chunk(before))).total() for before, after in edits]


def _edits(texts: list[str], count: int, seed: int) -> list[tuple[str, str]]:
    chance = random.Random(seed)
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


if __name__ == "__main__":
    raise SystemExit(main())
