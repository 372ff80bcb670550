"""Selects the best hits for a query within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from chunkast.errors import warn
from chunkast.index.parts import Parts
from chunkast.index.ranking import Candidate, best_sections

__all__ = ("Hit", "hits", "take_best")


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matches a query, possibly expanded.

    id: the chunk's id.
    source: the document's name.
    text: the chunk's text, without its overlap if the previous chunk is also a hit; or the expanded
        text.
    start_index: the start of ``text`` in the document, a character index from 0.
    end_index: the end of ``text`` in the document, an exclusive character index.
    start_line: the line in which ``text`` begins, from 1.
    end_line: the line of the last character of ``text``, from 1, inclusive.
    token_count: the number of tokens in ``text``.
    headings: the heading path of the section in which the chunk begins, outermost first.
    section: the heading path of the section in the chunk that matches the query best.
    anchor: the anchor of that section, such as "install" in ``guide.md#install``; empty if there is
        none, for example in a notebook.
    score: the relevance score, based on BM25; higher is better.
    pages: the first and the last page that the chunk is on, from 1; ``None`` for a document without
        pages.
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
    anchor: str = ""

    @property
    def place(self) -> str:
        """The source with the first and the last line, as ``source:first-last``."""
        return f"{self.source}:{self.start_line}-{self.end_line}"


def take_best(
    candidates: Iterable[Candidate], budget: int, limit: int | None, parts: Parts
) -> None:
    """Take the best chunks that fit the budget, up to ``limit`` chunks, and skip the others.

    Issues a ``ChunkastWarning`` about better chunks that exceed the whole budget, so that a worse
    hit is not mistaken for the best.
    """
    larger: list[Candidate] = []
    better = used = count = 0
    for found in candidates:
        if limit is not None and count >= limit:
            break
        more = parts.take(found, budget - used)
        if more is not None:
            count += 1
            used += more
            better = len(larger)
        elif found.own_tokens > budget:
            larger.append(found)
    if missed := larger[: better if count else None]:
        best = missed[0].chunk
        warn(
            f"skipped better hits: {len(missed)} larger than the budget of {budget:,} tokens, the "
            f"best of them {best.source}:{best.start_line}-{best.end_line} with "
            f"{best.token_count:,}; raise the budget, or expand hits to get its beginning"
        )


def hits(parts: Parts, query: str, anchor_of: Callable[[str, int], str]) -> Iterator[Hit]:
    """Yield a hit for each part that was taken.

    ``anchor_of`` returns the anchor for a source and a position in that document.
    """
    taken = list(parts.taken())
    slots = best_sections(query, (found.chunk for found, _ in taken))
    for (found, part), slot in zip(taken, slots, strict=True):
        chunk = found.chunk
        starts = chunk.section_starts or (chunk.start_index,)
        yield Hit(
            id=chunk.id,
            source=chunk.source or "",
            text=part.text,
            start_index=part.start_index,
            end_index=part.end_index,
            start_line=part.start_line,
            end_line=part.end_line,
            token_count=part.tokens,
            headings=chunk.headings,
            score=found.score,
            pages=chunk.pages,
            section=chunk.section_at(starts[slot]),
            anchor=anchor_of(chunk.source or "", starts[slot]),
        )
