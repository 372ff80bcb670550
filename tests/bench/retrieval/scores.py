"""Scores of retrieval, and confidence intervals of their differences."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from tiktoken import Encoding

from tests.bench.retrieval.chunkers import Chunked, Piece
from tests.bench.retrieval.dataset import Dataset, Question

__all__ = ("DEPTHS", "Scores", "cut_by", "interval", "mean_scores", "overlap", "score")

# Tokens that are delivered for a question; the last chunk is cut to fit.
DEPTHS = (500, 1_000, 2_000)
_RESAMPLES = 2_000

Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Scores:
    """The recall of each question, from 0 to 1, by ranker and depth."""

    recall: dict[tuple[str, int], list[float]]

    def by_question(self, *, ranker: str | None = None, depth: int | None = None) -> list[float]:
        """Return the mean recall over the rankers and depths that are not given."""
        kept = [
            values
            for (name, tokens), values in self.recall.items()
            if ranker in (None, name) and depth in (None, tokens)
        ]
        return [fmean(values) for values in zip(*kept, strict=True)]


def cut_by(encoding: Encoding) -> Callable[[str, int], int]:
    """Return a function that counts the characters of a text's first tokens, for :func:`score`."""

    def cut(text: str, tokens: int) -> int:
        kept = encoding.encode_ordinary(text)[:tokens]
        return len(encoding.decode_bytes(kept).decode(errors="ignore"))

    return cut


def score(
    dataset: Dataset,
    chunked: Chunked,
    rankings: dict[str, list[list[int]]],
    cut: Callable[[str, int], int],
) -> Scores:
    """Score rankings of the pieces by the share of each question's excerpt that they find.

    ``cut(text, n)`` is how many characters the first ``n`` tokens of a text have.
    """
    recall: dict[tuple[str, int], list[float]] = {}
    for name, ranking in rankings.items():
        for question, order in zip(dataset.questions, ranking, strict=True):
            text = dataset.texts[question.document]
            ordered = [chunked.pieces[number] for number in order]
            for depth in DEPTHS:
                spans = _delivered(ordered, question.document, depth, dataset.texts, cut)
                recall.setdefault((name, depth), []).append(overlap(text, question, spans))
    return Scores(recall)


def _delivered(
    ordered: Sequence[Piece],
    document: int,
    depth: int,
    texts: Sequence[str],
    cut: Callable[[str, int], int],
) -> Spans:
    """Return the spans of a document in the first ``depth`` tokens of the chunks in this order."""
    spans: Spans = []
    for piece in ordered:
        if piece.document == document:
            end = piece.end
            if piece.tokens > depth:
                end = piece.start + cut(texts[document][piece.start : piece.end], depth)
            spans.append((piece.start, end))
        depth -= piece.tokens
        if depth <= 0:
            break
    return spans


def overlap(text: str, question: Question, spans: Spans) -> float:
    """Return the share of the excerpt's characters, without white space, that the spans cover."""
    solid = [at for at in range(question.start, question.end) if not text[at].isspace()]
    near = [span for span in spans if span[0] < question.end and span[1] > question.start]
    return sum(any(start <= at < end for start, end in near) for at in solid) / len(solid)


def mean_scores(several: Sequence[Scores]) -> Scores:
    """Return the mean over several budgets, question by question."""
    recall = {
        key: [fmean(values) for values in zip(*(one.recall[key] for one in several), strict=True)]
        for key in several[0].recall
    }
    return Scores(recall)


def interval(
    one: Sequence[float], other: Sequence[float], groups: Sequence[int]
) -> tuple[float, float, float]:
    """Return the mean of ``one - other`` and its 95 % interval, by a paired bootstrap over groups.

    ``groups`` are the documents of the values: questions of one document are not independent.
    """
    sums: dict[int, tuple[float, int]] = {}
    for a, b, group in zip(one, other, groups, strict=True):
        total, number = sums.get(group, (0.0, 0))
        sums[group] = total + a - b, number + 1
    chance = random.Random(1)
    rows = list(sums.values())
    means = []
    for _ in range(_RESAMPLES):
        drawn = chance.choices(rows, k=len(rows))
        means.append(sum(total for total, _ in drawn) / sum(number for _, number in drawn))
    means.sort()
    low, high = means[round(_RESAMPLES * 0.025)], means[round(_RESAMPLES * 0.975) - 1]
    return fmean(one) - fmean(other), low, high
