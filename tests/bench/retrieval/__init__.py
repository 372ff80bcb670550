"""Retrieval: how much of what answers a question is found, chunkast beside its peers.

Own questions over documents of pinned packages (:mod:`tests.bench.retrieval.dataset`), which
are fetched into a cache. Every chunker is compared at the mean size of chunk that chunkast's
defaults have, at several neighbouring budgets, as one alone is a matter of luck.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

import tiktoken

from tests.bench.retrieval.chunkers import Chunked, Sizes, compared
from tests.bench.retrieval.dataset import Dataset, fixtures, load
from tests.bench.retrieval.rankers import Dense, fused, lexical
from tests.bench.retrieval.scores import DEPTHS, Scores, cut_by, interval, mean_scores, score
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
    """Yield a table of recall for each size."""
    cache = setting.cache
    dataset = fixtures() if setting.smoke else load(setting.half, cache / "files", setting.say)
    bench = _Bench(dataset, setting)
    everyone = compared(setting.encoding, setting.say)
    for size, budgets in ({64: (64,)} if setting.smoke else BUDGETS).items():
        yield bench.table(size, budgets, everyone)


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

    def table(self, size: int, budgets: tuple[int, ...], everyone: list[str]) -> Table:
        """Return the recall of each contender at the mean chunk sizes of the first one at ``budgets``."""
        first = everyone[0]
        means = [self.sizes.at(first, budget).mean for budget in budgets]
        found: list[tuple[list[Chunked], Scores]] = []
        for contender in everyone:
            self.setting.say(f"{KEY}: {size} tokens, {contender}")
            chunked = [self.sizes.of_mean(contender, mean) for mean in means]
            if contender == first:
                chunked = [self.sizes.at(first, budget) for budget in budgets]
            found.append((chunked, mean_scores([self._score(one) for one in chunked])))
        rows = (
            self._row(contender, chunked, fmean(means), scores, found[0][1])
            for contender, (chunked, scores) in zip(everyone, found, strict=True)
        )
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
        self, contender: str, chunked: list[Chunked], aim: float, scores: Scores, first: Scores
    ) -> tuple[Cell, ...]:
        recall = scores.by_question()
        against = first.by_question()
        difference, low, high = interval(recall, against, self.groups)
        shown = f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]"
        mean = fmean(one.mean for one in chunked)
        if abs(mean / aim - 1) > _FAR:
            shown = "not of this size"
        return (
            contender,
            ", ".join(str(one.budget) for one in chunked),
            mean,
            fmean(recall),
            None if scores is first else shown,
            *(fmean(scores.by_question(ranker=name)) for name in self._rankers()),
            *(fmean(scores.by_question(depth=depth)) for depth in DEPTHS),
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
)
