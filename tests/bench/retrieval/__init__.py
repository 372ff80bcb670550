"""Retrieval: how much of what answers a question is found, chunkast beside its peers.

Own questions over documents of pinned packages (:mod:`tests.bench.retrieval.dataset`), which
are fetched into a cache. Every chunker is compared at the mean size of chunk that chunkast's
defaults have, at several neighbouring budgets, as one alone is a matter of luck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import fmean

import tiktoken

from tests.bench.facts import Source
from tests.bench.retrieval.chunkers import Chunked, Sizes, Variant, variants
from tests.bench.retrieval.dataset import Dataset, fixtures, load
from tests.bench.retrieval.rankers import Dense, fused, lexical
from tests.bench.retrieval.scores import DEPTHS, Scores, cut_by, interval, mean_scores, score
from tests.bench.retrieval.structure import KINDS, structure
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "run")

KEY = "retrieval"
# Chunks whose mean size is this share off are not compared.
_FAR = 0.05
# Neighbouring budgets of chunkast's defaults; the others follow its mean sizes.
BUDGETS: dict[int, tuple[int, ...]] = {
    200: (190, 200, 210, 220),
    400: (380, 393, 406, 420),
    800: (760, 787, 813, 840),
}


def run(setting: Setting) -> Iterator[Table]:
    """Yield tables of recall by size, of recall by kind of excerpt, and of structure by size."""
    cache = setting.cache
    dataset = fixtures() if setting.smoke else load(setting.half, cache / "files", setting.say)
    bench = _Bench(dataset, setting)
    everyone = variants(setting.encoding, setting.say)
    found: dict[tuple[int, str], Scores] = {}
    for size, budgets in _budgets(setting).items():
        yield bench.table(size, budgets, everyone, found)
    yield bench.by_kind(everyone, found)
    for size in _budgets(setting):
        yield bench.structure(size, everyone)


def _budgets(setting: Setting) -> dict[int, tuple[int, ...]]:
    return {64: (64,)} if setting.smoke else BUDGETS


class _Bench:
    def __init__(self, dataset: Dataset, setting: Setting) -> None:
        self.dataset = dataset
        self.setting = setting
        self.encoding = tiktoken.get_encoding(setting.encoding)
        self.sizes = Sizes(dataset, setting.encoding, self._count)
        self.asked = [question.text for question in dataset.questions]
        self.groups = [question.document for question in dataset.questions]
        self.dense = self._dense()

    def _dense(self) -> Dense | None:
        if self.setting.smoke:
            return None  # the model would have to be fetched
        if missing := Dense.missing():
            self.setting.say(f"{missing} is not installed: ranked by words alone")
            return None
        return Dense(self.setting.cache / "files", self.setting.say)

    def _count(self, text: str) -> int:
        return len(self.encoding.encode_ordinary(text))

    def table(
        self,
        size: int,
        budgets: tuple[int, ...],
        everyone: list[Variant],
        found: dict[tuple[int, str], Scores],
    ) -> Table:
        """Return the recall of each variant at the mean chunk sizes of the first one at ``budgets``."""
        first = everyone[0]
        means = [self.sizes.at(first, budget).mean for budget in budgets]
        rows: list[tuple[Cell, ...]] = []
        for variant in everyone:
            self.setting.say(f"{KEY}: {size} tokens, {variant.name}")
            chunked = [self.sizes.of_mean(variant, mean) for mean in means]
            if variant == first:
                chunked = [self.sizes.at(first, budget) for budget in budgets]
            scores = mean_scores([self._score(one) for one in chunked])
            found[size, variant.name] = scores
            rows.append(self._row(variant, chunked, fmean(means), scores, found[size, first.name]))
        return Table(
            f"{KEY}, {self.dataset.name}, {size}",
            f"Retrieval around {size} tokens",
            f"{len(self.dataset.questions)} questions over {len(self.dataset.texts)} documents "
            f"({self.dataset.name}). Each at {len(budgets)} budgets at which its chunks have the "
            f"mean size that chunkast's defaults without overlap have at "
            f"{', '.join(map(str, budgets))}.",
            (
                ("", ""),
                ("budgets", ""),
                ("mean size", ".0f"),
                ("recall", ".3f"),
                ("to the first", ""),
                *((name, ".3f") for name in self._rankers()),
                *((f"{depth:,}", ".3f") for depth in DEPTHS),
                ("precision", ".3f"),
                ("IoU", ".3f"),
                ("whole", ".1%"),
            ),
            tuple(rows),
            _HOW,
        )

    def _rankers(self) -> tuple[str, ...]:
        return ("BM25", "dense", "fused") if self.dense else ("BM25",)

    def _score(self, chunked: Chunked) -> Scores:
        texts = [piece.embedded for piece in chunked.pieces]
        rankings = {"BM25": lexical(texts, self.asked)}
        if self.dense:
            rankings["dense"] = self.dense.rank(texts, self.asked)
            rankings["fused"] = fused(rankings["BM25"], rankings["dense"])
        return score(self.dataset, chunked, rankings, cut_by(self.encoding))

    def _row(
        self, variant: Variant, chunked: list[Chunked], aim: float, scores: Scores, first: Scores
    ) -> tuple[Cell, ...]:
        recall = scores.by_question()
        against = first.by_question()
        difference, low, high = interval(recall, against, self.groups)
        shown = f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]"
        mean = fmean(one.mean for one in chunked)
        if abs(mean / aim - 1) > _FAR:
            shown = "not of this size"
        return (
            variant.name,
            ", ".join(str(one.budget) for one in chunked),
            mean,
            fmean(recall),
            None if scores is first else shown,
            *(fmean(scores.by_question(ranker=name)) for name in self._rankers()),
            *(fmean(scores.by_question(depth=depth)) for depth in DEPTHS),
            fmean(scores.precision),
            fmean(scores.iou),
            fmean(scores.whole),
        )

    def by_kind(self, everyone: list[Variant], found: dict[tuple[int, str], Scores]) -> Table:
        """Return recall by kind of excerpt, the mean over the sizes."""
        kinds = sorted({question.kind for question in self.dataset.questions})
        sizes = sorted({size for size, _ in found})
        rows: list[tuple[Cell, ...]] = []
        for variant in everyone:
            each = [found[size, variant.name].by_question() for size in sizes]
            values = [fmean(several) for several in zip(*each, strict=True)]
            by_kind = zip(self.dataset.questions, values, strict=True)
            of_kind: dict[str, list[float]] = {kind: [] for kind in kinds}
            for question, value in by_kind:
                of_kind[question.kind].append(value)
            rows.append((variant.name, *(fmean(of_kind[kind]) for kind in kinds)))
        numbers = Counter(question.kind for question in self.dataset.questions)
        return Table(
            f"{KEY}, {self.dataset.name}, kinds",
            "Recall by what is asked for",
            f"The mean over the sizes {', '.join(map(str, sizes))}.",
            (("", ""), *((f"{kind} ({numbers[kind]})", ".3f") for kind in kinds)),
            tuple(rows),
        )

    def structure(self, budget: int, everyone: list[Variant]) -> Table:
        """Return the shares of fitting blocks that are cut, and sizes of chunks, at one budget."""
        rows: list[tuple[Cell, ...]] = []
        sources = [Source(text) for text in self.dataset.texts]

        def fits(text: str) -> bool:
            return self._count(text) <= budget

        for variant in everyone:
            if variant.path:
                continue  # the cuts are those of another row
            total = Counter[str]()
            chunked = self.sizes.at(variant, budget)
            for number, source in enumerate(sources):
                own = [piece for piece in chunked.pieces if piece.document == number]
                total += structure(source, own, budget, fits)
            rows.append((variant.name, *_structure_row(total, budget)))
        return Table(
            f"{KEY}, {self.dataset.name}, structure {budget}",
            f"Structure at {budget} tokens",
            "The same documents and one budget for all. Of each kind the share that no chunk holds whole, of those that fit.",
            (
                ("", ""),
                ("chunks", ",d"),
                ("fill", ".1%"),
                ("below 10 %", ".1%"),
                ("below 25 %", ".1%"),
                ("says nothing", ".2%"),
                *((f"{kind} of {total[kind]:,}", ".2%") for kind in KINDS),
            ),
            tuple(rows),
        )


def _structure_row(total: Counter[str], budget: int) -> tuple[Cell, ...]:
    chunks = max(total["chunks"], 1)
    return (
        total["chunks"],
        total["tokens"] / chunks / budget,
        total["below 10 %"] / chunks,
        total["below 25 %"] / chunks,
        total["silent"] / chunks,
        *(total[f"{kind} cut"] / total[kind] if total[kind] else None for kind in KINDS),
    )


_HOW = (
    (
        "*recall*: the share of the excerpt's characters that is delivered, the mean over the "
        "rankers and over 500, 1,000 and 2,000 delivered tokens of the chunks' own text, the last "
        "chunk cut to fit; each of these means is a column too."
    ),
    (
        "*to the first*: the difference from the first row and its 95 % interval, by a paired "
        "bootstrap over documents. *not of this size*: no budget gives such large chunks."
    ),
    (
        "*BM25*: of SQLite's FTS5, on stems. Where the libraries are installed, *dense*: all-MiniLM-L6-v2 with 8-bit weights, the "
        "mean of a chunk's windows of 256 tokens. *fused*: both, by reciprocal ranks."
    ),
    "*precision*, *IoU*: of the first five chunks, in characters, as Chroma's evaluation has them.",
    "*whole*: excerpts that lie in one chunk.",
)
