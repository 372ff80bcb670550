"""Break points: the positions at which a chunk may begin, each with a score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from chunkast.markdown.kinds import CONSTRUCTS, Construct, kinds_where
from chunkast.model import Block, BreakPoint
from chunkast.scores import item_kind

__all__ = ("merge_break_points", "scan_break_points")

_LEAD_IN_ENDS = (":", "：")
# Marks that may surround a lead-in, and marks that may follow the last word of one without a colon.
_EMPHASIS_MARKS = "*_"
_WORD_MARKS = "*_`)"
# The beginning of a paragraph that shows an image, and of one that defines the term before it.
_IMAGE_BEGINNINGS = ("![", "[!")
_DEFINITION_BEGINNINGS = (": ", ":\t")
_BLANK: Final = kinds_where("blank")
_MARKERS: Final = kinds_where("marker")
_TAGS: Final = kinds_where("tag")
_SPECIAL: Final = _BLANK | _MARKERS | _TAGS
# Below every score.
_NONE: Final = -math.inf
_HEADING_KINDS = ("", "h1", "h2", "h3", "h4", "h5", "h6")


def merge_break_points(*lists: Iterable[BreakPoint]) -> list[BreakPoint]:
    """Merge lists of break points into one, sorted, with the best-scored point per position.

    If scores are equal, the point that comes first in the given lists is kept. Never raises.

    >>> from chunkast import BreakPoint
    >>> merge_break_points([BreakPoint(8, 20.0, "paragraph")], [BreakPoint(8, 90.0, "h2")])
    [BreakPoint(pos=8, score=90.0, kind='h2')]
    """
    best: dict[int, BreakPoint] = {}
    for points in lists:
        for point in points:
            known = best.get(point.pos)
            if known is None or point.score > known.score:
                best[point.pos] = point
    return [best[pos] for pos in sorted(best)]


class _Scanner:
    """Walks the tree in document order and adds a break point between each leaf and the next."""

    def __init__(self, text: str, scores: Mapping[str, float]) -> None:
        self.text = text
        self.scores = scores
        self.points: list[BreakPoint] = []
        self.previous: Block | None = None
        # Whether the previous leaf only opens the container that it is in.
        self.opens_container = False
        # Whether a container ended after the previous leaf.
        self.ended_container = False
        # The best point of blocks that begin at the next leaf, and of blocks that ended
        # before it; of equal ones the first.
        self.before, self.before_kind = _NONE, ""
        self.after, self.after_kind = _NONE, ""
        self.introducible = False
        self.open_tags = 0
        # The index of the point before the labels that directly precede the next leaf.
        self.label = -1

    def children(self, block: Block, cap: float, lists: int) -> None:
        """Visit a block's children.

        ``cap`` is the highest score that a point inside the block may have. ``lists`` is the number
        of open lists.
        """
        lists += CONSTRUCTS[block.kind].nests
        for number, child in enumerate(block.children):
            kind = child.kind
            if kind not in _SPECIAL:
                self.visit(child, cap, lists)
            elif kind in _MARKERS:
                # A line with only a container's own markers belongs to the block that it
                # opens or closes.
                self.begins(min(self.scores["paragraph"], cap), "paragraph")
                self.leaf(child, CONSTRUCTS[kind], number == 0)
                self.opens_container = number == 0 and len(block.children) > 1
            elif kind in _TAGS:
                self.tag(child, cap)
        self.ended_container = True

    def begins(self, score: float, kind: str) -> None:
        if score > self.before:
            self.before, self.before_kind = score, kind

    def ended(self, score: float, kind: str) -> None:
        if score > self.after:
            self.after, self.after_kind = score, kind

    def visit(self, block: Block, cap: float, lists: int) -> None:
        if self.open_tags:
            cap = min(cap, self.scores["tag-close"])
        construct = CONSTRUCTS[block.kind]
        kind = _score_kind(block) if construct.leveled else construct.score
        score = self.scores[kind]
        score = cap if score > cap else score  # noqa: FURB136 - a call for every block
        if construct.introducible:
            self.introducible = True
        if construct.shape != "container":
            if score > self.before:
                self.before, self.before_kind = score, kind
            clings = construct.clings
            if construct.plain:
                head = block.content[:2] or self.text[block.start : block.start + 2]
                clings = head in _DEFINITION_BEGINNINGS
                self.introducible = self.introducible or head in _IMAGE_BEGINNINGS
            self.leaf(block, construct, not clings)
        elif construct.nests:
            self.children(block, cap, lists)
            if lists == 0:
                self.ended(min(self.scores["list-end"], cap), "list-end")
        else:
            self.begins(score, kind)
            self.children(block, score, lists)
        if construct.after:
            self.ended(score, kind)

    def tag(self, block: Block, cap: float) -> None:
        """Score the point before an opening tag's line, or after a closing tag's line."""
        opens = block.info == "open"
        kind = "tag-open" if opens else "paragraph"
        self.introducible = self.introducible or opens
        self.begins(min(self.scores[kind], cap), kind)
        beside_tag = self.previous is not None and self.previous.kind in _TAGS
        self.opens_container = self.opens_container and not beside_tag
        self.leaf(block, CONSTRUCTS[block.kind], opens or beside_tag)
        self.opens_container = opens
        self.open_tags += 1 if opens else -1
        if not opens:
            self.ended(min(self.scores["tag-close"], cap), "tag-close")

    def leaf(self, block: Block, construct: Construct, first: bool) -> None:
        """Add the point before a leaf, which stays with the previous one unless it is ``first``."""
        previous = self.previous
        if previous is not None:
            before = CONSTRUCTS[previous.kind]
            score, kind = self.before, self.before_kind
            if self.after > score:
                score, kind = self.after, self.after_kind
            if before.labels:
                self.raise_label(score, kind)
            if before.section:
                kind = "orphan-heading"
                score = min(score, self.scores[kind])
            elif (
                before.heads
                or self.opens_container
                or not first
                or (self.introducible and before.leads and self.is_led_in(previous, construct))
            ):
                kind = "lead-in"
                score = min(score, self.scores[kind])
            if construct.labels and not before.labels:
                self.label = len(self.points)
            self.points.append(BreakPoint(block.start, score, kind))
        self.before = self.after = _NONE
        self.previous = block
        self.introducible = self.opens_container = self.ended_container = False

    def raise_label(self, score: float, kind: str) -> None:
        """If ``score`` is higher, give it and ``kind`` to the point before the last label."""
        if self.label >= 0 and 0 <= self.points[self.label].score < score:
            self.points[self.label] = BreakPoint(self.points[self.label].pos, score, kind)

    def is_led_in(self, previous: Block, construct: Construct) -> bool:
        """Return whether ``previous`` introduces the next leaf, for example by ending with a colon.

        Several words without a full stop also introduce a leaf of an introducible ``construct``, in
        which their sentence continues, unless they end a list or another container.
        """
        line = self.text[previous.start : previous.end].rstrip()
        if line.rstrip(_EMPHASIS_MARKS).endswith(_LEAD_IN_ENDS):
            return True
        if self.ended_container or not construct.introducible:
            return False
        return " " in line and line.rstrip(_WORD_MARKS)[-1:].isalnum()

    def finish(self) -> None:
        if self.after > _NONE and self.previous is not None:
            self.points.append(BreakPoint(len(self.text), self.after, self.after_kind))


def _score_kind(block: Block) -> str:
    """Return the score table's key for the point before a heading or list item."""
    heading = CONSTRUCTS[block.kind].section
    return _HEADING_KINDS[block.level] if heading else item_kind(block.level)


def scan_break_points(text: str, tree: Block, scores: Mapping[str, float]) -> list[BreakPoint]:
    """Return the break points between a document's blocks, sorted, at most one per position.

    There is a point at the start of every block except the first. Its score is the highest score of
    any block that begins there or ends right before it. Inside a container, the score is at most
    that of the point before the container. A point that separates a heading from its text, or a
    lead-in from the block it introduces, has at most the score of "orphan-heading" or "lead-in". If
    the last block also scores the point after it, there is a point at the end of the text.
    """
    scanner = _Scanner(text, scores)
    scanner.children(tree, math.inf, 0)
    scanner.finish()
    return scanner.points
