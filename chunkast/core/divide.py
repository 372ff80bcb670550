"""Points inside blocks that are larger than the budget, until every piece fits.

Each shape of block has its levels, coarse to fine: prose divides at sentences, lines,
words and grapheme clusters, code and tables at lines and rows first. A level is used
only for a piece that the levels before left too large. What must not be cut inside
prose (links, inline code, ...) stays whole while it fits; grapheme clusters always do.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Final

from chunkast.code import Outliner
from chunkast.core.analysis.points import new_point
from chunkast.core.analysis.regions import opening_line
from chunkast.core.analysis.syntax import SyntaxPoint, fence_points
from chunkast.core.cells import cell_content, cell_spans
from chunkast.core.document import Document
from chunkast.core.html_tables import HtmlTables, html_tables, tags_around
from chunkast.core.opaque import kept_span, runs_above_budget
from chunkast.markdown.dialects import item_marks
from chunkast.markdown.inline import MAX_NESTED
from chunkast.markdown.kinds import CONSTRUCTS, Shape
from chunkast.markdown.prose import Prose
from chunkast.model import Block, BreakPoint
from chunkast.text.graphemes import joined_spans
from chunkast.text.language import language_of_text
from chunkast.text.opaque import OpaqueRun
from chunkast.text.sentences import sentence_starts
from chunkast.text.source_map import line_starts
from chunkast.text.spans import InlineSpan, SpanSet, content_end
from chunkast.text.white_space import WHITE_SPACE, is_blank
from chunkast.tokens import SpanCounts

__all__ = ("Divider", "Division", "Frame")

_WORD = re.compile(f"(?<=[{WHITE_SPACE}])[^{WHITE_SPACE}]")
_CELL_OPTION = re.compile(r"[ \t>]*(?:#|//|--|%%)\|[ \t]")
# Word and cluster points are set no closer than this share of the budget at first.
_STEP_SHARE: Final = 32
# Characters by which it is told how many hold a token.
_SAMPLE: Final = 64
# A cell's sentence counts less than the cell: this share of a sentence's score.
_CELL_SHARE: Final = 0.2
_TABLES: Final = frozenset({"table", "html-table"})
# An opening line that takes more than this share of the budget may stand alone.
_OPENING_SHARE: Final = 4
# Code is divided at its syntax to this depth, then at lines.
_SYNTAX_DEPTH: Final = 12


@dataclass(frozen=True, slots=True)
class Frame:
    """What makes a piece of a divided block self-contained.

    ``prefix`` goes before a text that begins inside ``(start, end)``, ``suffix`` after
    a text that ends there; ``bare`` in place of the prefix where there is no room for it.
    """

    start: int
    end: int
    prefix: str
    suffix: str = ""
    bare: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What the levels of one leaf look at."""

    text: str
    leaf: Block
    sentences: Sequence[int]
    sentence_share: float
    blocked: SpanSet
    scores: Mapping[str, float]
    index: SpanCounts
    step: int
    syntax: Sequence[SyntaxPoint]
    tables: HtmlTables
    items: Sequence[re.Pattern[str]]
    # Where the opaque runs that are kept begin and end, sorted.
    kept: Sequence[int] = ()

    def point(self, pos: int, kind: str, share: float = 1.0) -> BreakPoint:
        score = self.scores[kind]
        # One number for all, where it is the table's own.
        return new_point(pos, score if share == 1 else score * share, kind)

    def spacing(self, start: int, end: int) -> int:
        """How many characters hold about ``step`` tokens of ``[start, end)``."""
        if self.index.estimated:
            tokens = self.index.estimate(end) - self.index.estimate(start)
        else:  # of its own text alone, so that an edit elsewhere moves none of its points
            end = min(end, start + _SAMPLE)
            tokens = self.index.count(start, end)
        return max(1, (end - start) * self.step // max(tokens, 1))


_Level = Callable[[_Piece, int, int], Iterator[BreakPoint]]


def _sentences(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    for pos in piece.sentences:
        if start < pos < end and piece.blocked.end(pos) == pos:
            yield piece.point(pos, "sentence", piece.sentence_share)


def _items(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """The sentences that begin an item in a paragraph."""
    for point in _sentences(piece, start, end):
        if any(item.match(piece.text, point.pos) for item in piece.items):
            yield piece.point(point.pos, "bullet")


def _syntax(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """Before the outermost definitions and statements that begin inside the piece."""
    first = bisect_right(piece.syntax, start, key=_position)
    inside = piece.syntax[first : bisect_left(piece.syntax, end, key=_position)]
    depth = min((item.depth for item in inside), default=0)
    for item in inside:
        if item.depth == depth and piece.blocked.end(item.point.pos) == item.point.pos:
            yield item.point


def _position(item: SyntaxPoint) -> int:
    return item.point.pos


def _lines(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """Every line that is not blank; those after a blank line score higher, outer ones most.

    A fence's or formula's first and last line stay with what is between them.
    """
    starts = line_starts(piece.text, start, end)
    indentation: dict[int, int] = {}
    rows: list[tuple[int, bool]] = []
    blank_before = False
    for number, pos in enumerate(starts[:-1]):
        line = piece.text[pos : starts[number + 1]]
        if is_blank(line):
            blank_before = True
            continue
        if blank_before:
            width = len(line) - len(line.lstrip(" \t"))
            indentation[pos] = len(line[:width].expandtabs(4))
        rows.append((pos, blank_before))
        blank_before = False
    ranks = {width: rank for rank, width in enumerate(sorted(set(indentation.values())))}
    opening = CONSTRUCTS[piece.leaf.kind].delimited
    closing = opening and piece.leaf.closed
    head = int(opening and start == piece.leaf.start)
    for number, (pos, after_blank) in enumerate(rows):
        first = 0 < number == head
        # The options of a code cell belong to its opening line, whose info they go on with.
        head += first and _CELL_OPTION.match(piece.text, pos) is not None
        if pos <= start or piece.blocked.end(pos) != pos:
            continue
        last = closing and end >= piece.leaf.end and number == len(rows) - 1
        if first or last:
            yield piece.point(pos, "lead-in")
        elif after_blank:
            yield piece.point(pos, "blank-line", 1 / (1 + ranks[indentation[pos]]))
        else:
            yield piece.point(pos, "line")


def _rows(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """A table's rows; its header and delimiter row stay together, with a row after them."""
    header = start == piece.leaf.start
    for number, pos in enumerate(line_starts(piece.text, start, end)[1:-1], 1):
        if header and number == 1:
            continue
        if piece.blocked.end(pos) == pos:
            yield piece.point(pos, "lead-in" if header and number == 2 else "row")


def _delimiters(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """The row of delimiters below a header that it does not fit with."""
    if start == piece.leaf.start:
        for pos in line_starts(piece.text, start, end)[1:-1]:
            yield piece.point(pos, "lead-in")


def _cells(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    for pos, _ in cell_spans(piece.text, start, end):
        if pos > start and piece.blocked.end(pos) == pos:
            yield piece.point(pos, "cell")


def _cell_edges(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """Between a sentence that fits and the pipes around its cell, which do not."""
    for pos in cell_content(piece.text, start, end):
        if start < pos < end and piece.blocked.end(pos) == pos:
            yield piece.point(pos, "word")


def _kept(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """Before and after the opaque runs that are kept."""
    inside = piece.kept[bisect_right(piece.kept, start) : bisect_left(piece.kept, end)]
    for pos in dict.fromkeys(inside):
        yield piece.point(pos, "word")


def _html(column: str, kind: str, piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """A column of HTML tables; what is not a good place for a cut counts as a lead-in."""
    places = getattr(piece.tables, column)
    inside = places[bisect_right(places, start) : bisect_left(places, end)]
    for pos in dict.fromkeys(inside):
        if piece.blocked.end(pos) == pos:
            yield piece.point(pos, "lead-in" if pos in piece.tables.leading else kind)


def _all_lines(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    for pos in line_starts(piece.text, start, end)[1:-1]:
        yield piece.point(pos, "line")


def _words(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    for match in _WORD.finditer(piece.text, start, end):
        pos = match.start()
        if pos > start and piece.blocked.end(pos) == pos:
            yield piece.point(pos, "word")


def _graphemes(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    pos = piece.blocked.end(start + 1)
    while pos < end:
        yield piece.point(pos, "grapheme")
        pos = piece.blocked.end(pos + 1)


def _spaced(level: _Level, piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    """The points of ``level`` that are at least a small share of the budget apart."""
    distance = piece.spacing(start, end)
    least = start + distance
    for point in level(piece, start, end):
        if point.pos >= least:
            yield point
            least = point.pos + distance


def _spaced_graphemes(piece: _Piece, start: int, end: int) -> Iterator[BreakPoint]:
    distance = piece.spacing(start, end)
    pos = piece.blocked.end(start + distance)
    while pos < end:
        yield piece.point(pos, "grapheme")
        pos = piece.blocked.end(pos + distance)


_CHARACTERS: Final[tuple[_Level, ...]] = (_spaced_graphemes, _graphemes)
_FINEST: Final[tuple[_Level, ...]] = (_kept, partial(_spaced, _words), _words, *_CHARACTERS)
# Lines of white space, which may be a character each.
_BLANK_LINES: Final[tuple[_Level, ...]] = (partial(_spaced, _all_lines), _all_lines)
_LEVELS: Final[Mapping[Shape, tuple[_Level, ...]]] = {
    "prose": (_items, _sentences, _lines, *_FINEST),
    "code": (*[_syntax] * _SYNTAX_DEPTH, _lines, *_FINEST),
    "lines": (_lines, *_FINEST),
    "html-table": (
        partial(_html, "edges", "row"),
        partial(_html, "groups", "row"),
        partial(_html, "rows", "row"),
        partial(_html, "tails", "lead-in"),
        partial(_html, "cells", "cell"),
        partial(_html, "inner", "line"),
        partial(_html, "items", "line"),
        _sentences,
        partial(_html, "contents", "word"),
        *_FINEST,
    ),
    "table": (_rows, _delimiters, _cells, _sentences, _cell_edges, *_FINEST),
    "container": _FINEST,
}


@dataclass(frozen=True, slots=True)
class Division:
    """The points that divide a block, in no order, and what makes its parts self-contained.

    ``replaced`` are the opaque runs in it that are kept.
    """

    points: list[BreakPoint]
    frames: Sequence[Frame] = ()
    replaced: Sequence[OpaqueRun] = ()


class Divider:
    """Divides the blocks of one document that are larger than the budget.

    With ``trim`` off in the configuration, white space after a part counts as well and is cut
    off before the part itself is divided.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text
        self.index = document.index
        self.measure = document.measure
        self.parsed = document.parsed
        self.protected = document.protected
        self.scores = document.config.score_table
        self.trim = document.config.trim
        # The opaque runs that were divided.
        self.opaque: list[OpaqueRun] = []
        self._items = item_marks(document.extensions)
        # Of the leaf that was asked for last.
        self._whole: tuple[Block, SpanSet] | None = None
        # What has fewer characters than the budget has tokens is not divided.
        self._outliner = Outliner(least=document.config.budget)

    @cached_property
    def language(self) -> str:
        """The code of the language that the document's sentences are in."""
        given = self.document.config.sentence_language
        if given != "auto":
            return given
        return language_of_text(self.text, self.document.front_matter)

    def divide(self, leaf: Block, start: int, body_end: int, end: int) -> Division:
        """The points inside ``[start, end)``, which begins with ``leaf``, between which all fits.

        ``body_end`` is where the leaf, or the protected region that it opens, ends. What
        follows it is white space, or lines with nothing but a container's markers.
        """
        tail = self._tail(body_end, end)
        config = self.document.config
        runs = runs_above_budget(self.document, leaf, start, tail)
        if config.oversize == "keep":
            return Division([], replaced=runs if config.opaque == "keep" else ())
        piece = self._piece(leaf, end)
        replaced: list[OpaqueRun] = []
        if config.opaque == "keep":
            piece, replaced = self._keep(piece, runs, start, tail)
        else:
            self.opaque += runs
        points: list[BreakPoint] = []
        if tail < end:
            points.append(piece.point(tail, "line"))
            points += self._fitting(piece, tail, end, (*_BLANK_LINES, *_FINEST))
        points += self._inside(piece, start, tail)
        return Division(points, list(_frames(self.text, leaf, piece.tables, points)), replaced)

    def _inside(self, piece: _Piece, start: int, end: int) -> list[BreakPoint]:
        """The points inside a leaf; none right after a fence's opening line that would stand alone."""
        levels = _LEVELS[CONSTRUCTS[piece.leaf.kind].shape]
        points = [*self._fitting(piece, start, end, levels)]
        if not CONSTRUCTS[piece.leaf.kind].fenced or not points:
            return points
        first, second, *_ = sorted((*(point.pos for point in points), end))
        opening = self.text[start:first].rstrip(WHITE_SPACE)
        opens = self.text[first - 1] in "\r\n" and not {"\r", "\n"}.intersection(opening)
        small = _OPENING_SHARE * self.measure.size(start, first) <= self.measure.budget
        if opens and small and not self.measure.fits(start, second):
            blocked = SpanSet([*piece.blocked, (start, first + 1)])
            points = [*self._fitting(replace(piece, blocked=blocked), start, end, levels)]
        return points

    def _keep(
        self, piece: _Piece, runs: Iterable[OpaqueRun], start: int, end: int
    ) -> tuple[_Piece, list[OpaqueRun]]:
        """``piece`` with the ``runs`` in ``[start, end)`` that are kept whole, and these."""
        kept: list[OpaqueRun] = []
        spans: list[tuple[int, int]] = []
        sentences = (piece.leaf.start, *piece.sentences, piece.leaf.end)
        for run in runs:
            span = kept_span(
                self.document,
                run,
                start,
                end,
                blocked=piece.blocked,
                sentences=sentences,
            )
            # What one takes along is not another's.
            if span is not None and (not spans or span[0] >= spans[-1][1]):
                kept.append(run)
                spans.append(span)
        blocked = SpanSet([*piece.blocked, *spans])
        return replace(piece, blocked=blocked, kept=tuple(chain(*spans))), kept

    def _tail(self, body_end: int, end: int) -> int:
        """Where what has to be cut off after a body begins: a line's start, or ``end``."""
        if body_end >= end or (self.trim and is_blank(self.text[body_end:end])):
            return end
        at_start = self.text[body_end - 1] in "\r\n"
        return body_end if at_start else line_starts(self.text, body_end, end)[1]

    def sentence_points(self, leaf: Block, start: int, end: int) -> list[BreakPoint]:
        """The beginnings of sentences inside ``(start, end)`` of a leaf of prose."""
        if not sentence_starts(Prose(self.parsed, leaf).text, language=self.language):
            return []
        return list(_sentences(self._piece(leaf, end), start, end))

    def _piece(self, leaf: Block, end: int) -> _Piece:
        """``leaf``, and the white space after it up to ``end``."""
        last = max(leaf.end, end)
        clusters = joined_spans(self.text, leaf.start, last)
        shape = CONSTRUCTS[leaf.kind].shape
        tables = HtmlTables()
        if shape == "html-table":
            tables = html_tables(self.parsed, leaf.start, leaf.end)
        blocked = [*clusters, *self.protected.within(leaf.start, last)]
        sentences: set[int] = set()
        whole = SpanSet(clusters)
        for prose in self._prose(leaf, tables):
            spans = prose.spans(self.document.references, self.document.extensions)
            for pos in prose.sentences(spans, self.language, self._items):
                # One that begins inside a region leaves the region's edges to cut at.
                sentences |= {self.protected.start(pos), self.protected.end(pos)}
            # Each is freed once it is taken: there may be one for every two characters.
            while spans:
                blocked.extend(self._whole_spans(prose, spans.pop(), whole))
        step = max(1, self.measure.budget // _STEP_SHARE)
        syntax = fence_points(self.parsed, leaf, self._outliner, self.scores)
        return _Piece(
            self.parsed,
            leaf,
            sorted(sentences),
            _CELL_SHARE if shape in _TABLES else 1.0,
            SpanSet(blocked),
            self.scores,
            self.index,
            step,
            syntax,
            tables,
            self._items,
        )

    def whole_spans(self, leaf: Block) -> SpanSet:
        """What is not cut inside a leaf: grapheme clusters, regions and inline spans that fit."""
        if self._whole is None or self._whole[0] is not leaf:
            self._whole = leaf, self._piece(leaf, leaf.end).blocked
        return self._whole[1]

    def _prose(self, leaf: Block, tables: HtmlTables) -> Iterator[Prose]:
        """What has sentences in a leaf: its text, or those cells of a table that do not fit."""
        shape = CONSTRUCTS[leaf.kind].shape
        if shape == "prose":
            yield Prose(self.parsed, leaf)
        elif shape == "html-table":
            for cell in tables.cell_contents():
                if not self.measure.fits_untrimmed(*cell):
                    yield Prose(self.parsed, Block("paragraph", *cell))
        elif shape == "table":
            for row in pairwise(line_starts(self.text, leaf.start, leaf.end)):
                if self.measure.fits_untrimmed(*row):
                    continue
                for first, last in cell_spans(self.parsed, *row):
                    if not self.measure.fits_untrimmed(first, last):
                        content = cell_content(self.parsed, first, last)
                        yield Prose(self.parsed, Block("paragraph", *content))

    def _whole_spans(
        self, prose: Prose, span: InlineSpan, clusters: SpanSet, depth: int = 0
    ) -> Iterator[tuple[int, int]]:
        """An inline span in the source; of one that does not fit those inside it."""
        # A construct ends where no grapheme cluster is cut.
        first = clusters.start(prose.source(span.start))
        last = clusters.end(prose.source(span.end - 1) + 1)
        if not self.protected.crosses(first, last) and self.measure.fits_untrimmed(first, last):
            yield first, last
        elif depth < MAX_NESTED:
            for inner in span.inside:
                yield from self._whole_spans(prose, inner, clusters, depth + 1)

    def _fitting(
        self, piece: _Piece, start: int, end: int, levels: tuple[_Level, ...]
    ) -> Iterator[BreakPoint]:
        return iter(()) if self.measure.fits(start, end) else self._parts(piece, start, end, levels)

    def _parts(
        self, piece: _Piece, start: int, end: int, levels: tuple[_Level, ...]
    ) -> Iterator[BreakPoint]:
        """The points of the first of ``levels`` that has any, and those inside what is too large."""
        content = content_end(self.text, start, end)
        if not self.trim and start < content < end:
            yield from self._without_space(piece, start, content, end, levels)
            return
        if piece.kept and start < content <= piece.blocked.end(start + 1):
            return
        for number, level in enumerate(levels, 1):
            points = list(level(piece, start, end))
            if points:
                yield from points
                for first, last in pairwise([start, *(point.pos for point in points), end]):
                    if not self.measure.fits(first, last):
                        yield from self._parts(piece, first, last, levels[number:])
                return

    def _without_space(
        self, piece: _Piece, start: int, content: int, end: int, levels: tuple[_Level, ...]
    ) -> Iterator[BreakPoint]:
        """Cut the white space after ``content`` off, at a line's start if that suffices."""
        following = line_starts(self.text, content, end)[1:-1]
        at = following[0] if following and self.measure.fits(start, following[0]) else content
        yield piece.point(at, "line")
        yield from self._fitting(piece, start, at, levels)
        yield from self._fitting(piece, at, end, (*_BLANK_LINES, *_CHARACTERS))


def _frames(
    text: str, leaf: Block, tables: HtmlTables, points: Sequence[BreakPoint]
) -> Iterator[Frame]:
    """What the pieces of a fence or table that is divided at ``points`` need to stand alone."""
    if not points:
        return
    starts = line_starts(text, leaf.start, leaf.end)
    construct = CONSTRUCTS[leaf.kind]
    if construct.fenced and len(starts) > 2:
        opening = opening_line(text, leaf)
        run = opening[: len(opening) - len(opening.lstrip(opening[:1]))]
        last = starts[-2] if leaf.closed else leaf.end
        yield Frame(leaf.start, last, opening + "\n", "\n" + run)
    elif construct.shape == "table" and len(starts) > 3:
        yield Frame(leaf.start, leaf.end, text[leaf.start : starts[2]])
    elif construct.shape == "html-table":
        cuts = (point.pos for point in points if point.pos < leaf.end)
        around = list(tags_around(text, leaf.start, leaf.end, tables, cuts))
        ends = [pos for pos, *_ in around[1:]] + [leaf.end - 1]
        for (pos, prefix, bare, suffix), end in zip(around, ends, strict=True):
            yield Frame(pos - 1, end, prefix, suffix, bare)
