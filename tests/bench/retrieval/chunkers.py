"""The compared variants, and the budgets that give their chunks one mean size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from tests.bench.contenders import named, own_name, peers
from tests.bench.facts import Source
from tests.bench.retrieval.dataset import Dataset

__all__ = ("Chunked", "Piece", "Sizes", "Variant", "variants")

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
    """The chunks of all documents. ``failed`` counts documents on which the chunker raised."""

    budget: int
    pieces: tuple[Piece, ...]
    failed: int

    @property
    def mean(self) -> float:
        """The mean size of a chunk's own text in tokens."""
        return sum(piece.tokens for piece in self.pieces) / max(len(self.pieces), 1)


@dataclass(frozen=True, slots=True)
class Variant:
    """A chunker by its contender's name.

    With ``path`` the heading path of each chunk is put before the text that is embedded,
    outside the budget, as any user could.
    """

    contender: str
    path: bool = False

    @property
    def name(self) -> str:
        return self.contender + (", heading path outside" if self.path else "")


def variants(encoding: str, skip: Callable[[str], object]) -> list[Variant]:
    """Return chunkast's defaults without overlap, its cuts without context, then the peers."""
    bare = own_name("sections", 0.0, "none")
    found = [Variant(own_name("sections", 0.0, "headings")), Variant(bare), Variant(bare, True)]
    for contender in peers(512, encoding, skip):
        found.append(Variant(contender.name))
        if contender.name.startswith("semantic-text-splitter"):
            found.append(Variant(contender.name, path=True))
    return found


class Sizes:
    """A cache of the chunks of each variant, by budget or by mean size."""

    def __init__(self, dataset: Dataset, encoding: str, count: Count) -> None:
        self._texts = dataset.texts
        self._encoding = encoding
        self._count = cache(count)
        self._paths = [_Paths(text) for text in dataset.texts]
        self._known: dict[str, dict[int, Chunked]] = {}

    def at(self, variant: Variant, budget: int) -> Chunked:
        """Return the chunks at a budget in tokens."""
        known = self._known.setdefault(variant.contender, {})
        if budget not in known:
            known[budget] = self._cut(variant.contender, budget)
        return self._with_paths(known[budget]) if variant.path else known[budget]

    def of_mean(self, variant: Variant, mean: float) -> Chunked:
        """Return the chunks with the mean size nearest to ``mean`` among the budgets tried."""
        known = self._known.setdefault(variant.contender, {})
        for _ in range(_STEPS):
            budget = self._next(known, mean)
            if budget in known:
                break
            if abs(self.at(variant, budget).mean / mean - 1) < _NEAR:
                break
        best = min(known.values(), key=lambda chunked: abs(chunked.mean - mean))
        return self.at(variant, best.budget)

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
        ways = named(contender, budget, self._encoding).ways
        assert ways is not None
        chunker = ways()
        pieces: list[Piece] = []
        failed = 0
        for number, text in enumerate(self._texts):
            try:
                embedded, places = chunker.chunk(text), chunker.places(text)
            except Exception:
                if contender.startswith("chunkast"):
                    raise
                failed += 1
                continue
            at = 0
            for shown, (stated, _, own) in zip(embedded, places, strict=True):
                right = stated is not None and text.startswith(own, stated)
                start = stated if right else text.find(own, at)
                if start is not None and start >= 0:
                    at = start + len(own)
                    pieces.append(Piece(number, start, at, self._count(own), shown))
        return Chunked(budget, tuple(pieces), failed)

    def _with_paths(self, chunked: Chunked) -> Chunked:
        return replace(
            chunked,
            pieces=tuple(
                replace(
                    piece, embedded=self._paths[piece.document].before(piece.start) + piece.embedded
                )
                for piece in chunked.pieces
            ),
        )


class _Paths:
    """The headings of one document, as found by markdown-it-py."""

    def __init__(self, text: str) -> None:
        self._headings: Sequence[tuple[int, int, str]] = list(Source(text).titles())

    def before(self, start: int) -> str:
        """Return the heading path at a position, outermost first, and a blank line."""
        path: list[tuple[int, str]] = []
        for position, level, title in self._headings:
            if position > start:
                break
            path = [*(outer for outer in path if outer[0] < level), (level, title)]
        return " > ".join(title for _, title in path) + "\n\n" if path else ""
