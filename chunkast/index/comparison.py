"""Compare budgets by their chunks, and by the share of an answer that a search returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from chunkast.config import ChunkConfig
from chunkast.errors import ConfigError, StoreError
from chunkast.index.search import Hit
from chunkast.index.store import Store
from chunkast.model import Chunk
from chunkast.reading import SectionError

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.sources.jupyter import Notebook

__all__ = ("BudgetFigures", "compare_budgets")

_Question = Mapping[str, str]
# The source, start and end of a place of an answer.
_Place = tuple["str | None", int, int]
# The numbers of tokens of the first hits in which answers are sought.
_WITHIN: Final = (500, 1_000, 2_000)


@dataclass(frozen=True)
class BudgetFigures:
    """Figures about the chunks at one budget. Shares are from 0 to 1.

    max_tokens: the budget.
    chunks: the number of chunks.
    fill: the mean share of the budget that the text of a chunk fills.
    inside: the number of cuts inside sections.
    overlap: the share of the chunks' characters that repeat the previous chunk.
    context: the number of context tokens per token of text.
    answers: by the budget of a search, the mean share of an answer that its hits contain; empty
        without questions.
    """

    max_tokens: int
    chunks: int
    fill: float
    inside: int
    overlap: float
    context: float
    answers: Mapping[int, float]


def compare_budgets(
    documents: Iterable[tuple[str, str | Notebook]],
    budgets: Iterable[int],
    questions: Iterable[_Question] = (),
    **options: Any,
) -> list[BudgetFigures]:
    """Return the figures of the documents' chunks at each budget.

    documents: ``(source, text)`` pairs.
    budgets: values of ``max_tokens``.
    questions: mappings with a "question" and its answer. The answer is either a "text", as for
        :meth:`Store.quote`, or a "source" and a "section", as for :meth:`Store.read`. Each question
        is searched for in an in-memory index.
    options: other fields of ``ChunkConfig``.

    Raises ``ConfigError`` for an invalid question, or one whose answer is in no document.
    """
    from chunkast.chunker import Chunker

    documents, questions = list(documents), list(questions)
    figures: list[BudgetFigures] = []
    places: list[list[_Place]] = []
    for budget in budgets:
        chunker = Chunker(ChunkConfig.of({**options, "max_tokens": budget}))
        with Store(":memory:", create=True) as store:
            store.update(documents, chunker)
            places = places or [_places(store, chunker, *each) for each in enumerate(questions)]
            answers: dict[int, float] = {}
            for most in _WITHIN if questions else ():
                found = (store.search(q["question"], most, chunker=chunker) for q in questions)
                answers[most] = sum(map(_share, found, places)) / len(questions)
            figures.append(_figures(chunker.config, list(store.chunks()), answers))
    return figures


def _places(store: Store, chunker: Chunker, number: int, question: _Question) -> list[_Place]:
    """Return the places of the answer to a question; there is at least one."""
    why = "its text is in none of the documents"
    try:
        if question["question"] and "text" in question:
            found = store.quote(question["text"])
            places: list[_Place] = [(at.source, at.start_index, at.end_index) for at in found]
        else:
            outline = store.outline(question["source"], chunker=chunker)
            section = outline.find(question["section"])
            places = [(outline.source, section.start_index, section.end_index)]
    except (SectionError, StoreError) as error:
        why, places = str(error), []
    except (KeyError, TypeError):
        why, places = "must have a question, and a text or a source with a section", []
    if not places:
        raise ConfigError(f"questions[{number}]", question, why)
    return places


def _figures(config: ChunkConfig, chunks: list[Chunk], answers: dict[int, float]) -> BudgetFigures:
    tokens = sum(chunk.token_count for chunk in chunks)
    inside = sum(
        one.source == other.source and one.sections[-1:] == other.sections[:1]
        for one, other in pairwise(chunks)
    )
    overlap = sum(chunk.overlap for chunk in chunks) / (sum(len(each.text) for each in chunks) or 1)
    context = sum(chunk.embed_token_count - chunk.token_count for chunk in chunks) / (tokens or 1)
    size, fill = int(config.max_tokens), tokens / ((len(chunks) or 1) * config.budget)
    return BudgetFigures(size, len(chunks), fill, inside, overlap, context, answers)


def _share(hits: Sequence[Hit], places: Iterable[_Place]) -> float:
    """Return the share of an answer's characters in the hits, at the place with the largest."""

    def share(place: _Place) -> float:
        source, start, end = place
        inside = (hit for hit in hits if hit.source == source)
        common = (min(end, hit.end_index) - max(start, hit.start_index) for hit in inside)
        return sum(length for length in common if length > 0) / max(end - start, 1)

    return max(map(share, places))
