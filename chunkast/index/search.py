"""The chunks that match a query, within a budget of tokens."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Final

from chunkast.errors import ChunkastWarning
from chunkast.index.rows import DamageError
from chunkast.index.schema import INSERT_WORDS, WORDS_TABLE
from chunkast.index.terms import content_words, match_expression, terms
from chunkast.model import Chunk
from chunkast.text.source_map import SourceMap

__all__ = ("Hit", "ranked", "within_budget")

# Hits are loaded in steps of this many.
_STEP_SIZE: Final = 50
# A title like the query adds up to this share of the score. It and the weight of titles below were
# chosen on the development half of the retrieval benchmark, and by unique titles as queries.
_TITLE_SHARE: Final = 0.4
# The most characters of markup before a title.
_MARKS: Final = 80
# The most hits that are considered.
_MAX_HITS: Final = 1_000

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
class Hit:
    """A chunk that matches a query.

    id: the chunk's id.
    source: the document's name.
    text: the chunk's text, without its overlap if the previous chunk is a hit as well.
    start_index: where ``text`` begins in the document, a character index from 0.
    end_index: where it ends, a character index, exclusive.
    start_line: the line in which it begins, from 1.
    end_line: the line of its last character, from 1, inclusive.
    token_count: how many tokens ``text`` has.
    headings: the chunk's heading path, outermost first: the section in which it begins.
    section: the heading path of the section in ``text`` that matches the query best.
    score: the score by BM25; higher is better.
    pages: the first and the last page that the chunk is on, from 1; ``None`` without pages.
    """

    id: str
    source: str
    text: str
    start_index: int
    end_index: int
    start_line: int
    end_line: int
    token_count: int
    headings: tuple[str, ...]
    score: float
    pages: tuple[int, int] | None = None
    section: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """``path:first-last``, with the first and the last line."""
        return f"{self.source}:{self.start_line}-{self.end_line}"


@dataclass(frozen=True, slots=True)
class _Candidate:
    chunk: Chunk
    own_tokens: int
    score: float

    @property
    def place(self) -> tuple[str | None, int]:
        return self.chunk.source, self.chunk.index


def ranked(
    connection: sqlite3.Connection, query: str, within: str | None = None
) -> list[tuple[int, float]]:
    """Return rows and scores of the chunks with any word of the query, the best first.

    ``within`` is a glob that the documents' sources must match.
    """
    expression = match_expression(query)
    if not expression:
        return []
    return list(connection.execute(_RANKED, (expression, within, within, _MAX_HITS)))


def within_budget(
    query: str,
    rows: Iterable[tuple[int, float]],
    budget: int,
    limit: int | None,
    load: Callable[[Collection[int]], Iterable[tuple[int, int, Chunk]]],
) -> list[Hit]:
    """Return the best hits, at most ``limit``, that fit the budget; others are skipped.

    ``rows`` are those of :func:`ranked` for the query.

    Warns with a ``ChunkastWarning`` about better hits that are oversize and larger than the
    whole budget, so that a worse hit is not mistaken for the best.
    """
    taken: dict[tuple[str | None, int], _Candidate] = {}
    larger: list[_Candidate] = []
    better = used = 0
    for candidate in _with_titles_first(query, _candidates(iter(rows), load)):
        if limit is not None and len(taken) >= limit:
            break
        more = _cost(candidate, taken)
        if used + more <= budget:
            taken[candidate.place] = candidate
            used += more
            better = len(larger)
        elif candidate.chunk.oversize and candidate.own_tokens > budget:
            larger.append(candidate)
    if missed := larger[: better if taken else None]:
        best = _hit(missed[0], (), {})
        warnings.warn(
            f"skipped better hits: {len(missed)} larger than the budget of {budget:,} tokens, "
            f"the best of them {best.place} with {best.token_count:,}",
            ChunkastWarning,
            stacklevel=2,
        )
    sections = _best_sections(query, (found.chunk for found in taken.values()))
    return [_hit(*pair, taken) for pair in zip(taken.values(), sections, strict=True)]


def _candidates(
    rows: Iterator[tuple[int, float]],
    load: Callable[[Collection[int]], Iterable[tuple[int, int, Chunk]]],
) -> Iterator[_Candidate]:
    while step := list(islice(rows, _STEP_SIZE)):
        loaded = {number: (own, chunk) for number, own, chunk in load([row[0] for row in step])}
        for number, score in step:
            if number not in loaded:
                raise DamageError(f"row {number} of its chunks is missing")
            own, chunk = loaded[number]
            yield _Candidate(chunk, own, score)


def _with_titles_first(query: str, candidates: Iterator[_Candidate]) -> Iterator[_Candidate]:
    """Yield the candidates; among the first, those with the query as a title come first."""
    wanted = content_words(query)
    first = [
        replace(found, score=found.score * (1 + _TITLE_SHARE * _likeness(found.chunk, wanted)))
        for found in islice(candidates, _STEP_SIZE)
    ]
    yield from sorted(first, key=lambda found: -found.score)
    yield from candidates


def _likeness(chunk: Chunk, wanted: frozenset[str]) -> float:
    """Return the share of words that the query and a title in the chunk have in common, at most 1."""
    best = 0.0
    for start, path in zip(chunk.section_starts, chunk.sections, strict=True):
        at = start - chunk.start_index
        words = content_words(path[-1])
        # A part of a section that began in an earlier chunk does not begin with its title.
        if words & wanted and path[-1] in chunk.text[at : at + 2 * len(path[-1]) + _MARKS]:
            best = max(best, len(words & wanted) / len(words | wanted))
    return best


def _cost(candidate: _Candidate, taken: dict[tuple[str | None, int], _Candidate]) -> int:
    """The tokens that the candidate adds, less the overlap that its neighbour then omits."""
    source, index = candidate.place
    tokens = _tokens(candidate, alone=(source, index - 1) not in taken)
    following = taken.get((source, index + 1))
    if following is not None:
        tokens -= _tokens(following, alone=True) - _tokens(following, alone=False)
    return tokens


def _tokens(candidate: _Candidate, *, alone: bool) -> int:
    return candidate.chunk.token_count if alone else candidate.own_tokens


def _hit(
    candidate: _Candidate,
    section: tuple[str, ...],
    taken: dict[tuple[str | None, int], _Candidate],
) -> Hit:
    chunk = candidate.chunk
    source, index = candidate.place
    alone = (source, index - 1) not in taken
    left_out = 0 if alone else chunk.overlap
    return Hit(
        id=chunk.id,
        source=chunk.source or "",
        text=chunk.text[left_out:],
        start_index=chunk.start_index + left_out,
        end_index=chunk.end_index,
        start_line=chunk.start_line + SourceMap(chunk.text).line(left_out) - 1,
        end_line=chunk.end_line,
        token_count=_tokens(candidate, alone=alone),
        headings=chunk.headings,
        score=candidate.score,
        pages=chunk.pages,
        section=section,
    )


def _best_sections(query: str, chunks: Iterable[Chunk]) -> Iterator[tuple[str, ...]]:
    """Yield the path of the section of each chunk that matches the query best, by BM25.

    Titles and text count alike here. It is the first section if no word of the query is in any.
    """
    expression = match_expression(query)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(WORDS_TABLE)
        for chunk in chunks:
            starts, sections = chunk.section_starts, chunk.sections
            if len(sections) < 2:
                yield chunk.section_at(chunk.start_index)
                continue
            for slot, (start, end) in enumerate(pairwise((*starts, chunk.end_index))):
                text = chunk.text[start - chunk.start_index : end - chunk.start_index]
                connection.execute(INSERT_WORDS, (slot, terms(sections[slot][-1]), terms(text)))
            best = connection.execute(
                "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rank, rowid", (expression,)
            ).fetchone()
            connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
            yield sections[best[0] if best else 0]
