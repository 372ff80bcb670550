"""The compared chunkers, and the budgets that give their chunks one mean size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tests.bench.contenders import named, own_name, peers
from tests.bench.retrieval.dataset import Dataset

__all__ = ("Chunked", "Piece", "Sizes", "compared")

Count = Callable[[str], int]
_STEPS = 7  # at most so many budgets are tried for one size
_MOST = 6  # no budget is tried above this multiple of the mean
_NEAR = 0.005  # and a mean size this share off is near enough


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk: ``[start, end)`` of a document in code points, and the text that is embedded."""

    document: int
    start: int
    end: int
    tokens: int
    embedded: str


@dataclass(frozen=True, slots=True)
class Chunked:
    """The chunks of all documents on which the chunker did not raise."""

    budget: int
    pieces: tuple[Piece, ...]

    @property
    def mean(self) -> float:
        """The mean size of a chunk's own text in tokens."""
        return sum(piece.tokens for piece in self.pieces) / max(len(self.pieces), 1)


def compared(encoding: str, skip: Callable[[str], object]) -> list[str]:
    """Return the names of chunkast without overlap, with and without context, and of the peers."""
    own = [own_name("sections", 0.0, context) for context in ("headings", "none")]
    return [*own, *(contender.name for contender in peers(512, encoding, skip))]


class Sizes:
    """A cache of the chunks of each contender, by budget or by mean size."""

    def __init__(self, dataset: Dataset, encoding: str, count: Count) -> None:
        self._texts = dataset.texts
        self._encoding = encoding
        self._count = cache(count)
        self._known: dict[str, dict[int, Chunked]] = {}

    def at(self, contender: str, budget: int) -> Chunked:
        """Return the chunks at a budget in tokens."""
        known = self._known.setdefault(contender, {})
        if budget not in known:
            known[budget] = self._cut(contender, budget)
        return known[budget]

    def of_mean(self, contender: str, mean: float) -> Chunked:
        """Return the chunks with the mean size nearest to ``mean`` among the budgets tried."""
        known = self._known.setdefault(contender, {})
        for _ in range(_STEPS):
            budget = self._next(known, mean)
            if budget in known:
                break
            if abs(self.at(contender, budget).mean / mean - 1) < _NEAR:
                break
        return min(known.values(), key=lambda chunked: abs(chunked.mean - mean))

    @staticmethod
    def _next(known: dict[int, Chunked], mean: float) -> int:
        """Return a budget between the two whose means enclose ``mean``, or beyond the last one."""
        if not known:
            return round(mean * 1.5)
        below = max((b for b, c in known.items() if c.mean <= mean), default=None)
        above = min((b for b, c in known.items() if c.mean > mean), default=None)
        if below is None or above is None:
            # Some never make chunks so large: no budget beyond the last one helps them.
            end = min(known) if below is None else max(known)
            return min(round(end * min(max(mean / known[end].mean, 0.5), 2)), round(mean * _MOST))
        low, high = known[below].mean, known[above].mean
        return round(below + (above - below) * (mean - low) / (high - low))

    def _cut(self, contender: str, budget: int) -> Chunked:
        chunker = named(contender, budget, self._encoding).make()
        pieces: list[Piece] = []
        for number, text in enumerate(self._texts):
            try:
                embedded, places = chunker.chunk(text), chunker.places(text)
            except Exception:
                if contender.startswith("chunkast"):
                    raise
                continue
            at = 0
            for shown, (stated, _, own) in zip(embedded, places, strict=True):
                right = stated is not None and text.startswith(own, stated)
                start = stated if right else text.find(own, at)
                if start is not None and start >= 0:
                    at = start + len(own)
                    pieces.append(Piece(number, start, at, self._count(own), shown))
        return Chunked(budget, tuple(pieces))
