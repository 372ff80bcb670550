"""Rank the chunks that match a query, best first."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Final, NamedTuple

from chunkast.index.connection import DamageError
from chunkast.index.rows import BY_NUMBER, read_rows
from chunkast.index.schema import INSERT_WORDS, WORDS_TABLE
from chunkast.index.stems import ENGLISH
from chunkast.index.terms import content_words, match_expression, terms
from chunkast.model import Chunk
from chunkast.sources.documents import document_of
from chunkast.text.folding import composed, fold

__all__ = (
    "Candidate",
    "Query",
    "best_section",
    "chunk_text",
    "loaded",
    "most_relevant",
    "ranked",
    "relevance",
)

# The number of chunks to load at a time.
_STEP_SIZE: Final = 50
# A title similar to the query increases the score by up to this share. This share and the weight
# of titles in BM25 were chosen on the development half of the retrieval benchmark, and with unique
# titles as queries.
_TITLE_SHARE: Final = 0.3
# A table of contents, or another list of links, has this share of the score.
_CONTENTS_SHARE: Final = 0.5
_MOSTLY: Final = 0.8
_LINE_ENDS: Final = re.compile(r"[\r\n]+")
# Headings and blank lines.
_NO_CONTENT: Final = re.compile(r"[ \t>]*(?:#|\Z)")
_LINK: Final = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?\**"
    r"\[[^\[\]]+\](?:\([^()\s]*(?:[ \t]\"[^\"]*\")?\)|\[[^\[\]]*\])?\**[ \t.,;:]*"
)
# The score of as many chunks of a document is higher by this factor than that of its others.
_MOST_HITS: Final = 2
_LEAD: Final = 1.05
# The maximum number of chunks to consider.
_MAX_CHUNKS: Final = 1_000

# FTS5's rank is BM25 with the opposite sign.
_RANKED: Final = """
    SELECT best.number, -best.score
    FROM (
        SELECT rowid AS number, bm25(search, 2.0, 1.0) AS score
        FROM search WHERE search MATCH ? AND (? IS NULL OR rowid IN (
            SELECT chunks.number FROM chunks JOIN documents ON documents.number = chunks.document
            WHERE documents.source GLOB ?
        )) ORDER BY score LIMIT ?
    ) AS best
    LEFT JOIN chunks ON chunks.number = best.number
    LEFT JOIN documents ON documents.number = chunks.document
    ORDER BY best.score, documents.source, chunks.position
"""


class Query(NamedTuple):
    """A query, and the languages of the index in which its words may be found."""

    text: str
    languages: tuple[str, ...] = (ENGLISH,)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that matches a query; ``own_tokens`` is its token count without the overlap."""

    chunk: Chunk
    own_tokens: int
    score: float

    @property
    def place(self) -> tuple[str | None, int]:
        """The source of the chunk's document, and the chunk's index in that document."""
        return self.chunk.source, self.chunk.index


def ranked(
    connection: sqlite3.Connection, query: Query, within: str | None = None
) -> Iterator[Candidate]:
    """Yield the chunks that contain any word of the query, best first by BM25.

    ``within`` is a glob pattern that a document's source must match. The best chunks are ranked
    again: a title that is similar to the query increases the score, and lists of links lower it.
    """
    expression = match_expression(*query)
    values = expression, within, within, _MAX_CHUNKS
    rows = connection.execute(_RANKED, values).fetchall() if expression else []
    candidates = loaded(connection, iter(rows))
    best = rows[0][1] if rows else 0.0
    first = [
        replace(each, score=_score(each, query, best)) for each in islice(candidates, _STEP_SIZE)
    ]
    yield from _spread(sorted(first, key=lambda each: -each.score))
    yield from candidates


def _spread(candidates: list[Candidate]) -> list[Candidate]:
    """Let other documents go before the third chunk of a document, if they are nearly as good."""
    sources = [document_of(each.chunk.source) for each in candidates]
    early = [sources[:slot].count(source) < _MOST_HITS for slot, source in enumerate(sources)]
    pairs = zip(candidates, early, strict=True)
    spread = (replace(each, score=each.score * _LEAD**leads) for each, leads in pairs)
    return sorted(spread, key=lambda each: -each.score)


def loaded(
    connection: sqlite3.Connection, rows: Iterator[tuple[int, float]]
) -> Iterator[Candidate]:
    """Yield the chunks of ``rows``, which are pairs of a chunk's number and score, in order."""
    while step := dict(islice(rows, _STEP_SIZE)):
        stored = read_rows(connection, BY_NUMBER, [json.dumps([*step])])
        loaded = {number: (chunk, own) for number, own, chunk in stored}
        for number, score in step.items():
            if number not in loaded:
                raise DamageError(f"row {number} of its chunks is missing")
            yield Candidate(*loaded[number], score)


def _score(candidate: Candidate, query: Query, best: float) -> float:
    """Return the score of a chunk by its words, its titles and what it consists of.

    The section of which the query is the title comes first. ``best`` is the best score by words.
    """
    chunk = candidate.chunk
    lines = [line for line in _LINE_ENDS.split(chunk.text) if not _NO_CONTENT.match(line)]
    links = sum(_LINK.fullmatch(line) is not None for line in lines)
    share = _CONTENTS_SHARE if links >= max(3, _MOSTLY * len(lines)) else 1.0
    # The first section may be a part of one that began in an earlier chunk.
    kind = next((kind for kind in chunk.kinds if kind not in ("html", "container")), "")
    paths = chunk.sections if kind in ("heading", "front-matter") else chunk.sections[1:]
    likeness = max((_likeness(path[-1], query) for path in paths), default=0.0)
    score = candidate.score * (1 + _TITLE_SHARE * min(likeness, 1))
    return share * (score + (likeness >= 1) * likeness * best * (1 + _TITLE_SHARE))


def _likeness(title: str, query: Query) -> float:
    """Return the similarity of a query to a title: up to 1, or more if all words are the same.

    It is the number of words that both contain, divided by the number of words in either, in the
    language in which it is largest. If all are the same, the title's share of the query is added,
    if that contains it letter by letter.
    """
    pairs = [(content_words(title, x), content_words(query.text, x)) for x in query.languages]
    likeness = max(len(one & other) / len(one | other or {""}) for one, other in pairs)
    if likeness < 1:
        return likeness
    shown, asked = (fold(composed(text)).casefold() for text in (title, query.text))
    return 1 + len(shown) / len(asked) if shown in asked else 1


def best_section(query: Query, chunk: Chunk, span: tuple[int, int]) -> tuple[int, int]:
    """Return the span of a chunk's section that matches the query best, by BM25.

    Only the parts of sections in ``span``, a span of the document, are considered. Titles and text
    have the same weight. If no section contains a word of the query, returns the first section.
    """
    starts = [*(chunk.section_starts or (chunk.start_index,)), chunk.end_index]
    clipped = ((max(start, span[0]), min(end, span[1])) for start, end in pairwise(starts))
    found = [(start, end) for start, end in clipped if start < end] or [span]
    if len(found) == 1:
        return found[0]
    titles = ["".join(chunk.section_at(start)[-1:]) for start, _ in found]
    texts = [chunk_text(chunk, start, end) for start, end in found]
    return found[most_relevant(query, [*zip(titles, texts, strict=True)]) or 0]


def chunk_text(chunk: Chunk, start: int, end: int) -> str:
    """Return the text of a chunk between two positions in the document."""
    return chunk.text[start - chunk.start_index : end - chunk.start_index]


def most_relevant(query: Query, texts: Sequence[tuple[str, str]]) -> int | None:
    """Return the index of the pair of title and text with the best BM25 score.

    Returns None if no word of the query matches.
    """
    scores = relevance(query, texts)
    best = max(scores, default=0.0)
    return scores.index(best) if best > 0 else None


def relevance(query: Query, texts: Iterable[tuple[str, str]]) -> list[float]:
    """Return the BM25 score of each pair of title and text, which is 0 if no word matches.

    A word that occurs in few of the texts has more weight.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(WORDS_TABLE)
        words = ([terms(each, query.languages) for each in pair] for pair in texts)
        rows = [(number, *pair) for number, pair in enumerate(words)]
        connection.executemany(INSERT_WORDS, rows)
        scores: dict[int, float] = {}
        if expression := match_expression(*query):
            select = "SELECT rowid, -rank FROM search WHERE search MATCH ?"
            scores = dict(connection.execute(select, (expression,)).fetchall())
    return [scores.get(number, 0.0) for number in range(len(rows))]
