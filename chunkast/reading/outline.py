"""The outline of a document: its sections, and passages of limited size."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Protocol

from chunkast.analysis import structure_of
from chunkast.config import ChunkConfig
from chunkast.cutting import chunks_of
from chunkast.errors import ConfigError, check_count
from chunkast.model import Analysis
from chunkast.reading.passages import Passage, grown
from chunkast.reading.sections import Section, SectionError, find_section, line_at, sections_of
from chunkast.text.source_map import line_starts
from chunkast.text.spans import trim_span
from chunkast.tokens import SpanCounts, TokenCounter, index_of

__all__ = ("Outline", "Placed")


class Placed(Protocol):
    """The interface of parts of a document, such as chunks, search hits and citations."""

    @property
    def start_index(self) -> int:
        """The start of the part, a character index from 0."""

    @property
    def end_index(self) -> int:
        """The end of the part, an exclusive character index."""


@dataclass(frozen=True)
class Outline:
    r"""The sections of a document with their token counts; see :meth:`Chunker.outline`.

    source: the document's name, or ``None``.
    sections: a section for the whole document, then its sections in order.

    >>> from chunkast import Chunker
    >>> outline = Chunker().outline("# Guide\n\n## Install\n\nWith pip.\n\n## Use\n\nCall it.\n")
    >>> [(section.level, section.path[-1:], section.anchor) for section in outline.sections[1:]]
    [(1, ('Guide',), 'guide'), (2, ('Install',), 'install'), (2, ('Use',), 'use')]
    >>> outline.read("install").text
    '## Install\n\nWith pip.'
    """

    source: str | None
    sections: tuple[Section, ...]
    _analysis: Analysis
    _config: ChunkConfig
    _counter: TokenCounter
    _index: SpanCounts = field(repr=False, compare=False)
    _line_starts: Sequence[int] = field(repr=False, compare=False)

    @classmethod
    def of(
        cls, analysis: Analysis, config: ChunkConfig, counter: TokenCounter, source: str | None
    ) -> Outline:
        """Return the outline of an analyzed document."""
        index, lines = index_of(analysis.text, counter, ()), line_starts(analysis.text)
        sections = tuple(sections_of(analysis, index.count, lines))
        return cls(source, sections, analysis, config, counter, index, lines)

    def __repr__(self) -> str:
        name = f" {self.source}" if self.source else ""
        return f"<Outline{name}: {len(self.sections)} sections>"

    def down_to(self, level: int | None) -> Outline:
        """Return an outline without sections deeper than ``level``; ``None`` keeps all sections."""
        if level is None:
            return self
        kept = tuple(section for section in self.sections if section.level <= level)
        return replace(self, sections=kept)

    def find(self, where: str | int | Sequence[str] | Placed) -> Section:
        """Return the section that ``where`` identifies.

        ``where`` is a heading path ("Guide > Install", or a sequence of titles), the end of a
        heading path ("Install"), an anchor ("#install"), a 1-based line number, a chunk or a hit. A
        chunk or hit is in the section in which its text after the overlap begins. Raises
        ``SectionError``, which lists candidates, if no section or more than one section matches.
        """
        if isinstance(where, int):
            if not 1 <= where <= self.sections[0].end_line:
                reason = f"is not in the document, whose last line is {self.sections[0].end_line}"
                raise SectionError(where, reason, ())
            return self._innermost("line", where)
        if isinstance(where, (str, Sequence)):
            return find_section(self.sections, where)
        own = where.start_index + getattr(where, "overlap", 0)
        return self._innermost("index", own)

    def _innermost(self, unit: str, place: int) -> Section:
        """Return the innermost section around a line ("line") or a position ("index")."""
        start, end = attrgetter(f"start_{unit}"), attrgetter(f"end_{unit}")
        number = max(bisect_right(self.sections, place, key=start) - 1, 0)
        # A section inside a wrapper may end before the next one begins.
        last = place if unit == "line" else place + 1
        while number and end(self.sections[number]) < last:
            number -= 1
        return self.sections[number]

    def read(
        self,
        where: str | int | Sequence[str] | Section | None = None,
        *,
        lines: tuple[int, int] | None = None,
        max_tokens: int | None = None,
    ) -> Passage:
        """Return a section with its subsections, or a range of lines, shortened to a token budget.

        where: a section, or an argument for :meth:`find`; by default the whole document.
        lines: the first and the last line to read instead of a section, 1-based and inclusive.
        max_tokens: the maximum number of tokens, or ``None`` for no limit. A longer text is cut at
            the best boundary.

        Raises ``SectionError`` like :meth:`find`, and ``ConfigError`` for other invalid values.
        """
        if max_tokens is not None:
            check_count("max_tokens", max_tokens)
        if lines is not None:
            start, end = self._lines(lines)
            section = self.find(lines[0])
            tokens = self._index.count(start, end)
        else:
            named = self.sections[0] if where is None else where
            section = named if isinstance(named, Section) else self.find(named)
            start, end, tokens = section.start_index, section.end_index, section.total_tokens
        if max_tokens is None or tokens <= max_tokens:
            return self._passage(section, start, end, start, end)
        return self._passage(section, *self._beginning(start, end, max_tokens), start, end)

    def expand(
        self,
        chunk: Placed,
        max_tokens: int,
        *,
        inside: tuple[int, int] | None = None,
        cut: bool = False,
    ) -> Passage:
        """Return a chunk or hit with as much of the text around it as fits in ``max_tokens``.

        The passage is the largest whole section around the chunk that fits. If no section fits, it
        is the chunk with as many adjacent blocks of its section as fit. A chunk larger than
        ``max_tokens`` is returned alone, with ``oversize`` set; with ``cut``, it is cut at its best
        boundary instead. The passage stays within ``inside``, a span of the document. Raises
        ``ConfigError`` for an invalid ``max_tokens``.
        """
        check_count("max_tokens", max_tokens)
        start, end = chunk.start_index, chunk.end_index
        first, last = (0, len(self._text)) if inside is None else inside
        around = [s for s in self.sections if s.start_index <= start and end <= s.end_index]
        inner = around[-1] if around else self.sections[0]
        if self._index.count(start, end) > max_tokens:
            if cut:
                start, end = self._beginning(start, end, max_tokens)
            alone = self._passage(inner, start, end, inner.start_index, inner.end_index)
            return replace(alone, oversize=not cut)
        for section in around:
            span = section.start_index, section.end_index
            if section.total_tokens <= max_tokens and first <= span[0] and span[1] <= last:
                return self._passage(section, *span, *span)
        first, last = max(first, inner.start_index), min(last, inner.end_index)
        points = (point.pos for point in self._analysis.break_points if point.score >= 0)
        edges = sorted({first, last, *(pos for pos in points if first < pos < last)})

        def tokens(start: int, end: int) -> int:
            return self._index.count(*trim_span(self._text, start, end))

        start, end = grown(edges, start, end, tokens, max_tokens)
        return self._passage(inner, start, end, inner.start_index, inner.end_index)

    @property
    def _text(self) -> str:
        return self._analysis.text

    def _lines(self, lines: tuple[int, int]) -> tuple[int, int]:
        starts = self._line_starts
        match lines:
            case (int(first), int(last)) if 1 <= first <= last and first < len(starts):
                end = starts[min(last, len(starts) - 1)]
                return trim_span(self._text, starts[first - 1], end)
        allowed = f"must be a first and a last line from 1 to {len(starts) - 1:,}"
        raise ConfigError("lines", lines, allowed)

    def _beginning(self, start: int, end: int, max_tokens: int) -> tuple[int, int]:
        """Return the beginning of a span that exceeds the budget, up to the best boundary."""
        config = replace(
            self._config,
            max_tokens=max_tokens,
            reserve_tokens=0,
            overlap=0,
            packing="fill",
            window=None,
            min_tokens=None,
            context="none",
            oversize="split",
            opaque="split",
            front_matter_text="keep",
            front_matter_keys=(),
            trim=True,
        )
        structure = structure_of(self._text[start:end], config, self.source)
        first = next(chunks_of(structure, config, self._counter, None, defaultdict(int)))
        return start + first.start_index, start + first.end_index

    def _passage(self, section: Section, start: int, end: int, first: int, last: int) -> Passage:
        """Return the span ``[start, end)`` as a passage.

        ``[first, last)`` is the span in ``section`` from which the passage is taken.
        """
        text, count, lines = self._text, self._index.count, self._line_starts
        start, end = trim_span(text, start, end)
        following = trim_span(text, end, last)
        left_out = following[0] < following[1]
        return Passage(
            text=text[start:end],
            source=self.source,
            start_index=start,
            end_index=end,
            start_line=line_at(lines, start),
            end_line=line_at(lines, max(end - 1, start)),
            tokens=count(start, end),
            section=section.path,
            tokens_before=count(*trim_span(text, first, start)) if first < start else 0,
            tokens_after=count(*following) if left_out else 0,
            next_line=line_at(lines, following[0]) if left_out else None,
            last_line=line_at(lines, max(last - 1, start)),
        )

    def __iter__(self) -> Iterator[Section]:
        return iter(self.sections)
