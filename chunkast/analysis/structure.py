"""The structure of a document: its leaves, sections and possible cuts.

Possible cuts, and the text and tables inside leaves, are computed on first use.
"""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, Final

from chunkast.analysis.frames import Frame, frames_of
from chunkast.analysis.headed import HeadedLeaves, is_label
from chunkast.analysis.heading_paths import Headings
from chunkast.analysis.inside import Inside, Insides
from chunkast.analysis.openers import Openers
from chunkast.analysis.syntax import Margin, code_points, margin_of
from chunkast.analysis.walk import BlockWalk, Point, line_end
from chunkast.code import Outliner
from chunkast.config import ChunkConfig
from chunkast.markdown.dialects import dialects_of
from chunkast.markdown.kinds import CONSTRUCTS, Construct
from chunkast.model import Analysis, Block, BreakPoint, ProtectedRegion
from chunkast.text.front_matter import parse_front_matter
from chunkast.text.language import language_of_text
from chunkast.text.source_map import make_array
from chunkast.text.white_space import is_blank

__all__ = ("Structure",)

_LOG = logging.getLogger(__name__)
_START = attrgetter("start")
_FIELDS = attrgetter("pos", "score", "kind")
# The number of front matters that are remembered.
_REMEMBERED: Final = 2


class Structure:
    """The structure of one document.

    ``analysis`` has the blocks, the headings and, if ``complete`` is true, all break points and
    regions. If ``complete`` is false, those of blocks are computed on first use;
    :meth:`completed` returns an analysis with all of them.
    """

    def __init__(self, analysis: Analysis, config: ChunkConfig, *, complete: bool) -> None:
        self.analysis = analysis
        self.text = analysis.text
        self.complete = complete
        self.headings = Headings(analysis)
        self._config = config
        self._blocks = analysis.blocks.children
        self._starts = make_array(map(_START, self._blocks), len(analysis.text))
        self.leaves: list[Block] = []
        # The names of the containers around each leaf, outermost first.
        self._around: list[tuple[str, ...]] = []
        _add_leaves(self._blocks, (), self.leaves, self._around)
        self.leaf_starts = make_array(map(_START, self.leaves), len(analysis.text))

    # What is known of the whole document

    @property
    def parsed(self) -> str:
        """The text that the parser read; positions in it are the same as in ``text``."""
        return self.analysis.masked or self.text

    def front_matter_at(self, pos: int) -> str | Mapping[str, Any]:
        """Return the front matter of the page at ``pos``: a mapping if it is parsed, or a str."""
        page, data = self.headings.page_at(pos), self.analysis.front_matter_data
        if page.number:
            data = _data(page.front_matter) if self._config.front_matter == "parsed" else None
        return page.front_matter if data is None else data

    def noted(self, notes: Sequence[str]) -> Structure:
        """Return the structure with notes added, and log all notes."""
        structure = self
        if notes:
            analysis = replace(self.analysis, notes=(*self.analysis.notes, *notes))
            structure = Structure(analysis, self._config, complete=self.complete)
        for note in structure.analysis.notes:
            _LOG.info("%s", note)
        return structure

    def completed(self) -> Analysis:
        """Return the analysis with the break points and regions of the whole document."""
        if self.complete:
            return self.analysis
        walk = self._walk
        points = [BreakPoint(*point[:3]) for point in walk.points[1:]]
        last = walk.last_point()
        if last is not None:
            points.append(BreakPoint(len(self.text), *last))
        regions = tuple(self.regions)
        return replace(self.analysis, break_points=tuple(points), regions=regions)

    @cached_property
    def _walk(self) -> BlockWalk:
        walk = BlockWalk(self.text, self._config.score_table)
        walk.visit_all(self._blocks)
        for dialect in dialects_of(self.analysis.extensions):
            if dialect.attached is not None and dialect.attached.search(self.text):
                walk.attach(dialect.attached)
        return walk

    @cached_property
    def points(self) -> Sequence[Point]:
        """The sorted points where a cut may be made: those of all leaves or a complete analysis."""
        own, points = self._walk.points, list(self._walk.points)
        # Between a bold line and its text, for example, a cut is worse.
        lead_in = self._config.score_table["lead-in"] / 2
        for number in self._walk.first_children:
            points[number] = points[number]._replace(score=lead_in, kind="lead-in")
        if not self.complete or not points:
            return points
        # Blank lines before the first block are not part of it.
        given = {points[0].pos: points[0]}
        numbers = {point.pos: number for number, point in enumerate(own)}
        for pos, score, kind in map(_FIELDS, self.analysis.break_points):
            slot = numbers.get(pos)
            if slot is None:
                given[pos] = Point(pos, score, kind)
            elif (score, kind) == own[slot][1:3]:
                given[pos] = points[slot]
            else:
                given[pos] = points[slot]._replace(score=score, kind=kind)
        return [given[pos] for pos in sorted(given)]

    @cached_property
    def regions(self) -> Sequence[ProtectedRegion]:
        """The protected regions, sorted by start and, at the same start, the longest first."""
        known = self.analysis.regions
        if self.complete:
            return known
        regions = self._walk.regions
        if not (known or self.analysis.tags or self.analysis.wrappers):
            return regions
        blocks = {(region.start, region.end) for region in regions}
        tags = {*self.analysis.tags, *self.analysis.wrappers}
        pairs = {(start, line_end(self.text, end)) for start, end in tags} - blocks
        between = (ProtectedRegion(*pair, "tag") for pair in pairs)
        regions = [*regions, *known, *between]
        return sorted(regions, key=lambda region: (region.start, -region.end))

    @cached_property
    def headed(self) -> HeadedLeaves:
        """The leaves of text right below headings."""
        return HeadedLeaves(self.parsed, self.leaves)

    # Look-ups by position

    def next_leaf(self, pos: int) -> int:
        """Return the start of the first leaf with text at or after ``pos``, or the text's end."""
        number = bisect_left(self.leaf_starts, pos)
        return self.leaf_starts[number] if number < len(self.leaves) else len(self.text)

    def headings_above(self, pos: int, least: int = 0) -> int:
        """Return the start of the headings right before ``pos``, or ``pos`` if there are none.

        A bold line counts as a heading, and the labels before a heading belong to it. Headings
        before ``least`` are ignored.
        """
        first = pos
        for number in range(bisect_left(self.leaf_starts, pos) - 1, -1, -1):
            leaf = self.leaves[number]
            section = CONSTRUCTS[leaf.kind].section or leaf.kind == "bold-heading"
            if leaf.start < least or not (section or is_label(self.parsed, leaf)):
                break
            if section or first < pos:
                first = leaf.start
        return first

    def is_nested(self, pos: int) -> bool:
        """Return whether ``pos`` is strictly inside a top-level block."""
        number = bisect_left(self._starts, pos)
        following = self._starts[number] if number < len(self._starts) else len(self.text)
        return following > pos

    def leaf_around(self, pos: int) -> Block | None:
        """Return the leaf that contains the character at ``pos``, or None if no leaf does."""
        number = bisect_right(self.leaf_starts, pos) - 1
        return self.leaves[number] if number >= 0 and pos < self.leaves[number].end else None

    def row(self, leaf: Block) -> Construct:
        """Return a leaf's row in the table of constructs."""
        return CONSTRUCTS[leaf.kind]

    def is_block(self, kind: str) -> bool:
        """Return whether regions of this kind are blocks, which never cross each other."""
        row = CONSTRUCTS.get(kind)
        return row is not None and (row.protected or row.tag)

    @property
    def line_score(self) -> float:
        """The score of a point between two lines of a leaf."""
        return self._config.score_table["line"]

    def kinds(self, start: int, end: int) -> tuple[str, ...]:
        """Return the kinds of the blocks in ``[start, end)``, in order of appearance."""
        first = max(bisect_right(self.leaf_starts, start) - 1, 0)
        kinds: dict[str, None] = {}
        names: tuple[str, ...] = ()
        for number in range(first, bisect_left(self.leaf_starts, end, first)):
            if names is not self._around[number]:
                names = self._around[number]
                kinds.update(dict.fromkeys(names))
            row = CONSTRUCTS[self.leaves[number].kind]
            if not row.unnamed:
                kinds[row.named] = None
        return tuple(kinds)

    def has_text(self, start: int, end: int) -> bool:
        """Return whether ``[start, end)`` has text other than headings and front matter."""
        for number in range(max(bisect_right(self.leaf_starts, start) - 1, 0), len(self.leaves)):
            leaf = self.leaves[number]
            if leaf.start >= end:
                break
            if leaf.start >= start:
                if not (CONSTRUCTS[leaf.kind].heads or leaf.kind == "front-matter"):
                    return True
            elif not is_blank(self.text[start : min(end, leaf.end)]):
                return True
        return False

    @cached_property
    def insides(self) -> Insides:
        """The reader of the text and tables inside leaves."""
        language = self._config.sentence_language
        if language == "auto":
            language = language_of_text(self.text, self.analysis.front_matter)
        return Insides(self.analysis, language)

    @cached_property
    def openers(self) -> Openers:
        """The reader of the openers of blocks."""
        return Openers(self.analysis, self.headings, self._starts, lambda: self.insides)

    def outliner(self, least: int) -> Outliner:
        """Return an outliner that ignores items inside an item of at most ``least`` characters."""
        return Outliner(least)

    def definitions(self, leaf: Block, outliner: Outliner) -> list[Point]:
        """Return the points before the definitions and statements of a leaf of code."""
        return code_points(self.parsed, leaf, outliner, self._config.score_table)

    def margin(self, leaf: Block) -> Margin:
        """Return the container markers at the start of a code block's lines, such as ``"> "``."""
        return margin_of(self.parsed, leaf)

    def frames(self, leaf: Block, inside: Inside, cuts: Sequence[int]) -> list[Frame]:
        """Return the frames of the parts of a leaf that is divided at the sorted ``cuts``."""
        return list(frames_of(self.text, leaf, inside.tables, cuts))


@lru_cache(_REMEMBERED)
def _data(front_matter: str) -> Mapping[str, Any] | None:
    try:
        return parse_front_matter(front_matter)
    except ValueError:  # a tool call in it was masked
        return None


def _add_leaves(
    blocks: Sequence[Block],
    names: tuple[str, ...],
    leaves: list[Block],
    around: list[tuple[str, ...]],
) -> None:
    """Add the leaves with text, and the ``names`` of the containers around each."""
    for block in blocks:
        row = CONSTRUCTS[block.kind]
        if block.children:
            inner = names if row.unnamed else (*names, row.named)
            _add_leaves(block.children, inner, leaves, around)
        elif not row.blank:
            leaves.append(block)
            around.append(names)
