"""Rank the chunks that match a query, best first."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Final

from chunkast.index.connection import DamageError
from chunkast.index.rows import BY_NUMBER, read_rows
from chunkast.index.schema import INSERT_WORDS, WORDS_TABLE
from chunkast.index.terms import content_words, match_expression, terms
from chunkast.model import Chunk

__all__ = (
    "Candidate",
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
_TITLE_SHARE: Final = 0.4
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
# The maximum number of characters of markup before a title.
_MARKS: Final = 80
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
    connection: sqlite3.Connection, query: str, within: str | None = None
) -> Iterator[Candidate]:
    """Yield the chunks that contain any word of the query, best first by BM25.

    ``within`` is a glob pattern that a document's source must match. The best chunks are ranked
    again: a title that is similar to the query increases the score.
    """
    expression = match_expression(query)
    values = expression, within, within, _MAX_CHUNKS
    rows = connection.execute(_RANKED, values).fetchall() if expression else []
    wanted = content_words(query)
    candidates = loaded(connection, iter(rows))
    first = [
        replace(each, score=each.score * _factor(each.chunk, wanted))
        for each in islice(candidates, _STEP_SIZE)
    ]
    yield from sorted(first, key=lambda each: -each.score)
    yield from candidates


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


def _factor(chunk: Chunk, wanted: frozenset[str]) -> float:
    """Return the factor for the score of a chunk, by its titles and by what it consists of."""
    lines = [line for line in _LINE_ENDS.split(chunk.text) if not _NO_CONTENT.match(line)]
    links = sum(_LINK.fullmatch(line) is not None for line in lines)
    share = _CONTENTS_SHARE if links >= max(3, _MOSTLY * len(lines)) else 1.0
    return share * (1 + _TITLE_SHARE * _likeness(chunk, wanted))


def _likeness(chunk: Chunk, wanted: frozenset[str]) -> float:
    """Return the similarity of the query to the most similar title in the chunk, from 0 to 1.

    This is the number of words that both contain, divided by the number of words in either.
    """
    titles = (
        path[-1]
        for start, path in zip(chunk.section_starts, chunk.sections, strict=True)
        # A part of a section that began in an earlier chunk does not begin with its title.
        if path[-1] in chunk_text(chunk, start, start + 2 * len(path[-1]) + _MARKS)
    )
    alike = ((words & wanted, words | wanted) for words in map(content_words, titles))
    return max((len(both) / len(either) for both, either in alike if both), default=0.0)


def best_section(query: str, chunk: Chunk, span: tuple[int, int]) -> tuple[int, int]:
    """Return the span of the section in a chunk that matches the query best, by BM25.

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


def most_relevant(query: str, texts: Sequence[tuple[str, str]]) -> int | None:
    """Return the index of the pair of title and text with the best BM25 score.

    Returns None if no word of the query matches.
    """
    scores = relevance(query, texts)
    best = max(scores, default=0.0)
    return scores.index(best) if best > 0 else None


def relevance(query: str, texts: Iterable[tuple[str, str]]) -> list[float]:
    """Return the BM25 score of each pair of title and text, which is 0 if no word matches.

    A word that occurs in few of the texts has more weight.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(WORDS_TABLE)
        rows = [(number, terms(title), terms(text)) for number, (title, text) in enumerate(texts)]
        connection.executemany(INSERT_WORDS, rows)
        scores: dict[int, float] = {}
        if expression := match_expression(query):
            query = "SELECT rowid, -rank FROM search WHERE search MATCH ?"
            scores = dict(connection.execute(query, (expression,)).fetchall())
    return [scores.get(number, 0.0) for number in range(len(rows))]
