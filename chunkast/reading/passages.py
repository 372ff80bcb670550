"""Passages: verbatim parts of a document that fit a token budget."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from chunkast.model import Chunk
from chunkast.text.source_map import SourceMap

__all__ = ("Passage", "grown", "most_fitting")


@dataclass(frozen=True, slots=True)
class Passage:
    """A verbatim part of a document.

    text: the text of the passage; ``text == document[start_index:end_index]``.
    source: the document's name, or ``None``.
    start_index: the start of the passage, a character index from 0.
    end_index: the end of the passage, an exclusive character index.
    start_line: the 1-based number of the line in which the passage begins.
    end_line: the 1-based line number of the last character of the passage.
    tokens: the exact number of tokens in the text.
    section: the heading path of the section to which the passage belongs.
    tokens_before, tokens_after: the number of tokens that are omitted before and after the text.
    next_line: the line at which the section continues, or ``None`` if nothing follows.
    last_line: the last line of the section, or of the requested lines.
    oversize: true if the passage is a single chunk with more tokens than requested.
    """

    text: str
    source: str | None
    start_index: int
    end_index: int
    start_line: int
    end_line: int
    tokens: int
    section: tuple[str, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    next_line: int | None = None
    last_line: int | None = None
    oversize: bool = False

    @classmethod
    def of(cls, chunk: Chunk, span: tuple[int, int], tokens: int) -> Passage:
        """Return the part of ``chunk`` in ``span``, whose token count is ``tokens``."""
        start, end = span
        text = chunk.text[start - chunk.start_index : end - chunk.start_index]
        first, lines = chunk.start_line - 1, SourceMap(chunk.text).line
        start_line = first + lines(start - chunk.start_index)
        end_line = first + lines(end - chunk.start_index - 1)
        return cls(text, chunk.source, start, end, start_line, end_line, tokens)

    @property
    def rest(self) -> str:
        """A note about the omitted parts, or "" if nothing was omitted."""
        notes = []
        if self.tokens_before:
            notes.append(f"{self.tokens_before:,} tokens before line {self.start_line:,}")
        if self.next_line is not None:
            more = f"{self.tokens_after:,} tokens more"
            notes.append(f"continues at line {self.next_line:,}, {more}")
        return "; ".join(notes)


def most_fitting(ends: Sequence[int], tokens: Callable[[int], int], most: int) -> int:
    """Return how many of the ascending ``ends`` have at most ``most`` tokens before them.

    ``tokens`` returns the number of tokens before an end. It is not called for ends far beyond the
    result, because counting them would take long.
    """
    high = 1
    while high < len(ends) and tokens(ends[high - 1]) <= most:
        high *= 2
    number = bisect_right(ends, most, hi=min(high, len(ends)), key=tokens)
    # A longer text may have fewer tokens.
    while number and tokens(ends[number - 1]) > most:
        number -= 1
    return number


def grown(
    edges: Sequence[int], start: int, end: int, tokens: Callable[[int, int], int], most: int
) -> tuple[int, int]:
    """Return the span from ``start`` to ``end``, extended to edges after and before it in turn.

    The result has at most ``most`` tokens, unless the given span has more. ``tokens`` counts the
    tokens in a span. ``edges`` are sorted.
    """
    before = edges[: bisect_left(edges, start)][::-1]
    after = edges[bisect_right(edges, end) :]

    def last_fitting(spans: Sequence[tuple[int, int]]) -> int:
        numbers = range(len(spans))
        return max(most_fitting(numbers, lambda at: tokens(*spans[at]), most) - 1, 0)

    spans = [(start, end)]
    for earlier, later in zip_longest(before, after):
        if later is not None:
            spans.append((spans[-1][0], later))
        if earlier is not None:
            spans.append((earlier, spans[-1][1]))
    last = last_fitting(spans)
    start, end = spans[last]
    # Where one side has no room, the other side may still grow.
    if last + 1 < len(spans) and spans[last + 1][0] == start:
        spans = [(start, end), *((pos, end) for pos in before if pos < start)]
    else:
        spans = [(start, end), *((start, pos) for pos in after if pos > end)]
    return spans[last_fitting(spans)]
