"""The façade: configuration, analysis, packing, chunks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chunkast.analysis import analyze, analyze_code
from chunkast.boundaries import closed_spans, merge_break_points
from chunkast.config import ChunkConfig
from chunkast.context import Context
from chunkast.errors import ConfigError
from chunkast.identity import Location, content_hash
from chunkast.markdown import CONSTRUCTS
from chunkast.model import Analysis, Block, BreakPoint, Chunk
from chunkast.pack import Layout, Overlap, Piece, pack, section_tree, trim_span
from chunkast.split import Refiner
from chunkast.text.source_map import SourceMap
from chunkast.tokens import TokenIndex, resolve_counter

__all__ = ("Chunker",)

# How many chunks each location has, by its key.
_Parts = defaultdict[bytes, int]


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
        self.counter = resolve_counter(self.config.encoding, self.config.model)

    def analyze(self, text: str, language: str = "") -> Analysis:
        """What is known of ``text`` before it is packed: blocks, break points, regions, headings.

        It is Markdown, or code in ``language``: a name as in a fence's info string. A language
        that is not known, or without the extra ``code``, is code all the same. Heuristics and
        tools are for Markdown.
        """
        return analyze_code(text, language, self.config) if language else analyze(text, self.config)

    def chunk(
        self, text: str | Analysis, source: str | None = None, language: str = ""
    ) -> list[Chunk]:
        """The chunks of a Markdown text (or of code, or of an analysis), in order.

        ``source`` names the document in the chunks and their ids; without it ids are
        unique within the document only. ``language`` is as in :meth:`analyze`; the headings
        of code are the definitions around it. Never raises on a string.
        """
        if language and isinstance(text, str):
            text = self.analyze(text, language)
        return self._chunks(text, source, defaultdict(int))

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks alone."""
        return [chunk.text for chunk in self.chunk(text)]

    def iter_chunks(
        self, documents: Iterable[tuple[str | None, str | Analysis]]
    ) -> Iterator[Chunk]:
        """The chunks of ``(source, text)`` pairs, document by document, as they are asked for."""
        for chunks in self.chunk_documents(documents):
            yield from chunks

    def chunk_documents(
        self, documents: Iterable[tuple[str | None, str | Analysis]]
    ) -> Iterator[list[Chunk]]:
        """Like :meth:`iter_chunks`, a list for each document.

        A source that comes again goes on counting its parts.
        """
        parts: _Parts = defaultdict(int)
        for source, text in documents:
            yield self._chunks(text, source, defaultdict(int) if source is None else parts)

    def chunk_batch(
        self,
        texts: Sequence[str],
        sources: Sequence[str | None] | None = None,
        workers: int = 1,
        progress: bool = False,
    ) -> list[list[Chunk]]:
        """The chunks of several texts, in input order.

        A source that is given twice goes on counting its parts. With ``workers`` above 1
        the texts are spread over processes (the configuration must be picklable, as it
        is with an encoding's name); the result does not depend on it. ``progress`` shows
        a bar on stderr. Raises ``ConfigError`` when ``sources`` has another length.
        """
        names: Sequence[str | None] = [None] * len(texts) if sources is None else sources
        if len(names) != len(texts):
            raise ConfigError("sources", len(names), f"allowed is one per text ({len(texts)})")
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise ConfigError("workers", workers, "allowed is a whole number of at least 1")
        from chunkast.batch import chunk_groups

        return chunk_groups(self, texts, names, workers=workers, progress=progress)

    def _chunks(self, given: str | Analysis, source: str | None, parts: _Parts) -> list[Chunk]:
        analysis = given if isinstance(given, Analysis) else self.analyze(given)
        return _Run(self, analysis, source, parts).chunks()


class _Run:
    """One document on its way from the analysis to its chunks."""

    def __init__(
        self, chunker: Chunker, analysis: Analysis, source: str | None, parts: _Parts
    ) -> None:
        self.config = chunker.config
        self.analysis = analysis
        self.text = text = analysis.text
        self.source = source
        self.location = Location.of(source or "")
        self.parts = parts
        leaves = [pair for pair in _leaves(analysis.blocks, ()) if pair[0].kind != "blank"]
        self.leaves = [leaf for leaf, _ in leaves]
        self.leaf_kinds = [kinds for _, kinds in leaves]
        self.leaf_starts = [leaf.start for leaf in self.leaves]
        self.index = TokenIndex(text, chunker.counter, self.leaf_starts)
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
            extensions=self.config.extensions,
        )
        points = [p for p in analysis.break_points if self.closed.end(p.pos) == p.pos]
        self.annotations = analysis.annotations
        self.annotation_starts = [mark.start for mark in self.annotations]
        if self.leaves and self.leaves[0].start:
            # Blank lines before the first block are a unit of their own.
            points.insert(0, BreakPoint(self.leaves[0].start, 0.0, "paragraph"))
        if analysis.extended:
            points = merge_break_points(points, self.region_edges())
        if self.config.oversize == "split":
            points = self.refined(points)
        self.context = Context(
            self.config,
            analysis.headings,
            self.refiner.frames,
            analysis.front_matter,
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
        self.overlap = Overlap(self.layout, self.sentences)

    def size(self, start: int, end: int) -> int:
        """What a chunk over the span would count."""
        if self.config.trim:
            start, end = trim_span(self.text, start, end)
        return self.index.count(start, end)

    def fits(self, start: int, end: int) -> bool:
        """Whether a chunk over the span would be within the budget."""
        return self.size(start, end) <= self.config.max_tokens

    def region_edges(self) -> Iterator[BreakPoint]:
        """Points at the edges of closed regions that begin in one leaf and end in another.

        Only a user's heuristic or a tool call makes such regions; what lies between two
        points has to belong to one leaf or to one region.
        """
        score = self.config.score_table["line"]
        for start, end in self.closed:
            leaf, last = self.leaf_around(start), self.leaf_around(end)
            if leaf is not None and end <= leaf.end:
                continue
            if leaf is None or leaf.start < start:
                yield BreakPoint(start, score, "line")
            if last is not None and self.text[end : last.end].strip():
                yield BreakPoint(end, score, "line")

    def leaf_around(self, pos: int) -> Block | None:
        """The leaf that holds the character at ``pos``."""
        slot = bisect_right(self.leaf_starts, pos) - 1
        found = slot >= 0 and pos < self.leaves[slot].end
        return self.leaves[slot] if found else None

    def leaf_at(self, pos: int) -> Block | None:
        """The leaf that begins at ``pos``."""
        slot = bisect_left(self.leaf_starts, pos)
        found = slot < len(self.leaves) and self.leaf_starts[slot] == pos
        return self.leaves[slot] if found else None

    def refined(self, points: list[BreakPoint]) -> list[BreakPoint]:
        """``points`` and those inside blocks that are larger than the budget.

        A paragraph that would fit alone, but not with the heading before it, divides at
        its sentences, so that the heading keeps company.
        """
        budget = self.config.max_tokens
        edges = [0, *(point.pos for point in points), len(self.text)]
        scores = [0.0, *(point.score for point in points)]
        top_level = {id(block) for block in self.analysis.blocks.children}
        extra: list[BreakPoint] = []
        glued = 0
        for start, end, score in zip(edges, edges[1:], scores, strict=False):
            if start == end:
                continue
            if score >= 0:
                glued = start
            leaf = self.leaf_at(start)
            if self.too_large(start, end):
                leaf = leaf or self.leaf_around(start) or Block("blank", start, end)
                whole = self.closed.end(start + 1) if self.closed.covers(start) else start
                self.refiner.divide(leaf, start, max(leaf.end, whole), end)
            elif (
                glued < start
                and leaf is not None
                and leaf.kind == "paragraph"
                and id(leaf) in top_level
                and self.size(glued, end) > budget
            ):
                extra.extend(self.refiner.sentence_points(leaf, start, end))
        return sorted([*points, *self.refiner.points, *extra], key=lambda point: point.pos)

    def too_large(self, start: int, end: int) -> bool:
        budget = self.config.max_tokens
        # Estimates are exact at the starts of blocks, where all points are but a user's own;
        # trimming takes a few tokens away.
        exact = self.index.additive and self.config.trim and not self.analysis.extended
        estimate = self.index.estimate(end) - self.index.estimate(start)
        surely_fits = exact and estimate <= budget - 8
        return not surely_fits and self.size(start, end) > budget

    def chunks(self) -> list[Chunk]:
        layout = self.layout
        root = section_tree(self.analysis.headings, len(self.text))
        pieces = [
            piece
            for piece in pack(layout, root, self.overlap, self.has_text)
            if layout.span(piece.first, piece.last)[0] < layout.span(piece.first, piece.last)[1]
        ]
        source_map = SourceMap(self.text)
        heading_starts = {heading.start for heading in self.analysis.headings}
        chunks: list[Chunk] = []
        for number, piece in enumerate(pieces):
            previous = pieces[number - 1] if number else None
            if layout.pos[piece.first] in heading_starts:
                previous = None
            chunks.append(self.emit(number, piece, previous, source_map))
        return chunks

    def has_text(self, unit: int) -> bool:
        leaf = self.leaf_at(self.layout.pos[unit])
        if leaf is None:
            pos = self.layout.pos
            return bool(self.text[pos[unit] : pos[unit + 1]].strip())
        behind = self.text[leaf.end : self.layout.pos[unit + 1]]
        return not CONSTRUCTS[leaf.kind].heads or bool(behind.strip())

    def emit(
        self, number: int, piece: Piece, previous: Piece | None, source_map: SourceMap
    ) -> Chunk:
        layout = self.layout
        own, end = layout.span(piece.first, piece.last)
        start = own
        if previous is not None:
            room = self.config.max_tokens - layout.context(piece.first)
            start = self.overlap.start(previous, piece, room)
        text = self.text[start:end]
        tokens = self.index.count(start, end)
        cut = layout.pos[piece.last]
        embed_text, embed_tokens = self.context.embed(text, tokens, start, own, cut)
        headings = self.context.path(own)
        location = self.location.at(headings)
        part = self.parts[location.key]
        self.parts[location.key] += 1
        text_hash = content_hash(text)
        return Chunk(
            id=location.id(part),
            index=number,
            source=self.source,
            text=text,
            start_index=start,
            end_index=end,
            start_byte=source_map.byte(start),
            end_byte=source_map.byte(end),
            start_line=source_map.line(start),
            end_line=source_map.line(end - 1),
            token_count=tokens,
            overlap=own - start,
            headings=headings,
            kinds=self.kinds(start, end),
            content_hash=text_hash,
            embed_text=embed_text,
            embed_token_count=embed_tokens,
            embed_hash=text_hash if embed_text == text else content_hash(embed_text),
            oversize=tokens > self.config.max_tokens,
            metadata=self.metadata(own, end),
        )

    def metadata(self, start: int, end: int) -> dict[str, Any]:
        """The document's front matter, and what is annotated of ``[start, end)``."""
        front_matter = self.analysis.front_matter
        found: dict[str, Any] = {"front_matter": front_matter} if front_matter else {}
        if self.annotations:
            first = bisect_left(self.annotation_starts, start)
            for mark in self.annotations[first : bisect_left(self.annotation_starts, end)]:
                found.setdefault(mark.key, []).append(mark.value)
        return found

    def sentences(self, unit: int) -> list[int]:
        """The beginnings of sentences inside a unit of prose that was not divided."""
        start, end = self.layout.pos[unit], self.layout.pos[unit + 1]
        leaf = self.leaf_at(start)
        divided = leaf is None or end < leaf.end or self.closed.covers(start)
        if leaf is None or divided or CONSTRUCTS[leaf.kind].shape != "prose":
            return []
        return [point.pos for point in self.refiner.sentence_points(leaf, start, leaf.end)]

    def kinds(self, start: int, end: int) -> tuple[str, ...]:
        """The kinds of the blocks that ``[start, end)`` touches, in order of appearance."""
        kinds: dict[str, None] = {}
        slot = max(bisect_left(self.leaf_starts, start + 1) - 1, 0)
        while slot < len(self.leaves) and self.leaf_starts[slot] < end:
            kinds.update(dict.fromkeys(self.leaf_kinds[slot]))
            slot += 1
        return tuple(kinds)


def _leaves(block: Block, kinds: tuple[str, ...]) -> Iterator[tuple[Block, tuple[str, ...]]]:
    """Every leaf with its kind and its containers', the outermost first, as a chunk names them."""
    if block.kind not in ("document", "item", "marker") and block.kind not in kinds:
        kinds = (*kinds, block.kind)
    if not block.children:
        yield block, kinds
    for child in block.children:
        yield from _leaves(child, kinds)
