"""Search: how well the index ranks its chunks, beside BM25 of bm25s over the same chunks.

The questions and documents are those of the retrieval benchmark. Titles of sections that occur
once are queries too, bare and in a question; the best hit must be the chunk with that section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from random import Random
from statistics import fmean

import tiktoken

from chunkast import Chunk, Chunker
from chunkast.index import Store
from tests.bench.retrieval.chunkers import Chunked, Piece
from tests.bench.retrieval.dataset import Dataset, fixtures, load
from tests.bench.retrieval.scores import cut_by, score
from tests.bench.tables import Cell, Setting, Table

__all__ = ("KEY", "run")

KEY = "search"
_SIZES = (200, 400, 800)
_TITLES = 300
_QUESTION = "how does {} work?"
# Hits of a query; more than the benchmark delivers.
_DEPTH = 60

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
    """Yield one table with a row for each way to rank."""
    dataset = (
        fixtures() if setting.smoke else load(setting.half, setting.cache / "files", setting.say)
    )
    cut = cut_by(tiktoken.get_encoding(setting.encoding))
    found: dict[str, list[float]] = {}
    for size in _SIZES[: 1 if setting.smoke else None]:
        setting.say(f"{KEY}: {size} tokens")
        chunker = Chunker(encoding=setting.encoding, max_tokens=size, overlap=0)
        named = [(str(number), text) for number, text in enumerate(dataset.texts)]
        chunks = list(chunker.iter_chunks(named))
        pieces = tuple(_piece(chunk, chunker) for chunk in chunks)
        titles = _titles(chunker, named, chunks)
        with Store(":memory:", create=True) as store:
            store.update(named, chunker)
            for name, search in _searches(store, chunks):
                ranking = [search(question.text) for question in dataset.questions]
                scores = score(dataset, Chunked(size, pieces), {name: ranking}, cut)
                firsts = [
                    fmean(search(form.format(title))[:1] == [number] for title, number in titles)
                    for form in ("{}", _QUESTION)
                ]
                found.setdefault(name, []).extend((fmean(scores.by_question()), *firsts))
    yield _table(dataset, found, len(titles))


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


def _searches(store: Store, chunks: Sequence[Chunk]) -> Iterator[tuple[str, Search]]:
    numbers = {(chunk.source, chunk.index): number for number, chunk in enumerate(chunks)}
    by_id = {chunk.id: numbers[chunk.source, chunk.index] for chunk in chunks}
    yield (
        "chunkast index",
        lambda query: [by_id[hit.id] for hit in store.search(query, 10**9, limit=_DEPTH)],
    )
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
        "Search",
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
