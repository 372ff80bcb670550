"""What chains of edits move in long bodies without headings: notes, lists and tables."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chunkast import Chunker

FIXTURES = Path(__file__).parent.parent / "fixtures"
EDITS = 20


def sentences() -> list[str]:
    """About 200, of three documents, in order."""
    found = (FIXTURES / "paragraphs" / "en.txt").read_text("utf-8").split("\n")
    for name in ("one-line-giant", "legal-prose"):
        for line in (FIXTURES / "documents" / f"{name}.md").read_text("utf-8").split("\n"):
            if line.startswith(("#", "-", "|", "```")):
                continue
            found += re.split(r"(?<=[.!?]) (?=[A-Z])", line)
    return [line for line in found if line]


def together(parts: list[str], count: int, first: str, other: str) -> list[str]:
    """``count`` parts made one: ``first`` before its first, ``other`` before the others."""
    groups = (parts[at : at + count] for at in range(0, len(parts), count))
    return [first + other.join(group) for group in groups]


def note(parts: list[str]) -> str:
    return "\n\n".join(parts) + "\n"


def lines(parts: list[str]) -> str:
    return "\n".join(parts) + "\n"


def table(parts: list[str]) -> str:
    rows = (f"| {part.split()[0]} | {len(part)} | {part.replace('|', '/')} |" for part in parts)
    return "\n".join(["| first | length | all |", "| --- | --- | --- |", *rows]) + "\n"


# What a document consists of, and how it is put together.
DOCUMENTS: dict[str, tuple[list[str], Callable[[list[str]], str]]] = {
    "a note of one paragraph": (sentences(), " ".join),
    "a note of paragraphs": (together(sentences(), 4, "", " "), note),
    "a list": (together(sentences(), 1, "- ", ""), lines),
    "a list of lists": (together(sentences(), 5, "- ", "\n  - "), lines),
    "a list of paragraphs": (together(sentences(), 3, "1. ", "\n\n   "), note),
    "a table": (sentences(), table),
}


def edited(parts: list[str], chance: random.Random) -> list[str]:
    """A word put into a part, a part taken out, put in, or moved elsewhere."""
    at = chance.randrange(len(parts))
    kind = chance.choice(("word", "out", "in", "moved"))
    if kind == "word":
        words = parts[at].split(" ")
        words.insert(chance.randrange(1, len(words) + 1), "indeed")
        return [*parts[:at], " ".join(words), *parts[at + 1 :]]
    rest = [*parts[:at], *parts[at + 1 :]] if kind in ("out", "moved") else parts
    if kind == "out":
        return rest
    # Marked as the part is that it stands beside.
    to = chance.randrange(len(rest))
    mark = parts[at].split(" ")[0] if parts[at].startswith(("- ", "1. ")) else ""
    new = f"{mark} This was added later, and it says no more than it has to.".strip()
    return [*rest[:to], parts[at] if kind == "moved" else new, *rest[to:]]


def embedded_again(name: str, chunker: Chunker, seed: int) -> Iterator[int]:
    """Of each edit in a chain the texts to embed that were not there before it."""
    parts, text_of = DOCUMENTS[name]
    chance = random.Random(seed)
    before = Counter(chunk.embed_text for chunk in chunker.chunk(text_of(parts)))
    for _ in range(EDITS):
        parts = edited(parts, chance)
        after = Counter(chunk.embed_text for chunk in chunker.chunk(text_of(parts)))
        yield (after - before).total()
        before = after


# By budget: how many texts 20 edits have embedded again, all and at most by one, as was measured.
FIGURES = {
    "a note of one paragraph": {128: (31, 4), 256: (31, 3)},
    "a note of paragraphs": {128: (24, 3), 256: (28, 4)},
    "a list": {128: (30, 4), 256: (32, 5)},
    "a list of lists": {128: (17, 3), 256: (39, 5)},
    "a list of paragraphs": {128: (35, 4), 256: (34, 4)},
    "a table": {128: (35, 5), 256: (29, 3)},
}


@pytest.mark.slow
@pytest.mark.parametrize("budget", [128, 256])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_edits_move_few_cuts(name: str, budget: int) -> None:
    counts = [*embedded_again(name, Chunker(max_tokens=budget, overlap=0), seed=1)]
    total, most = FIGURES[name][budget]
    assert len(counts) == EDITS
    assert (sum(counts) <= total, max(counts) <= most) == (True, True), counts
