"""A document on its way to chunks: its text, its leaves and its token counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from chunkast.config import ChunkConfig
from chunkast.core.headings import Headings
from chunkast.core.leaves import Leaves
from chunkast.core.protected import protected_spans
from chunkast.model import Analysis, ProtectedRegion
from chunkast.text.language import language_of_text
from chunkast.text.spans import SpanSet, trim_span
from chunkast.tokens import Counter, SpanCounts, index_of

__all__ = ("Document",)


@dataclass(frozen=True)
class Document:
    """A text with its leaves and token counts, and everything an analysis knows but the tree.

    ``parsed`` is the text as the parser read it, character for character. The first ``dropped``
    characters, front matter, are in no chunk. If ``extended``, break points and regions may lie
    anywhere; otherwise they are at the edges of blocks.
    """

    text: str
    parsed: str
    leaves: Leaves
    index: SpanCounts
    counter: Counter
    config: ChunkConfig
    headings: Headings
    regions: Sequence[ProtectedRegion]
    references: frozenset[str]
    extensions: tuple[str, ...]
    front_matter: str
    dropped: int
    extended: bool

    @classmethod
    def of(
        cls, analysis: Analysis, leaves: Leaves, config: ChunkConfig, counter: Counter
    ) -> Document:
        """Return the document of an analysis whose tree has these ``leaves``."""
        text = analysis.text
        # The later cells of a notebook have the front matter of the first.
        drop = config.front_matter_text == "drop" and text.startswith(analysis.front_matter)
        return cls(
            text=text,
            parsed=analysis.masked or text,
            leaves=leaves,
            index=index_of(text, counter, leaves.starts),
            counter=counter,
            config=config,
            headings=Headings(analysis.headings, analysis.path),
            regions=analysis.regions,
            references=analysis.references,
            extensions=analysis.extensions,
            front_matter=analysis.front_matter,
            dropped=len(analysis.front_matter) if drop else 0,
            extended=analysis.extended,
        )

    @cached_property
    def protected(self) -> SpanSet:
        """The protected regions that fit the budget; nothing cuts them."""
        return protected_spans(self.regions, self.fits)

    @cached_property
    def language(self) -> str:
        """The code of the language that the document's sentences are in."""
        given = self.config.sentence_language
        return language_of_text(self.text, self.front_matter) if given == "auto" else given

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters that a chunk over ``text[start:end]`` has.

        With ``trim``, it has no blank lines at its start and no white space at its end.
        """
        return trim_span(self.text, start, end) if self.config.trim else (start, end)

    def tokens(self, start: int, end: int) -> int:
        """Return the exact number of tokens of a chunk over ``text[start:end]``."""
        return self.index.count(*self.span(start, end))

    def fits(self, start: int, end: int, room: int | None = None) -> bool:
        """Return whether a chunk over ``text[start:end]`` has at most ``room`` tokens.

        ``room`` is the budget unless given.
        """
        room = self.config.budget if room is None else room
        # Most spans are so short that nothing has to be counted.
        if self.index.at_most(start, end) <= room:
            return True
        return self.index.is_within(*self.span(start, end), room)
