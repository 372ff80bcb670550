"""The façade: configuration, analysis, packing, chunks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from chunkast.analysis import analyze, analyze_code
from chunkast.boundaries import Leaves, closed_spans, merge_break_points
from chunkast.collector import paused
from chunkast.config import ChunkConfig
from chunkast.context import Context
from chunkast.errors import ConfigError
from chunkast.identity import Location
from chunkast.markdown import CONSTRUCTS
from chunkast.model import Analysis, Block, BreakPoint, Chunk, draft_type
from chunkast.pack import Layout, Overlap, Piece, pack, sections_of, trim_span
from chunkast.reprs import changed_fields
from chunkast.split import Refiner
from chunkast.text.source_map import SourceMap, positions_in
from chunkast.text.spans import SpanSet
from chunkast.text.white_space import is_blank
from chunkast.tokens import NOT_EXACT, TokenIndex, is_far_above, resolve_counter

if TYPE_CHECKING:
    from chunkast.batch import OnError

__all__ = ("Chunker",)

# By fewer tokens than these, trimming changes what a span counts.
_TRIMMED: Final = 8
# How many chunks each location has, by its key.
_Parts = defaultdict[bytes, int]
# In place of a tree of which all that is needed was taken.
_NO_TREE: Final = Block("document", 0, 0)
_ChunkDraft: Final = draft_type(Chunk)
_bare_chunk = _ChunkDraft.__new__


class Chunker:
    """Cuts Markdown into chunks that fit an exact token budget.

    Keywords are the fields of :class:`ChunkConfig`; a configuration object may be given
    instead. Raises ``ConfigError`` for what is not allowed, naming the field. A chunker
    has no state of its own and may be shared between threads.
    """

    def __init__(self, config: ChunkConfig | None = None, **options: Any) -> None:
        if config is not None and options:
            name, value = next(iter(options.items()))
            raise ConfigError(name, value, "give a ChunkConfig or keywords, not both")
        self.config = ChunkConfig.of(options) if config is None else config
        self.counter = resolve_counter(
            self.config.encoding, self.config.model, allow_download=self.config.allow_download
        )

    def __repr__(self) -> str:
        return f"Chunker({changed_fields(self.config)})"

    def __getstate__(self) -> dict[str, Any]:
        """What a copy in another process is made from: all but the loaded vocabulary."""
        return {name: value for name, value in vars(self).items() if name != "counter"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.counter = resolve_counter(self.config.encoding, self.config.model)

    def analyze(
        self, text: str, source: str | None = None, language: str | None = None
    ) -> Analysis:
        """What is known of ``text`` before it is packed: blocks, break points, regions, headings.

        ``source`` is the document's name, whose ending may say how it is read: which Markdown
        it is, or code in which language. ``language`` says that it is code: a name as in a
        fence's info string; "" that it is not. A language that is not known, or without the
        extra ``code``, is code all the same. Heuristics and tools are for Markdown.
        """
        with paused():
            return self._analyze(text, source, language)

    def _analyze(
        self, text: str, source: str | None, language: str | None, *, blanks: bool = True
    ) -> Analysis:
        if language is None:
            language = self.config.language_of(source)
        if language:
            return analyze_code(text, language, self.config)
        return analyze(text, self.config, self.config.extensions_for(source), blanks=blanks)

    def chunk(
        self, text: str | Analysis, source: str | None = None, language: str | None = None
    ) -> list[Chunk]:
        """The chunks of a Markdown text (or of code, or of an analysis), in order.

        ``source`` names the document in the chunks and their ids; without it ids are
        unique within the document only. ``language`` is as in :meth:`analyze`; the headings
        of code are the definitions around it. Never raises on a string.
        """
        with paused():
            return list(self._chunks(text, source, defaultdict(int), language))

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks alone."""
        return [chunk.text for chunk in self.chunk(text)]

    def iter_chunks(
        self, documents: Iterable[tuple[str | None, str | Analysis]]
    ) -> Iterator[Chunk]:
        """The chunks of ``(source, text)`` pairs, in order, one by one as they are asked for.

        Only the document at hand is kept, and of it no chunk that was given out.
        """
        parts: _Parts = defaultdict(int)
        for source, text in documents:
            yield from self._chunks(text, source, parts)

    def chunk_documents(
        self,
        documents: Iterable[tuple[str | None, str | Analysis]],
        parts: defaultdict[bytes, int] | None = None,
    ) -> Iterator[list[Chunk]]:
        """Like :meth:`iter_chunks`, a list for each document.

        A source that comes again goes on counting its parts; ``parts`` are the counts so
        far, of a call before this one.
        """
        parts = defaultdict(int) if parts is None else parts
        for source, text in documents:
            with paused():
                chunks = list(self._chunks(text, source, parts))
            yield chunks

    def chunk_batch(
        self,
        texts: Sequence[str],
        sources: Sequence[str | None] | None = None,
        workers: int = 1,
        progress: bool = False,
        on_error: OnError | None = None,
    ) -> list[list[Chunk]]:
        """The chunks of several texts, in input order.

        A source that is given twice goes on counting its parts. With ``workers`` above 1
        the texts are spread over processes (the configuration must be picklable, as it
        is with an encoding's name); the result does not depend on it. Where processes
        cannot be forked (outside Linux, or once threads run) they import the program's
        main module: what it does belongs below ``if __name__ == "__main__":``. ``progress``
        shows a bar on stderr.

        What is raised while one text is chunked (by a counter of your own, for lack of
        memory) costs that text alone: its list is empty, and ``on_error(position, source,
        exception)`` is called here. Without ``on_error`` the exception, of several that of
        the first text, is raised when the other texts are done.

        Raises ``ConfigError`` when ``sources`` has another length, ``ChunkastError`` when a
        process was lost.
        """
        names: Sequence[str | None] = [None] * len(texts) if sources is None else sources
        if len(names) != len(texts):
            raise ConfigError("sources", len(names), f"allowed is one per text ({len(texts)})")
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise ConfigError("workers", workers, "allowed is a whole number of at least 1")
        from chunkast.batch import chunk_groups

        return chunk_groups(
            self, texts, names, workers=workers, progress=progress, on_error=on_error
        )

    def _chunks(
        self,
        given: str | Analysis,
        source: str | None,
        parts: _Parts,
        language: str | None = None,
    ) -> Iterator[Chunk]:
        with paused():
            if isinstance(given, str):
                given = self._analyze(given, source, language, blanks=False)
            # The tree takes more memory than all that comes after it, which needs the leaves.
            leaves = Leaves(given.text, given.blocks)
            given = replace(given, blocks=_NO_TREE)
            # Without a source nothing is known of the documents before.
            run = _Run(self, given, leaves, source, defaultdict(int) if source is None else parts)
            # The points are in the layout.
            del given
            # The run does not hold what refers to it: no cycle is left for the collector.
            overlap = Overlap(run.layout, run.sentences)
            pieces = run.pieces(overlap)
        return run.chunks(pieces, overlap)


class _Run:
    """One document on its way from the analysis to its chunks."""

    def __init__(
        self,
        chunker: Chunker,
        analysis: Analysis,
        leaves: Leaves,
        source: str | None,
        parts: _Parts,
    ) -> None:
        self.config = chunker.config
        self.text = text = analysis.text
        self.headings = analysis.headings
        data = analysis.front_matter_data
        self.front_matter = analysis.front_matter if data is None else data
        self.source = source
        self.location = Location.of(source or "")
        self.parts = parts
        self.leaves = leaves
        self.index = TokenIndex(text, chunker.counter, leaves.starts)
        self.size = _size(text, self.index, trim=self.config.trim)
        self.closed = closed_spans(analysis.regions, self.fits)
        self.refiner = Refiner(
            text,
            self.index,
            self.size,
            parsed=analysis.masked or text,
            closed=self.closed,
            budget=self.config.max_tokens,
            scores=self.config.score_table,
            trim=self.config.trim,
            references=analysis.references,
            extensions=analysis.extensions,
        )
        points = _outside(analysis.break_points, self.closed)
        self.annotations = analysis.annotations
        self.annotation_starts = [mark.start for mark in self.annotations]
        if leaves.starts and leaves.starts[0]:
            # Blank lines before the first block are a unit of their own.
            points.insert(0, BreakPoint(leaves.starts[0], 0.0, "paragraph"))
        if analysis.extended:
            points = merge_break_points(points, self.region_edges())
            points = [point for point in points if self.is_outside_inline(point.pos)]
        if self.config.oversize == "split":
            points = self.refined(points)
        if not self.config.overlap_tokens:
            leaves.release(len(text))  # blocks are asked for their sentences to overlap alone
        self.context = Context(
            self.config,
            analysis.headings,
            self.refiner.frames,
            analysis.front_matter,
            path=analysis.path,
            count=chunker.counter.count,
            adds_up=self.index.adds_up_behind_line_end,
        )
        self.layout = Layout(
            text,
            self.index,
            points,
            self.config,
            context_tokens=self.context.tokens,
            suffix_tokens=self.context.suffix_tokens,
        )

    def fits(self, start: int, end: int) -> bool:
        """Whether a chunk over the span would be within the budget."""
        budget = self.config.max_tokens
        return self.index.at_most(start, end) <= budget or self.size(start, end) <= budget

    def region_edges(self) -> Iterator[BreakPoint]:
        """Points at the edges of closed regions that begin in one leaf and end in another.

        Only a user's heuristic or a tool call makes such regions; what lies between two
        points has to belong to one leaf or to one region.
        """
        score = self.config.score_table["line"]
        for start, end in self.closed:
            leaf, last = self.leaves.around(start), self.leaves.around(end)
            if leaf is not None and end <= leaf.end:
                continue
            if leaf is None or leaf.start < start:
                yield BreakPoint(start, score, "line")
            if last is not None and not is_blank(self.text[end : last.end]):
                yield BreakPoint(end, score, "line")

    def is_outside_inline(self, pos: int) -> bool:
        """Whether ``pos``, where a user's heuristic may have put a point, cuts no inline construct."""
        leaf = self.leaves.around(pos)
        if leaf is None or leaf.start == pos or CONSTRUCTS[leaf.kind].shape != "prose":
            return True
        return self.refiner.whole_spans(leaf).end(pos) == pos

    def refined(self, points: list[BreakPoint]) -> list[BreakPoint]:
        """``points`` and those inside blocks that are larger than the budget.

        A paragraph that would fit alone, but not with the heading before it, divides at
        its sentences, so that the heading keeps company.
        """
        keep = positions_in(self.text, len(points))
        edges = keep((0, *(point.pos for point in points), len(self.text)))
        scores = (0.0, *(point.score for point in points))
        extra: list[BreakPoint] = []
        for first, unit in self.suspects(edges, scores):
            start, end = edges[unit], edges[unit + 1]
            if start == end:
                continue
            leaf = self.leaves.at(start)
            if not self.fits(start, end):
                leaf = leaf or self.leaves.around(start) or Block("blank", start, end)
                whole = self.closed.end(start + 1) if self.closed.covers(start) else start
                self.refiner.divide(leaf, start, max(leaf.end, whole), end)
            elif (
                first < unit
                and leaf is not None
                and leaf.kind == "paragraph"
                and self.leaves.kinds(start, start + 1) == ("paragraph",)
                and self.exceeds_budget(edges[first], end)
            ):
                extra.extend(self.refiner.sentence_points(leaf, start, end))
        if not self.refiner.points and not extra:
            return points
        return sorted([*points, *self.refiner.points, *extra], key=lambda point: point.pos)

    def exceeds_budget(self, start: int, end: int) -> bool:
        """Whether a chunk over the span is too large, which of a long span is not counted."""
        budget = self.config.max_tokens
        estimated = self.index.estimate(end) - self.index.estimate(start)
        return is_far_above(estimated, budget) or self.size(start, end) > budget

    def suspects(self, edges: Sequence[int], scores: Iterable[float]) -> Iterator[tuple[int, int]]:
        """The numbers of those spans between ``edges`` that may be too large, in order.

        Before each the number of the first span that it may be too large with: only points
        of negative score are between them.
        """
        before = positions_in(self.text, len(edges))(self.index.exact.each(edges))
        known = NOT_EXACT not in before and self.index.additive
        # Trimming changes a count by a few tokens.
        limit = self.config.max_tokens - _TRIMMED
        first = 0
        for unit, score in enumerate(scores):
            if score >= 0:
                first = unit
            if not known or before[unit + 1] - before[first] > limit:
                yield first, unit

    def pieces(self, overlap: Overlap) -> list[Piece]:
        """The units of each chunk; pieces of nothing but white space are among them."""
        has_text = self.leaves.texts(self.text, self.layout.pos)
        return pack(self.layout, sections_of(self.headings, self.layout), overlap, has_text)

    def chunks(self, pieces: Iterable[Piece], overlap: Overlap) -> Iterator[Chunk]:
        layout = self.layout
        source_map = SourceMap(self.text)
        number = 0
        previous: Piece | None = None
        for piece in pieces:
            start, end = layout.span(piece.first, piece.last)
            if start < end:
                if previous is None or self.context.is_heading(layout.pos[piece.first]):
                    tokens = layout.count(piece.first, piece.last)
                else:
                    room = self.config.max_tokens - layout.context(piece.first)
                    start, tokens = overlap.start(previous, piece, room)
                yield self.emit(number, piece, start, tokens, source_map)
                number += 1
                previous = piece
                # The next chunk may repeat the end of this one, and nothing before it.
                self.release(layout.pos[piece.first])

    def release(self, pos: int) -> None:
        """Release what is known of the text before ``pos``, which no chunk to come needs."""
        self.leaves.release(pos)
        self.index.release(pos)

    def emit(
        self, number: int, piece: Piece, start: int, tokens: int, source_map: SourceMap
    ) -> Chunk:
        """The chunk over a piece whose text begins at ``start``, and has so many ``tokens``."""
        layout = self.layout
        own, end = layout.span(piece.first, piece.last)
        text = self.text[start:end]
        before, behind, embed_tokens = self.context.around(
            text, tokens, start, own, layout.pos[piece.last]
        )
        headings = self.context.path(own)
        location = self.location.at(headings)
        part = self.parts[location.key]
        self.parts[location.key] += 1
        # The hashes are not set: they are computed when they are read.
        chunk: Any = _bare_chunk(_ChunkDraft)
        chunk.id = location.id(part)
        chunk.index = number
        chunk.source = self.source
        chunk.text = text
        chunk.start_index = start
        chunk.end_index = end
        chunk.start_byte = source_map.byte(start)
        chunk.end_byte = source_map.byte(end)
        chunk.start_line = source_map.line(start)
        chunk.end_line = source_map.line(end - 1)
        chunk.token_count = tokens
        chunk.overlap = own - start
        chunk.headings = headings
        chunk.kinds = self.leaves.kinds(start, end)
        chunk.embed_text = before + text + behind
        chunk.embed_token_count = embed_tokens
        chunk.oversize = tokens > self.config.max_tokens
        chunk.metadata = self.metadata(own, end)
        chunk.__class__ = Chunk
        return chunk  # type: ignore[no-any-return]

    def metadata(self, start: int, end: int) -> dict[str, Any]:
        """The document's front matter, and what is annotated of ``[start, end)``."""
        found: dict[str, Any] = {"front_matter": self.front_matter} if self.front_matter else {}
        if self.annotations:
            first = bisect_left(self.annotation_starts, start)
            for mark in self.annotations[first : bisect_left(self.annotation_starts, end)]:
                found.setdefault(mark.key, []).append(mark.value)
        return found

    def sentences(self, unit: int) -> list[int]:
        """The beginnings of sentences inside a unit of prose that was not divided."""
        start, end = self.layout.pos[unit], self.layout.pos[unit + 1]
        leaf = self.leaves.at(start)
        divided = leaf is None or end < leaf.end or self.closed.covers(start)
        if leaf is None or divided or CONSTRUCTS[leaf.kind].shape != "prose":
            return []
        return [point.pos for point in self.refiner.sentence_points(leaf, start, leaf.end)]


def _size(text: str, index: TokenIndex, *, trim: bool) -> Callable[[int, int], int]:
    """The function that says what a chunk over the span ``(start, end)`` would count."""
    if not trim:
        return index.count
    return lambda start, end: index.count(*trim_span(text, start, end))


def _outside(points: Sequence[BreakPoint], closed: SpanSet) -> list[BreakPoint]:
    """The sorted ``points`` that lie strictly inside none of the spans."""
    positions = [point.pos for point in points]
    kept: list[BreakPoint] = []
    at = 0
    for start, end in closed:
        first = bisect_right(positions, start, at)
        last = bisect_left(positions, end, first)
        if first < last:
            kept.extend(points[at:first])
            at = last
    kept.extend(points[at:])
    return kept
