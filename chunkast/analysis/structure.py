"""The structure of a document: its sections, and on demand everything that cutting asks for.

Most sections fit the budget as they are. So break points, protected regions and the insides of
leaves are only found for the text that is cut.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

from chunkast.analysis.frames import Frame, frames_of
from chunkast.analysis.headed import Headed, HeadedLeaves, headed_in, is_label
from chunkast.analysis.heading_paths import Headings
from chunkast.analysis.inside import Inside, Insides
from chunkast.analysis.openers import Openers
from chunkast.analysis.syntax import Margin, SyntaxPoint, code_points, margin_of
from chunkast.analysis.walk import HEADING_KINDS, INSIDE, BlockWalk, line_end
from chunkast.code import Outliner
from chunkast.config import ChunkConfig
from chunkast.markdown.dialects import dialects_of
from chunkast.markdown.kinds import CONSTRUCTS, Construct
from chunkast.model import Analysis, Block, BreakPoint, ProtectedRegion
from chunkast.text.front_matter import parse_front_matter
from chunkast.text.language import language_of_text
from chunkast.text.source_map import make_array
from chunkast.text.white_space import is_blank

__all__ = ("Point", "Stretch", "Structure")

_LOG = logging.getLogger(__name__)
_START = attrgetter("start")
# The number of walks over containers that are remembered.
_REMEMBERED: Final = 2


class Point(NamedTuple):
    """A position at which a cut may fall.

    score, kind: those of the break point.
    depth: the number of containers that a cut divides; ``INSIDE`` in a leaf.
    leaf: the leaf that begins at the position, or None.
    """

    pos: int
    score: float
    kind: str
    depth: int
    leaf: Block | None


class Stretch(NamedTuple):
    """The possible cuts in a range of text, and what they separate.

    points: where a block begins, sorted; without heuristics, at the start of each leaf.
    regions: the protected regions that begin in the range, sorted by start.
    headed: the leaves of text right below headings.
    """

    points: Sequence[Point]
    regions: Sequence[ProtectedRegion]
    headed: HeadedLeaves


class Structure:
    """The structure of one document.

    ``analysis`` has the blocks and headings. Unless ``complete`` is set, it lacks the break points
    and the regions of blocks, which are found on demand; :meth:`completed` returns all of them.
    """

    def __init__(self, analysis: Analysis, config: ChunkConfig, *, complete: bool) -> None:
        self.analysis = analysis
        self.text = analysis.text
        self.complete = complete
        self.headings = Headings(analysis)
        self._config = config
        self._blocks = analysis.blocks.children
        self._starts = make_array(map(_START, self._blocks), len(analysis.text))
        self._remembered_walk = lru_cache(_REMEMBERED)(lambda first: self._walk(first, first + 1))

    # What is known of the whole document

    @property
    def parsed(self) -> str:
        """The text that the parser read; positions in it are the same as in ``text``."""
        return self.analysis.masked or self.text

    @property
    def extended(self) -> bool:
        """True if points and regions may come from heuristics or tool calls, not from a block."""
        return self.analysis.extended

    def front_matter_at(self, pos: int) -> str | Mapping[str, Any]:
        """Return the front matter of the page at ``pos``, as data if it is parsed and valid."""
        page, data = self.headings.page_at(pos), self.analysis.front_matter_data
        if page.number:
            data = _data(page.front_matter) if self._config.front_matter == "parsed" else None
        return page.front_matter if data is None else data

    @cached_property
    def leaf_starts(self) -> Sequence[int]:
        """The starts of all leaves that have text."""
        starts: list[int] = []
        _add_starts(self._blocks, starts)
        return make_array(starts, len(self.text))

    def noted(self, notes: Sequence[str]) -> Structure:
        """Return the structure with notes added; all notes are logged."""
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
        walk = self._walk(0, len(self._blocks))
        points = [
            BreakPoint(leaf.start, score, kind)
            for leaf, score, kind in zip(walk.leaves, walk.scores, walk.kinds, strict=True)
        ][1:]
        last = walk.last_point()
        if last is not None:
            points.append(BreakPoint(len(self.text), *last))
        return replace(
            self.analysis,
            break_points=tuple(points),
            regions=tuple(self._regions(walk, 0, len(self.text))),
        )

    # What is found on demand

    def stretch(self, start: int, end: int) -> Stretch:
        """Return the possible cuts in ``[start, end)``, which begins and ends with a section."""
        if self.complete:
            return self._known_stretch(start, end)
        walk = self._walk_over(start, end)
        first = max(bisect_right(walk.leaves, start, key=_START) - 1, 0)
        to = slice(first, bisect_left(walk.leaves, end, key=_START))
        leaves = walk.leaves[to]
        scores, kinds = walk.scores[to], walk.kinds[to]
        children = walk.first_children
        for number in children[bisect_left(children, first) : bisect_left(children, to.stop)]:
            scores[number - first], kinds[number - first] = self._lead_in
        starts = [leaf.start for leaf in leaves]
        points = [*map(Point, starts, scores, kinds, walk.depths[to], leaves)]
        regions = self._regions(walk, start, end)
        return Stretch(points, regions, HeadedLeaves(headed_in(self.parsed, leaves)))

    def run_score(self, start: int) -> float:
        """Return the score of the point at ``start``, where a run of text begins."""
        number = bisect_left(self._starts, start)
        if number < len(self._blocks) and self._starts[number] == start:
            score = self._plain_score(number)
            if score is not None:
                return score
        run = self.headings.runs[self.headings.run_at(start)]
        heading = self.headings.all[run.heading] if run.heading >= 0 else None
        # The score of a heading counts before the labels and opening lines right before it.
        end = heading.end if heading and heading.start == start else start + 1
        walk = self._walk_over(start, end)
        slot = bisect_left(walk.leaves, start, key=_START)
        return walk.scores[slot] if slot < len(walk.scores) else 0.0

    def _plain_score(self, number: int) -> float | None:
        """Return the score before block ``number`` if it is a heading after text or a heading.

        Nearly all headings are; for any other, returns None. Nothing ends with such text, so a walk
        would find the same score.
        """
        block, before = self._blocks[number], number - 1
        row = CONSTRUCTS[block.kind]
        while before > 0 and CONSTRUCTS[self._blocks[before].kind].blank:
            before -= 1
        if before < 0 or not (row.section and row.leveled) or self._attached:
            return None
        scores, previous = self._config.score_table, CONSTRUCTS[self._blocks[before].kind]
        score = scores[HEADING_KINDS[block.level]]
        if previous.section:
            return min(score, scores["orphan-heading"])
        return score if previous.plain and not previous.heads and not previous.after else None

    def next_leaf(self, pos: int) -> int:
        """Return the start of the first leaf with text at or after ``pos``, or the text's end."""
        leaves = _leaves_from(self._blocks, pos)
        return next((leaf.start for leaf in leaves), len(self.text))

    def headings_above(self, pos: int, least: int = 0) -> int:
        """Return the start of the headings right before ``pos``, or ``pos`` if there are none.

        The labels before a heading belong to it. Headings before ``least`` are not looked for.
        """
        first = pos
        for leaf in _leaves_before(self._blocks, pos):
            row = CONSTRUCTS[leaf.kind]
            if leaf.start < least or not (row.section or is_label(self.parsed, leaf)):
                break
            if row.section or first < pos:
                first = leaf.start
        return first

    def headed_at(self, *positions: int) -> HeadedLeaves:
        """Return the leaves right below the headings that end right before ``positions``."""
        return HeadedLeaves(filter(None, map(self._headed_at, positions)))

    def _headed_at(self, pos: int) -> Headed | None:
        first = self.headings_above(pos)
        leaves = _leaves_from(self._blocks, first) if first < pos else ()
        return next(headed_in(self.parsed, leaves), None)

    def leaf_around(self, pos: int) -> Block | None:
        """Return the leaf that contains the character at ``pos``, or None."""
        blocks: Sequence[Block] = self._blocks
        while True:
            slot = bisect_right(blocks, pos, key=_START) - 1
            if slot < 0 or pos >= blocks[slot].end:
                return None
            block = blocks[slot]
            if not block.children:
                return None if CONSTRUCTS[block.kind].blank else block
            blocks = block.children

    def row(self, leaf: Block) -> Construct:
        """Return the row of the table of constructs for a leaf."""
        return CONSTRUCTS[leaf.kind]

    def is_block(self, kind: str) -> bool:
        """Return whether regions of this kind are blocks, which never cross each other."""
        row = CONSTRUCTS.get(kind)
        return row is not None and (row.protected or row.tag)

    @property
    def _lead_in(self) -> tuple[float, str]:
        """The score and kind of the point after a lead-in."""
        return self._config.score_table["lead-in"], "lead-in"

    @property
    def line_score(self) -> float:
        """The score of a point inside a leaf that only separates lines."""
        return self._config.score_table["line"]

    def kinds(self, start: int, end: int) -> tuple[str, ...]:
        """Return the kinds of the blocks that overlap ``[start, end)``, in order of appearance."""
        first = _first_at(self._blocks, start)
        last = bisect_left(self._starts, end, first)
        kinds: dict[str, None] = {}
        _add_kinds(self._blocks[first:last], start, end, kinds)
        return tuple(kinds)

    def has_text(self, start: int, end: int) -> bool:
        """Return whether ``[start, end)`` has more than headings and front matter."""
        return _has_text(self.text, self._blocks, start, end)

    @cached_property
    def insides(self) -> Insides:
        """The reader of the insides of leaves."""
        language = self._config.sentence_language
        if language == "auto":
            language = language_of_text(self.text, self.analysis.front_matter)
        return Insides(self.analysis, language)

    @cached_property
    def openers(self) -> Openers:
        """The reader of the openers of blocks."""
        return Openers(self.analysis, self._starts, lambda: self.insides)

    def outliner(self, least: int) -> Outliner:
        """Return a reader of code, which ignores items inside one of at most ``least`` bytes."""
        return Outliner(least)

    def definitions(self, leaf: Block, outliner: Outliner) -> list[SyntaxPoint]:
        """Return the points before the definitions and statements of a leaf of code."""
        return code_points(self.parsed, leaf, outliner, self._config.score_table)

    def margin(self, leaf: Block) -> Margin:
        """Return the marks of containers before the lines of a fence."""
        return margin_of(self.parsed, leaf)

    def frames(self, leaf: Block, inside: Inside, cuts: Sequence[int]) -> list[Frame]:
        """Return the frames of the parts of a leaf that is divided at the sorted ``cuts``."""
        return list(frames_of(self.text, leaf, inside.tables, cuts))

    def _walk_over(self, start: int, end: int) -> BlockWalk:
        """Return the finished walk over the top-level blocks that contain ``[start, end)``."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_left(self._starts, end)
        if last - first == 1 and self._blocks[first].children:
            # All sections inside a container ask for the same walk.
            return self._remembered_walk(first)
        return self._walk(first, last)

    def _walk(self, first: int, last: int) -> BlockWalk:
        """Return the finished walk over the top-level blocks with these numbers."""
        start = self._blocks[first].start if first < last else 0
        walk = BlockWalk(self.text, self._config.score_table, self._open_tags(start))
        if first:
            before = first - 1
            while before and CONSTRUCTS[self._blocks[before].kind].blank:
                before -= 1
            walk.continue_from(self._blocks[before : before + 1])
        walk.visit_all(self._blocks[first:last])
        for pattern in self._attached:
            walk.attach(pattern)
        return walk

    def _open_tags(self, pos: int) -> int:
        """Return the number of XML tags that are open at ``pos``."""
        starts, ends = self._tag_edges
        return bisect_left(starts, pos) - bisect_right(ends, pos)

    @cached_property
    def _tag_edges(self) -> tuple[list[int], list[int]]:
        """The sorted starts and the sorted ends of the spans between XML tags."""
        tags = self.analysis.tags
        return sorted(start for start, _ in tags), sorted(end for _, end in tags)

    @cached_property
    def _tags(self) -> list[tuple[int, int]]:
        """The spans of pairs of tags, and of wrappers that may be such spans, sorted."""
        return sorted({*self.analysis.tags, *self.analysis.wrappers})

    @cached_property
    def _attached(self) -> list[re.Pattern[str]]:
        """The dialects' patterns for blocks that stay with the block before, if there are any."""
        patterns = (dialect.attached for dialect in dialects_of(self.analysis.extensions))
        return [each for each in patterns if each is not None and each.search(self.text)]

    def _regions(self, walk: BlockWalk, start: int, end: int) -> list[ProtectedRegion]:
        """Return the regions of blocks, tags, tool calls and pages in ``[start, end)``, sorted."""
        first, last = (bisect_left(walk.regions, pos, key=_START) for pos in (start, end))
        regions = walk.regions[first:last]
        known, tags = self.analysis.regions, self._tags
        if not known and not tags:
            return regions
        begun = {region.start for region in regions}
        regions += (region for region in known if start <= region.start < end)
        first, last = (bisect_left(tags, (pos,)) for pos in (start, end))
        regions += (
            ProtectedRegion(first, line_end(self.text, last), "tag")
            for first, last in tags[first:last]
            if first not in begun
        )
        return sorted(regions, key=lambda region: (region.start, -region.end))

    def _known_stretch(self, start: int, end: int) -> Stretch:
        """Return the possible cuts of a complete analysis."""
        walk = self._walk(0, len(self._blocks))
        places = {
            leaf.start: (depth, leaf) for leaf, depth in zip(walk.leaves, walk.depths, strict=True)
        }
        children = {
            (walk.leaves[number].start, walk.scores[number], walk.kinds[number])
            for number in walk.first_children
        }
        points = [p for p in self.analysis.break_points if start <= p.pos < end]
        if walk.leaves and (first := walk.leaves[0].start) not in {p.pos for p in points}:
            # Blank lines before the first block are not part of it.
            points.append(BreakPoint(first, 0.0, "paragraph"))
            points.sort(key=attrgetter("pos"))
        rows = [
            Point(
                p.pos,
                *(self._lead_in if (p.pos, p.score, p.kind) in children else (p.score, p.kind)),
                *places.get(p.pos, (INSIDE, None)),
            )
            for p in points
        ]
        headed = HeadedLeaves(headed_in(self.parsed, walk.leaves))
        return Stretch(rows, self.analysis.regions, headed)


@lru_cache(_REMEMBERED)
def _data(front_matter: str) -> Mapping[str, Any] | None:
    try:
        return parse_front_matter(front_matter)
    except ValueError:  # a tool call in it was masked
        return None


def _add_starts(blocks: Sequence[Block], starts: list[int]) -> None:
    for block in blocks:
        if block.children:
            _add_starts(block.children, starts)
        elif not CONSTRUCTS[block.kind].blank:
            starts.append(block.start)


def _has_text(text: str, blocks: Sequence[Block], start: int, end: int) -> bool:
    for number in range(max(bisect_right(blocks, start, key=_START) - 1, 0), len(blocks)):
        block = blocks[number]
        if block.start >= end:
            break
        if block.end <= start:
            continue
        if block.children:
            if _has_text(text, block.children, start, end):
                return True
        elif block.start < start:
            if not is_blank(text[start : min(end, block.end)]):
                return True
        else:
            row = CONSTRUCTS[block.kind]
            if not (row.blank or row.heads or block.kind == "front-matter"):
                return True
    return False


def _leaves_from(blocks: Sequence[Block], pos: int) -> Iterator[Block]:
    """Yield the leaves with text that begin at or after ``pos``."""
    for number in range(max(bisect_right(blocks, pos, key=_START) - 1, 0), len(blocks)):
        block = blocks[number]
        if block.children:
            yield from _leaves_from(block.children, pos)
        elif block.start >= pos and not CONSTRUCTS[block.kind].blank:
            yield block


def _leaves_before(blocks: Sequence[Block], pos: int) -> Iterator[Block]:
    """Yield the leaves with text that begin before ``pos``, the last first."""
    for number in range(bisect_left(blocks, pos, key=_START) - 1, -1, -1):
        block = blocks[number]
        if block.children:
            yield from _leaves_before(block.children, pos)
        elif not CONSTRUCTS[block.kind].blank:
            yield block


def _first_at(blocks: Sequence[Block], pos: int) -> int:
    """Return the number of the last block with text that begins at or before ``pos``, or 0."""
    number = max(bisect_right(blocks, pos, key=_START) - 1, 0)
    while number and CONSTRUCTS[blocks[number].kind].blank:
        number -= 1
    return number


def _add_kinds(blocks: Sequence[Block], start: int, end: int, kinds: dict[str, None]) -> bool:
    """Add the kinds of the leaves in ``[start, end)`` and of their containers, outermost first.

    The first of the ``blocks`` may begin before ``start``. Returns whether there is any leaf.
    """
    any_leaf = False
    for block in blocks:
        if block.start >= end:
            break
        row = CONSTRUCTS[block.kind]
        if row.blank:
            continue
        added = not row.unnamed and row.named not in kinds
        if added:
            kinds[row.named] = None
        children = block.children
        if children:
            if start > block.start:
                first = _first_at(children, start)
                children = children[first : bisect_left(children, end, first, key=_START)]
            if not _add_kinds(children, start, end, kinds):
                if added:
                    del kinds[row.named]
                continue
        any_leaf = True
    return any_leaf
