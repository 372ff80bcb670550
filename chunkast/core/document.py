"""What every step of one document's way to its chunks reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chunkast.config import ChunkConfig
from chunkast.core.leaves import Leaves
from chunkast.core.measure import Measure
from chunkast.core.protected import protected_spans
from chunkast.model import Analysis
from chunkast.text.spans import SpanSet
from chunkast.tokens import Counter, SpanCounts, index_of

__all__ = ("Document",)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its leaves, what its spans count, and where it must not be cut.

    ``parsed`` is what the parser read of ``text``, character for character. ``protected`` are
    the protected regions that fit the budget; ``count(text)`` counts tokens.
    The first ``dropped`` characters, front matter, are in no chunk.
    """

    text: str
    parsed: str
    leaves: Leaves
    index: SpanCounts
    measure: Measure
    protected: SpanSet
    references: frozenset[str]
    extensions: tuple[str, ...]
    front_matter: str
    dropped: int
    config: ChunkConfig
    count: Callable[[str], int]

    @classmethod
    def of(
        cls, analysis: Analysis, leaves: Leaves, config: ChunkConfig, counter: Counter
    ) -> Document:
        """The document of an analysis whose tree has these ``leaves``."""
        text = analysis.text
        # The later cells of a notebook have that of the first.
        drop = config.front_matter_text == "drop" and text.startswith(analysis.front_matter)
        index = index_of(text, counter, leaves.starts)
        measure = Measure(text, index, config.budget, config.trim)
        return cls(
            text=text,
            parsed=analysis.masked or text,
            leaves=leaves,
            index=index,
            measure=measure,
            protected=protected_spans(analysis.regions, measure.fits),
            references=analysis.references,
            extensions=analysis.extensions,
            front_matter=analysis.front_matter,
            dropped=len(analysis.front_matter) if drop else 0,
            config=config,
            count=counter.count,
        )
