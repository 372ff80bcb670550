"""Search: the answers that an index returns within a budget, and how well it ranks its chunks.

The questions and documents are those of the retrieval benchmark. The ranking is compared with BM25
of bm25s over the same chunks. Titles of sections that occur once are queries too, bare and in a
question; the best hit must be the chunk with that section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from random import Random
from statistics import fmean, median
from time import perf_counter
from typing import Any

import tiktoken

from chunkast import Chunk, Chunker
from chunkast.index import Hit, Store
from tests.bench.retrieval.chunkers import Chunked, Piece
from tests.bench.retrieval.dataset import Dataset, Question, fixtures, load
from tests.bench.retrieval.rankers import Dense
from tests.bench.retrieval.scores import DEPTHS, cut_by, overlap, score
from tests.bench.tables import Cell, Setting, Table

__all__ = ("INDEXES", "KEY", "filled", "named", "recall_of", "run")

KEY = "search"
_SIZES = (200, 400, 800)
_TITLES = 300
_QUESTION = "how does {} work?"
# Hits of a query; more than the benchmark delivers.
_DEPTH = 60
_EXPAND = 500
_MODEL = "all-MiniLM-L6-v2"
# The options of the indexes that are searched for answers.
INDEXES: tuple[dict[str, Any], ...] = (
    {"max_tokens": 900, "overlap": 0.15},
    {"max_tokens": 384, "overlap": 0},
    {"max_tokens": 256, "overlap": 0},
    {"max_tokens": 192, "overlap": 0},
)

_ANSWERS = (
    "*500*, *1,000*, *2,000*: the share of the excerpt's characters in the hits of "
    "`Store.search` with that budget. *first*, *first three*: how often these hits at 2,000 tokens "
    "have a part of the excerpt. *ms*: the median time of a search at 2,000 tokens."
)
_RECALL = (
    "*recall*: as in the retrieval benchmark, the mean over 500, 1,000 and 2,000 delivered tokens."
)
_FIRST = (
    f'*title first*, *in a question* ("{_QUESTION}"): how often the chunk in which the section begins '
    "is the best hit, the mean over the sizes."
)

# The numbers of the best chunks for a query, in order.
Search = Callable[[str], list[int]]


def run(setting: Setting) -> Iterator[Table]:
    """Yield a table of the answers of each index, and one with a row for each way to rank."""
    dataset = (
        fixtures() if setting.smoke else load(setting.half, setting.cache / "files", setting.say)
    )
    yield _answers(dataset, setting)
    yield _rankings(dataset, setting)


def _answers(dataset: Dataset, setting: Setting) -> Table:
    """Return the table of the answers within a budget, with a row for each index and expansion."""
    rows: list[tuple[Cell, ...]] = []
    for options in INDEXES[: 1 if setting.smoke else None]:
        name = named(options)
        setting.say(f"{KEY}: {name}")
        with filled(dataset, setting, options) as store:
            for expand in (None, _EXPAND):
                shown = name if expand is None else f"{name}, `expand={expand}`"
                rows.append((shown, *_found(dataset, store, expand)))
    return Table(
        f"{KEY}, answers, {dataset.name}",
        "Answers of a search",
        f"{len(dataset.questions)} questions over {len(dataset.texts)} documents ({dataset.name}).",
        (
            ("", ""),
            *((f"{depth:,}", ".3f") for depth in DEPTHS),
            ("first", ".3f"),
            ("first three", ".3f"),
            ("ms", ".0f"),
        ),
        tuple(rows),
        (_ANSWERS,),
    )


def named(options: dict[str, Any]) -> str:
    """Return the name of an index with these options."""
    overlap = f"{options['overlap']:.0%} overlap" if options["overlap"] else "no overlap"
    return f"{options['max_tokens']} tokens, {overlap}"


def filled(
    dataset: Dataset, setting: Setting, options: dict[str, Any], dense: Dense | None = None
) -> Store:
    """Return an index in memory of the documents, which are named by their numbers.

    It has the vectors of ``dense``.
    """
    store = Store(":memory:", create=True)
    named = [(str(number), text) for number, text in enumerate(dataset.texts)]
    chunker = Chunker(encoding=setting.encoding, **options)
    if dense is None:
        store.update(named, chunker)
    else:
        store.update(named, chunker, embed=dense.embed, model=_MODEL)
    return store


def _found(dataset: Dataset, store: Store, expand: int | None) -> Iterator[float]:
    """Yield the figures of a row of :func:`_answers`."""
    times: list[float] = []
    for depth in DEPTHS:
        answers: list[list[Hit]] = []
        times.clear()
        for question in dataset.questions:
            started = perf_counter()
            answers.append(store.search(question.text, depth, expand=expand))
            times.append(1_000 * (perf_counter() - started))
        asked = list(zip(dataset.questions, answers, strict=True))
        yield fmean(recall_of(dataset, question, hits) for question, hits in asked)
    for first in (1, 3):
        yield fmean(recall_of(dataset, question, hits[:first]) > 0 for question, hits in asked)
    yield median(times)


def recall_of(dataset: Dataset, question: Question, hits: Sequence[Hit]) -> float:
    """Return the share of a question's excerpt in the hits."""
    here = str(question.document)
    spans = [(hit.start_index, hit.end_index) for hit in hits if hit.source == here]
    return overlap(dataset.texts[question.document], question, spans)


def _rankings(dataset: Dataset, setting: Setting) -> Table:
    """Return the table with a row for each way to rank."""
    cut = cut_by(tiktoken.get_encoding(setting.encoding))
    found: dict[str, list[float]] = {}
    dense = None
    if not setting.smoke and Dense.missing() is None:
        dense = Dense(setting.cache / "files", setting.say)
    for size in _SIZES[: 1 if setting.smoke else None]:
        setting.say(f"{KEY}: {size} tokens")
        chunker = Chunker(encoding=setting.encoding, max_tokens=size, overlap=0)
        named = [(str(number), text) for number, text in enumerate(dataset.texts)]
        chunks = list(chunker.iter_chunks(named))
        pieces = tuple(_piece(chunk, chunker) for chunk in chunks)
        titles = _titles(chunker, named, chunks)
        with Store(":memory:", create=True) as store:
            store.update(named, chunker)
            if dense is not None:
                store.update(named, chunker, embed=dense.embed, model=_MODEL)
            for name, search in _searches(store, chunks, dense):
                ranking = [search(question.text) for question in dataset.questions]
                scores = score(dataset, Chunked(size, pieces), {name: ranking}, cut)
                firsts = [
                    fmean(search(form.format(title))[:1] == [number] for title, number in titles)
                    for form in ("{}", _QUESTION)
                ]
                found.setdefault(name, []).extend((fmean(scores.by_question()), *firsts))
    return _table(dataset, found, len(titles))


def _piece(chunk: Chunk, chunker: Chunker) -> Piece:
    tokens = chunker.counter.count(chunk.text)
    return Piece(
        int(chunk.source or 0), chunk.start_index, chunk.end_index, tokens, chunk.embed_text
    )


def _titles(
    chunker: Chunker, named: Sequence[tuple[str, str]], chunks: Sequence[Chunk]
) -> list[tuple[str, int]]:
    """Return titles that one section has, with the number of the chunk in which it begins."""
    headings = [
        (heading.title, source, heading.start)
        for source, text in named
        for heading in chunker.analyze(text).headings
        if heading.title.strip()
    ]
    times = Counter(title.casefold() for title, _, _ in headings)
    places = {
        (chunk.source, start): number
        for number, chunk in enumerate(chunks)
        for start in chunk.section_starts
    }
    once = [
        (title, places[source, start])
        for title, source, start in headings
        if times[title.casefold()] == 1 and (source, start) in places
    ]
    return Random(0).sample(sorted(once), min(_TITLES, len(once)))


def _searches(
    store: Store, chunks: Sequence[Chunk], dense: Dense | None
) -> Iterator[tuple[str, Search]]:
    numbers = {(chunk.source, chunk.index): number for number, chunk in enumerate(chunks)}
    by_id = {chunk.id: numbers[chunk.source, chunk.index] for chunk in chunks}
    yield (
        "chunkast index",
        lambda query: [by_id[hit.id] for hit in store.search(query, 10**9, limit=_DEPTH)],
    )
    if dense is not None:
        embed = dense.vector
        for name, words in ((_MODEL, False), ("chunkast index, words and vectors", True)):

            def search(query: str, *, words: bool = words) -> list[int]:
                shown = query if words else ""
                hits = store.search(shown, 10**9, limit=_DEPTH, vector=embed(query))
                return [by_id[hit.id] for hit in hits]

            yield name, search
    if find_spec("bm25s") and find_spec("Stemmer"):
        yield "bm25s, text", _bm25s([chunk.text for chunk in chunks])
        yield "bm25s, text with heading path", _bm25s([chunk.embed_text for chunk in chunks])


def _bm25s(texts: list[str]) -> Search:
    bm25s = import_module("bm25s")
    how = {
        "stopwords": "en",
        "stemmer": import_module("Stemmer").Stemmer("english"),
        "show_progress": False,
    }
    ranker = bm25s.BM25()
    ranker.index(bm25s.tokenize(texts, **how), show_progress=False)

    def search(query: str) -> list[int]:
        words = bm25s.tokenize([query], **how)
        [best], [scores] = ranker.retrieve(words, k=min(_DEPTH, len(texts)), show_progress=False)
        return [int(number) for number, value in zip(best, scores, strict=True) if value > 0]

    return search


def _table(dataset: Dataset, found: dict[str, list[float]], titles: int) -> Table:
    sizes = _SIZES[: len(next(iter(found.values()))) // 3]
    rows: list[tuple[Cell, ...]] = [
        (name, *values[::3], fmean(values[1::3]), fmean(values[2::3]))
        for name, values in found.items()
    ]
    return Table(
        f"{KEY}, {dataset.name}",
        "Ranking of a search",
        f"{len(dataset.questions)} questions over {len(dataset.texts)} documents ({dataset.name}), "
        f"and {titles} titles of sections as queries. Chunks of the defaults without overlap.",
        (
            ("", ""),
            *((f"recall at {size}", ".3f") for size in sizes),
            ("title first", ".1%"),
            ("in a question", ".1%"),
        ),
        tuple(rows),
        (_RECALL, _FIRST),
    )
