"""Count the tokens of chunks, and the tokens that their context leaves free."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Final

from chunkast.analysis import Structure
from chunkast.config import ChunkConfig
from chunkast.cutting.context import Context
from chunkast.cutting.replaced import Replaced
from chunkast.model import Replacement
from chunkast.text.opaque import OpaqueRun, opaque_runs
from chunkast.text.spans import SpanSet, trim_span
from chunkast.tokens import NOT_EXACT, Remembered, TokenCounter, index_of

__all__ = ("JOINED", "Costs")

# The number of contexts, and of spans, whose counts are remembered.
_REMEMBERED: Final = 512
# The token count of two joined texts differs from the sum of theirs by less than this.
JOINED: Final = 8


class Costs:
    """Counts the tokens of a document's chunks.

    A chunk for ``text[start:end]`` is trimmed if the option ``trim`` is set. Counts are exact,
    unless ``estimated`` is true. Opaque data that is kept whole counts as its placeholder.

    budget: the maximum number of tokens in a chunk, including context and overlap.
    text: the document.
    dropped: the length of the front matter if all chunks omit it, else 0.
    apart: the spans of the front matter of pages inside the document, if chunks omit it.
    resumed: for each page, the end of its front matter if chunks omit it, else 0.
    kept: the sorted spans of the opaque data that exceeds the budget and is kept whole.
    kept_edges: the sorted edges of these spans.
    replaced: these spans with their placeholders, and the replacements of heuristics.
    """

    def __init__(self, structure: Structure, config: ChunkConfig, counter: TokenCounter) -> None:
        self.budget = config.budget
        self.text = structure.text
        front_matter = structure.analysis.front_matter
        # The later cells of a notebook share the front matter of the first.
        drop = config.front_matter_text == "drop"
        self.dropped = len(front_matter) if drop and self.text.startswith(front_matter) else 0
        pages = structure.analysis.inner_pages
        self.apart = pages if drop else ()
        self.resumed = [self.dropped, *(end if drop else 0 for _, end in pages)]
        self._trim = config.trim
        # An empty text costs nothing, even if special tokens are counted.
        counts: Remembered[str, int] = Remembered(
            lambda text: counter.count(text) if text else 0, _REMEMBERED
        )
        self.count: Callable[[str], int] = counts.__getitem__
        self._cost_of = Remembered(self._cost, _REMEMBERED)
        self.context = Context(structure, config, self.count)
        self._counter = counter
        self._index = index_of(self.text, counter, structure.leaf_starts)
        self.estimated = self._index.estimated
        runs = list(self._kept_runs(structure)) if config.opaque == "keep" else []
        self.kept = [(run.start, run.end) for run in runs]
        self.kept_edges = [*dict.fromkeys(chain.from_iterable(self.kept))]
        shown = [Replacement(run.start, run.end, run.placeholder) for run in runs]
        self._shown = Replaced(shown, self.text, trim=config.trim)
        # The number of tokens that placeholders save before each run.
        saved = (self.tokens(run.start, run.end) - self.count(run.placeholder) for run in runs)
        self._saved = [*accumulate(saved, initial=0)]
        self.replaced = Replaced(
            _with_placeholders(structure.analysis.replacements, shown), self.text, trim=config.trim
        )

    def opaque_runs(self, start: int, end: int) -> list[OpaqueRun]:
        """Return the runs of opaque data in ``[start, end)`` that exceed the budget on their own."""
        runs = opaque_runs(self.text, start, end)
        return [run for run in runs if not self._index.is_within(run.start, run.end, self.budget)]

    def _kept_runs(self, structure: Structure) -> Iterator[OpaqueRun]:
        """Yield the runs to keep whole: those whose placeholder fits. Each is inside one leaf."""
        for leaf in structure.leaves:
            if not self._index.is_within(leaf.start, leaf.end, self.budget):
                for run in self.opaque_runs(leaf.start, leaf.end):
                    if self.count(run.placeholder) <= self.budget:
                        yield run

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the chunk for ``text[start:end]``.

        If ``trim`` is set, blank lines at the start and white space at the end are excluded.
        """
        return trim_span(self.text, start, end) if self._trim else (start, end)

    def _cost(self, piece: tuple[int, int]) -> int:
        return self._index.count(*self.span(*piece))

    def tokens(self, start: int, end: int) -> int:
        """Return the token count of ``text[start:end]`` without trimming white space."""
        return self._index.count(start, end)

    def shown_tokens(self, start: int, end: int) -> int:
        """Return the approximate token count of ``text[start:end]`` with placeholders for kept data."""
        first, last = self._shown.inside(start, end)
        return self.tokens(start, end) - self._saved[last] + self._saved[first]

    def is_within(self, start: int, end: int, reserve: int = 0) -> bool:
        """Return whether ``text[start:end]``, trimmed and with replacements, fits the budget.

        ``reserve`` tokens of the budget stay free.
        """
        room = self.budget - reserve
        if self._index.bounds(start, end)[1] <= room:
            return True
        span = self.span(start, end)
        first, last = self._shown.inside(*span)
        if first == last:
            return self._index.is_within(*span, room)
        far = self.shown_tokens(*span) > room + JOINED * (last - first + 1)
        return not far and self.count(self._shown.text_of(*span) or "") <= room

    def bounds(self, start: int, end: int) -> tuple[float, float]:
        """Return a lower and an upper bound of :meth:`size` for a chunk, without counting.

        If more than a few tokens of white space are trimmed, the lower bound may be too high.
        """
        if self.replaced.any:
            return 0, math.inf
        least, most = self._index.bounds(start, end)
        return least, most + self.context.most_suffix_tokens

    def size(self, start: int, end: int) -> float:
        """Return the token count of the chunk for ``text[start:end]`` as embedded.

        This includes the closing line of a fence that ends after the chunk, and the text that
        replaces spans of the chunk. A span that cannot become one chunk has an infinite size.
        """
        if start == end:
            return 0
        closing = self.context.suffix_tokens(end)
        if self.replaced.any:
            # What is embedded is only counted for text that may become one chunk.
            if not self.is_within(start, end):
                return math.inf
            embedded = self.embedded(*self.span(start, end))
            if embedded is not None:
                return embedded[1] + closing
        return self._cost_of[start, end] + closing

    def fits(self, start: int, end: int, room: float) -> bool:
        """Return whether a chunk for ``text[start:end]`` fits into ``room`` tokens."""
        least, most = self.bounds(start, end)
        return most <= room or (least <= room and self.size(start, end) <= room)

    def fits_alone(self, start: int, end: int) -> bool:
        """Return whether a chunk for ``text[start:end]`` fits the budget without any context."""
        return self.fits(start, end, self.budget + self.context.suffix_tokens(end))

    def room(self, start: int, own: int | None = None) -> int:
        """Return the number of tokens that context leaves free in a chunk that begins at ``start``.

        The chunk's text after the overlap begins at ``own``, by default at ``start``.
        """
        return self.budget - self.context.tokens(start, own)

    def embedded(self, start: int, end: int) -> tuple[str, int] | None:
        """Return the text to embed for ``text[start:end]`` and its token count.

        Returns None if the text is embedded unchanged.
        """
        text = self.replaced.text_of(start, end) if self.replaced.any else None
        return None if text is None else (text, self._counter.count(text))

    def tokens_before(self, positions: Sequence[int]) -> Sequence[int]:
        """Return the number of tokens before each of the sorted ``positions``.

        The difference between two starts of blocks is exact. Other differences are sums of separate
        counts, which may be far too high: use them only to compare spans. No difference depends on
        text outside its span.
        """
        before = self._tokens_before(positions)
        if not self.kept:
            return before
        return [
            tokens - self._saved[self._shown.inside(0, pos)[1]]
            for tokens, pos in zip(before, positions, strict=True)
        ]

    def _tokens_before(self, positions: Sequence[int]) -> Sequence[int]:
        index = self._index
        if index.estimated:
            return list(map(index.estimate, positions))
        exact = list(index.exact.each(positions))
        if NOT_EXACT not in exact:
            return exact
        sizes = (
            index.count(*span) if NOT_EXACT in tokens else tokens[1] - tokens[0]
            for span, tokens in zip(pairwise(positions), pairwise(exact), strict=True)
        )
        return list(accumulate(sizes, initial=0))

    def may_fit(self, positions: Sequence[int], step: int, room: int) -> list[bool]:
        """Return, without counting, whether each span may fit into ``room`` tokens as a chunk.

        Span ``i`` is from ``positions[i]`` to ``positions[i + step]``. The positions are sorted.
        """
        if self.replaced.any:
            return [True] * max(len(positions) - step, 0)
        return self._index.may_be_within(positions, step, room)

    def count_after(self, before: str, start: int, end: int, tokens: int) -> int:
        """Return the token count of ``before + text[start:end]``; the span alone has ``tokens``."""
        if before.endswith("\n") and self._index.adds_up_after_line_end(start):
            return self.count(before) + tokens
        return self._index.count_after(before, start, end)

    def count_once(self, text: str) -> int:
        """Return the token count of a text, without caching it."""
        return self._counter.count(text)

    def is_near(self, start: int, end: int) -> bool:
        """Return whether the estimates for a chunk were as accurate as assumed."""
        return self._index.is_near(*self.span(start, end))

    def release(self, pos: int) -> None:
        """Free the memory for text before ``pos``. Counting there may then be slower."""
        self._index.release(pos)


def _with_placeholders(
    replacements: Sequence[Replacement], placeholders: Sequence[Replacement]
) -> list[Replacement]:
    """Return both, sorted, without the replacements that begin or end inside a run.

    A replacement that contains a run comes before its placeholder.
    """
    runs = SpanSet((each.start, each.end) for each in placeholders)
    given = (
        each
        for each in replacements
        if runs.start(each.start) == each.start and runs.end(each.end) == each.end
    )
    return sorted([*given, *placeholders], key=lambda each: (each.start, -each.end))
