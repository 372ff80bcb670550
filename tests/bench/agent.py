"""Agent: how much of an answer an agent has read after a few calls of ``chunkast mcp``.

The questions and documents are those of the retrieval benchmark. The tools answer as they do over
stdio, and what an agent has read is taken from the text of the answers.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

from chunkast import ChunkastError, Chunker
from chunkast.text.source_map import line_starts
from tests.bench.retrieval.dataset import Dataset, fixtures, load
from tests.bench.retrieval.rankers import Dense
from tests.bench.retrieval.scores import overlap
from tests.bench.search import INDEXES, filled, named
from tests.bench.tables import Cell, Setting, Table

if TYPE_CHECKING:
    from chunkast.mcp.index_answers import Answers

__all__ = ("KEY", "run", "spans_read")

KEY = "agent"
# The answer is read if an agent has at least this share of it.
_ENOUGH = 0.5
# The line above a passage or a place, or the first of a page.
_HEAD = re.compile(
    r"^(?P<source>\d+):(?P<first>\d+)-\d+  .*?(?:id=(?P<id>\S+)|tokens?)$", re.MULTILINE
)
# The line below the last passage, if there is no place.
_MORE = re.compile(r"\n\n[\d,]+ more places?: .*\Z")
_NUMBERED = re.compile(r"^(\d+)\t(.*)$", re.MULTILINE)

# The names of the walks, each with the tokens of its search and of its reads of the first hits.
WALKS = {
    "one search of 1,000 tokens": (1_000, ()),
    "and one `read` of 500": (1_000, (500,)),
    "one search of 500, two `read` of 350": (500, (350, 350)),
}

Span = tuple[int, int, int]


def run(setting: Setting) -> Iterator[Table]:
    """Yield one table with a row for each index and walk; nothing without the package ``mcp``."""
    if find_spec("mcp") is None:
        setting.say(f"{KEY}: mcp is not installed")
        return
    from chunkast.mcp.index_answers import Answers

    dataset = (
        fixtures() if setting.smoke else load(setting.half, setting.cache / "files", setting.say)
    )
    rows: list[tuple[Cell, ...]] = []
    dense = None
    if not setting.smoke and Dense.missing() is None:
        dense = Dense(setting.cache / "files", setting.say)
    for options in INDEXES[: 1 if setting.smoke else None]:
        chunker = Chunker(encoding=setting.encoding, **options)
        with filled(dataset, setting, options, dense) as store:
            ways = [("words", Answers(store, chunker))]
            if dense is not None:
                ways.append(("words and vectors", Answers(store, chunker, dense.vector)))
            for (way, served), (walk, (most, reads)) in product(ways, WALKS.items()):
                setting.say(f"{KEY}: {named(options)}, {way}, {walk}")
                answers = [
                    list(_walk(served, question.text, most, reads))
                    for question in dataset.questions
                ]
                tokens = [sum(map(chunker.counter.count, texts)) for texts in answers]
                figures = _figures(dataset, answers)
                rows.append(
                    (f"{named(options)}, {way}: {walk}", *figures, fmean(tokens), max(tokens))
                )
    yield Table(
        f"{KEY}, {dataset.name}",
        "What an agent has read",
        f"{len(dataset.questions)} questions over {len(dataset.texts)} documents ({dataset.name}).",
        (("", ""), ("half", ".3f"), ("share", ".3f"), ("tokens", ",.0f"), ("at most", ",")),
        tuple(rows),
        (_HOW,),
    )


_HOW = (
    "*half*: the share of the questions of which the agent has read at least half of the excerpt. "
    "*share*: the mean share of the excerpt that it has read. *tokens*, *at most*: the tokens of "
    "all answers of a walk, the mean and the most."
)


def _walk(served: Answers, question: str, most: int, reads: tuple[int, ...]) -> Iterator[str]:
    """Yield the answers of a search, and of reading the first hits by their ids."""
    found = asyncio.run(served.search(query=question, max_tokens=most))
    yield found
    ids = [head["id"] for head in _HEAD.finditer(found) if head["id"]]
    for identity, tokens in zip(ids, reads, strict=False):
        try:
            yield asyncio.run(served.read(id=identity, max_tokens=tokens))
        except ChunkastError as error:  # the server answers with it, too
            yield str(error)


def _figures(dataset: Dataset, answers: list[list[str]]) -> tuple[float, float]:
    """Return the share of the questions that are answered, and the mean share of an excerpt."""
    shares = []
    for question, texts in zip(dataset.questions, answers, strict=True):
        spans = [span for text in texts for span in spans_read(text, dataset.texts)]
        here = [(start, end) for document, start, end in spans if document == question.document]
        shares.append(overlap(dataset.texts[question.document], question, here))
    return fmean(share >= _ENOUGH for share in shares), fmean(shares)


def spans_read(answer: str, documents: tuple[str, ...]) -> Iterator[Span]:
    """Yield the number of a document and the span of each passage and numbered line in an answer."""
    heads = list(_HEAD.finditer(answer))
    ends = [*(head.start() for head in heads[1:]), len(answer)]
    for head, end in zip(heads, ends, strict=False):
        number = int(head["source"])
        document, body = documents[number], _MORE.sub("", answer[head.end() : end]).strip("\n")
        starts = line_starts(document)
        if head["id"]:
            at = document.find(body, starts[int(head["first"]) - 1]) if body else -1
            if at >= 0:
                yield number, at, at + len(body)
            continue
        for line in _NUMBERED.finditer(body):
            at = document.find(line[2], starts[int(line[1]) - 1])
            if at >= 0 and bisect_right(starts, at) == int(line[1]):
                yield number, at, at + len(line[2])
