"""A document to be cut into chunks: its text, leaves and token counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from chunkast.analysis.leaves import Leaves
from chunkast.config import ChunkConfig
from chunkast.cutting.heading_paths import Headings
from chunkast.markdown.kinds import kinds_where
from chunkast.model import Analysis, ProtectedRegion
from chunkast.text.front_matter import front_matter_value
from chunkast.text.language import language_of_text
from chunkast.text.spans import SpanSet, trim_span
from chunkast.tokens import NOT_EXACT, SpanCounts, TokenCounter

__all__ = ("TRIMMED", "Document")

# Trimming adds fewer tokens than this to a span's count.
TRIMMED: Final = 8
_BLOCK_KINDS: Final = kinds_where("protected") | kinds_where("tag")


@dataclass(frozen=True)
class Document:
    """An analysed text with its leaves and token counts. Its analysis does not contain the tree."""

    analysis: Analysis
    leaves: Leaves
    index: SpanCounts
    counter: TokenCounter
    config: ChunkConfig

    @property
    def text(self) -> str:
        """The original text, from which chunks are cut."""
        return self.analysis.text

    @property
    def parsed(self) -> str:
        """The text that the parser read; positions in it are the same as in ``text``."""
        return self.analysis.masked or self.analysis.text

    @cached_property
    def headings(self) -> Headings:
        """The document's headings, which are looked up by position."""
        return Headings(self.text, self.analysis.headings, self.analysis.path)

    @cached_property
    def title(self) -> str:
        """The ``title`` in the front matter, or an empty string if there is none."""
        return front_matter_value(self.analysis.front_matter, "title", plain=True)

    @cached_property
    def dropped(self) -> int:
        """The length of the front matter if it is left out of all chunks, or 0 if it is kept."""
        front_matter = self.analysis.front_matter
        # The later cells of a notebook share the front matter of the first.
        drop = self.config.front_matter_text == "drop" and self.text.startswith(front_matter)
        return len(front_matter) if drop else 0

    @cached_property
    def protected(self) -> SpanSet:
        """The protected regions that fit the budget; no cut falls inside them.

        A block that crosses a user's region or a tool call is dropped; blocks never cross each
        other. If two other regions cross and do not fit together, the later one is dropped.
        """
        regions = self.analysis.regions
        foreign = [region for region in regions if region.kind not in _BLOCK_KINDS]
        if not foreign:
            return SpanSet(_uncrossed(regions, self.fits))
        first = SpanSet(_uncrossed(foreign, self.fits))
        blocks = _uncrossed(
            [region for region in regions if region.kind in _BLOCK_KINDS], self.fits
        )
        return SpanSet([*first, *(span for span in blocks if not first.crosses(*span))])

    @cached_property
    def language(self) -> str:
        """The code of the language whose rules are used to find sentences."""
        given = self.config.sentence_language
        front_matter = self.analysis.front_matter
        return language_of_text(self.text, front_matter) if given == "auto" else given

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the chunk for ``text[start:end]``.

        If ``trim`` is set, blank lines at the start and white space at the end are excluded.
        """
        return trim_span(self.text, start, end) if self.config.trim else (start, end)

    def tokens(self, start: int, end: int) -> int:
        """Return the exact token count of the chunk for ``text[start:end]``."""
        return self.index.count(*self.span(start, end))

    def fits(self, start: int, end: int, room: int | None = None) -> bool:
        """Return whether the chunk for ``text[start:end]`` has at most ``room`` tokens.

        ``room`` defaults to the budget.
        """
        room = self.config.budget if room is None else room
        index = self.index
        # Most spans are so short that nothing has to be counted.
        if index.at_most(start, end) <= room:
            return True
        if index.additive:
            first, last = index.exact.get(start), index.exact.get(end)
            if first != NOT_EXACT != last and last - first + TRIMMED <= room:
                return True
        return index.is_within(*self.span(start, end), room)


def _uncrossed(
    regions: Sequence[ProtectedRegion], fits: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sorted ``regions`` that fit.

    If two regions cross and their union does not fit, the later one is skipped.
    """
    first = last = 0
    for region in regions:
        start, end = region.start, region.end
        if end <= last or not fits(start, end):
            continue
        if start >= last:
            first = start
        elif not fits(first, end):
            continue
        last = end
        yield start, end
