"""Find the break points and protected regions in one walk over a block tree.

A chunk may begin at each leaf. The point before a leaf has the highest score of any block that
begins there or ends right before it. Inside a container, the score is at most that of the point
before the container. A point between a heading and its text has at most the score of
"orphan-heading"; a point between a lead-in and the next block, at most that of "lead-in".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from chunkast.analysis.lead_ins import FULL_STOPS, LABEL, Neighbours, after_items, lead_in
from chunkast.markdown.kinds import CONSTRUCTS, Construct
from chunkast.model import Block, ProtectedRegion
from chunkast.scores import item_kind

__all__ = ("INSIDE", "BlockWalk", "Point", "line_end")

# The depth of a position inside a leaf: deeper than any container.
INSIDE: Final = 255
_DEEPEST: Final = INSIDE - 1
# The beginning of a paragraph that shows an image, and of one that defines the term before it.
_IMAGE_BEGINNINGS = ("![", "[!")
_DEFINITION_BEGINNINGS = (": ", ":\t")
# The number of characters at the end of a leaf that are read to find a full stop.
_TAIL: Final = 4
# Below every score.
_NONE: Final = -math.inf
# Makes a named tuple at half the cost of its own constructor.
_new = tuple.__new__
_HEADING_KINDS: Final = ("", "h1", "h2", "h3", "h4", "h5", "h6")


class Point(NamedTuple):
    """A position at which a cut may be made.

    score, kind: the score and the kind of the break point.
    depth: the number of containers that a cut here divides, or ``INSIDE`` for a cut in a leaf.
    leaf: the leaf that begins at the position, or None.
    """

    pos: int
    score: float
    kind: str
    depth: int = INSIDE
    leaf: Block | None = None


class BlockWalk:
    """Visits blocks in document order, and lists the break point before each non-blank leaf.

    points: the break points; the first has the score 0 and no kind.
    regions: the spans of protected blocks, sorted by start, and longest first if starts are equal.
    first_children: the indices, in ``points``, of leaves that stay with the previous leaf although
        their points keep their own scores. An example is the first child of a list item.
    """

    def __init__(self, text: str, scores: Mapping[str, float]) -> None:
        self.points: list[Point] = []
        self.regions: list[ProtectedRegion] = []
        self.first_children: list[int] = []
        self._text = text
        self._table = scores
        self._previous: Block | None = None
        self._shared = 0
        # True if the previous leaf only opens the container that it is in.
        self._opens_container = False
        # True if a container ended after the previous leaf.
        self._ended_container = False
        # The best point of blocks that begin at the next leaf, and of blocks that ended
        # before it; of equal ones the first.
        self._before, self._before_kind = _NONE, ""
        self._after, self._after_kind = _NONE, ""
        self._introducible = False
        # True if a list inside an item begins at the next leaf, but the item does not.
        self._begins_child = False
        # The starts of the blocks that stay with an item before them.
        self._kept: set[int] = set()
        self._open_tags = 0
        # The number of the leaf that begins the labels directly before the next leaf, and the same
        # with the lines that open a container or tag.
        self._label = self._opening = -1
        # True if headings open sections in the container that is visited.
        self._opens_sections = True
        # True if they did in the container of the previous leaf.
        self._direct = True

    def visit_all(self, blocks: Sequence[Block]) -> None:
        """Visit the adjacent top-level ``blocks``."""
        self._children(blocks, 0, math.inf, 0)

    def attach(self, pattern: re.Pattern[str]) -> None:
        """Treat each leaf that matches ``pattern`` as introduced by the previous leaf."""
        for number, point in enumerate(self.points):
            if pattern.match(self._text, point.pos):
                score = min(point.score, self._table["lead-in"])
                self.points[number] = point._replace(score=score, kind="lead-in")

    def last_point(self) -> tuple[float, str] | None:
        """Return the score and kind of the point after the last leaf, or None if it has none."""
        if self._after == _NONE or self._previous is None:
            return None
        return self._after, self._after_kind

    def _children(self, blocks: Sequence[Block], depth: int, cap: float, lists: int) -> None:
        """Visit the blocks inside a container at ``depth``.

        ``cap`` is the highest score that a point inside the container may have, unless a section
        begins there. ``lists`` is the number of open lists.
        """
        has_list = False
        for number, block in enumerate(blocks):
            row = CONSTRUCTS[block.kind]
            if row.blank:
                continue
            if row.nests and not has_list:
                has_list = True
                self._kept.update(after_items(self._text, blocks))
            if row.marker:
                # A line with only a container's own markers belongs to the block that it
                # opens or closes.
                self._begins(min(self._table["paragraph"], cap), "paragraph")
                opens = number == 0 and len(blocks) > 1
                self._leaf(block, row, number == 0, opens=opens)
                self._shared = depth
                self._opens_container = opens
            elif row.tag:
                self._tag(block, row, cap)
                self._shared = depth
            else:
                self._visit(block, row, depth, cap, lists)

    def _visit(self, block: Block, row: Construct, depth: int, cap: float, lists: int) -> None:
        if self._open_tags:
            cap = min(cap, self._table["tag-close"])
        if row.protected:
            self._protect(block)
        kind = _score_kind(block, row) if row.leveled else row.score
        score = self._table[kind]
        if score > cap and not (row.section and self._opens_sections):
            score = cap
        if row.introducible:
            self._introducible = True
        if row.shape != "container":
            self._begins(score, kind)
            clings = row.clings
            if row.plain:
                head = block.content[:2] or self._text[block.start : block.start + 2]
                clings = head in _DEFINITION_BEGINNINGS
                self._introducible = self._introducible or head in _IMAGE_BEGINNINGS
            self._leaf(block, row, not clings)
            self._shared = depth
        else:
            self._container(block, row, depth, score if not row.nests else cap, lists)
        if row.after:
            self._ended(score, kind)

    def _container(self, block: Block, row: Construct, depth: int, cap: float, lists: int) -> None:
        """Visit the blocks inside a container, of which none scores above ``cap``."""
        if row.nests:
            # If the item begins with the list, the point before the item is already known.
            self._begins_child = lists > 0 and self._before == _NONE
            self._children(block.children, min(depth + 1, _DEEPEST), cap, lists + 1)
            if lists == 0:
                self._ended(min(self._table["list-end"], cap), "list-end")
        else:
            self._begins(cap, _score_kind(block, row) if row.leveled else row.score)
            outside = self._opens_sections
            self._opens_sections = outside and row.wrapper
            self._children(block.children, min(depth + 1, _DEEPEST), cap, lists)
            self._opens_sections = outside
        self._ended_container = True
        self._shared = min(self._shared, depth)

    def _protect(self, block: Block) -> None:
        """Add the region of a protected block; it ends with the last character of its last line.

        A fence that is never closed extends to the end of the text.
        """
        end = block.end
        if block.closed or end < len(self._text):
            end = line_end(self._text, end)
        if block.start < end:
            self.regions.append(ProtectedRegion(block.start, end, block.kind))

    def _begins(self, score: float, kind: str) -> None:
        if score > self._before:
            self._before, self._before_kind = score, kind

    def _ended(self, score: float, kind: str) -> None:
        if score > self._after:
            self._after, self._after_kind = score, kind

    def _tag(self, block: Block, row: Construct, cap: float) -> None:
        """Score the point before an opening tag's line, or after a closing tag's line."""
        opens = block.info == "open"
        kind = "tag-open" if opens else "paragraph"
        self._introducible = self._introducible or opens
        self._begins(min(self._table[kind], cap), kind)
        beside_tag = self._previous is not None and CONSTRUCTS[self._previous.kind].tag
        self._opens_container = self._opens_container and not beside_tag
        self._leaf(block, row, opens or beside_tag, opens=opens)
        self._opens_container = opens
        self._open_tags += 1 if opens else -1
        if not opens:
            self._ended(min(self._table["tag-close"], cap), "tag-close")

    def _leaf(self, block: Block, row: Construct, first: bool, *, opens: bool = False) -> None:
        """Add a leaf, which stays with the previous one unless it is ``first``.

        If ``opens`` is true, the leaf is a line that opens a container or a tag.
        """
        previous = self._previous
        score, kind = 0.0, ""
        if previous is not None:
            before = CONSTRUCTS[previous.kind]
            score, kind = self._before, self._before_kind
            if self._after > score:
                score, kind = self._after, self._after_kind
            if before.labels:
                self._raise(self._label, score, kind)
            if row.section and self._opens_sections:
                self._raise(self._opening, score, kind)
            if before.section:
                score, kind = min(score, self._table["orphan-heading"]), "orphan-heading"
            elif weight := self._lead_in(previous, block, row, first):
                score, kind = min(score, weight * self._table["lead-in"]), "lead-in"
            if row.labels and not before.labels:
                self._label = len(self.points)
        if not (opens or row.labels):
            self._opening = -1
        elif self._opening < 0:
            self._opening = len(self.points)
        self.points.append(_new(Point, (block.start, score, kind, self._shared, block)))
        self._before = self._after = _NONE
        self._previous, self._direct = block, self._opens_sections
        self._introducible = self._opens_container = self._ended_container = False
        self._begins_child = False

    def _raise(self, number: int, score: float, kind: str) -> None:
        """If ``score`` is higher, give it and ``kind`` to the point before leaf ``number``."""
        if number >= 0 and 0 <= self.points[number].score < score:
            self.points[number] = self.points[number]._replace(score=score, kind=kind)

    def _may_lead_in(self, previous: Block, before: Construct, first: bool) -> bool:
        """Return False if the previous leaf is certainly no lead-in; most end with a full stop."""
        if (
            before.heads
            or self._opens_container
            or not first
            or self._begins_child
            or previous.kind == "math"
        ):
            return True
        tail = self._text[previous.end - _TAIL : previous.end]
        if self._introducible or (self._direct and before.plain):
            return not tail.rstrip().endswith(FULL_STOPS)
        return before.named == "html" or (before.plain and (":" in tail or "：" in tail))

    def _lead_in(self, previous: Block, block: Block, row: Construct, first: bool) -> float:
        """Return the weight of the previous leaf as a lead-in to the next one, or 0."""
        before = CONSTRUCTS[previous.kind]
        kept = block.start in self._kept
        if not (kept or self._may_lead_in(previous, before, first)):
            return 0
        pair = (
            self._text,
            previous,
            before,
            block,
            row,
            self._direct,
            self._opens_sections,
            self._opens_container,
            not first,
            self._ended_container,
            self._introducible,
            self._begins_child,
            kept,
        )
        found, number = lead_in(_new(Neighbours, pair)), len(self.points)
        # At most two labels stay with the line below.
        if found is LABEL and self.first_children[-2:] == [number - 2, number - 1]:
            return 0
        if found and not found.weight:
            self.first_children.append(len(self.points))
        return found.weight if found else 0


def _score_kind(block: Block, row: Construct) -> str:
    """Return the score table's key for the point before a heading or list item."""
    return _HEADING_KINDS[block.level] if row.section else item_kind(block.level)


def line_end(text: str, end: int) -> int:
    """Return the start of the line ending that ends at ``end``, or ``end`` itself."""
    if text.endswith("\n", 0, end):
        end -= 1
    if text.endswith("\r", 0, end):
        end -= 1
    return end
