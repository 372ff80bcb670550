"""Break points: where a chunk may begin, and how good a place each is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block, BreakPoint, draft_type
from chunkast.scores import item_kind

__all__ = ("merge_break_points", "new_point", "scan_break_points")

_COLONS = (":", "：")
# Marks of emphasis around a lead-in.
_EMPHASIS = "*_"
# How a paragraph begins that shows an image, and one that defines the term before it.
_IMAGES = ("![", "[!")
_DEFINITIONS = (": ", ":\t")
_HEADINGS = ("", "h1", "h2", "h3", "h4", "h5", "h6")


def merge_break_points(*lists: Iterable[BreakPoint]) -> list[BreakPoint]:
    """One list, sorted by position: the highest score at each position stays.

    On equal scores the point that comes first stays, earlier lists before later ones.
    """
    best: dict[int, BreakPoint] = {}
    for points in lists:
        for point in points:
            known = best.get(point.pos)
            if known is None or point.score > known.score:
                best[point.pos] = point
    return [best[pos] for pos in sorted(best)]


_Draft: Final = draft_type(BreakPoint)
_bare_draft = _Draft.__new__


def new_point(pos: int, score: float, kind: str) -> BreakPoint:
    """What ``BreakPoint`` gives, sooner."""
    point: Any = _bare_draft(_Draft)
    point.pos = pos
    point.score = score
    point.kind = kind
    point.__class__ = BreakPoint
    return point  # type: ignore[no-any-return]


class _Scanner:
    """Walks the tree in document order; a point arises where one leaf follows another."""

    def __init__(self, text: str, scores: Mapping[str, float]) -> None:
        self.text = text
        self.scores = scores
        self.points: list[BreakPoint] = []
        self.previous: Block | None = None
        # What holds the previous leaf: whether that leaf only opens its container.
        self.opens_container = False
        # The best point of blocks that begin at the next leaf, and of blocks that ended
        # before it; of equal ones the first.
        self.before, self.before_kind = -math.inf, ""
        self.after, self.after_kind = -math.inf, ""
        self.introducible = False
        self.open_tags = 0
        # The number of the point before the labels that come right before the next leaf.
        self.label = -1

    def children(self, block: Block, cap: float, lists: int) -> None:
        """``cap``: no point in here scores above it. ``lists``: how many lists are open."""
        lists += block.kind == "list"
        for number, child in enumerate(block.children):
            kind = child.kind
            if kind == "blank":
                continue
            if kind == "marker":
                # A line with only a container's own markers belongs to what it opens,
                # or to what it closes.
                self.begins(min(self.scores["paragraph"], cap), "paragraph")
                self.leaf(child, first=number == 0)
                self.opens_container = number == 0 and len(block.children) > 1
            elif kind == "tag":
                self.tag(child, cap)
            else:
                self.visit(child, cap, lists)

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
            if block.kind == "paragraph":
                head = block.content[:2] or self.text[block.start : block.start + 2]
                clings = head in _DEFINITIONS
                self.introducible = self.introducible or head in _IMAGES
            self.leaf(block, first=not clings)
        elif block.kind == "list":
            self.children(block, cap, lists)
            if lists == 0:
                self.ended(min(self.scores["list-end"], cap), "list-end")
        else:
            self.begins(score, kind)
            self.children(block, score, lists)
        if construct.after:
            self.ended(score, kind)

    def tag(self, block: Block, cap: float) -> None:
        """The line of an opening tag scores before it, that of a closing one behind it."""
        opens = block.info == "open"
        kind = "tag-open" if opens else "paragraph"
        self.introducible = self.introducible or opens
        self.begins(min(self.scores[kind], cap), kind)
        beside_tag = self.previous is not None and self.previous.kind == "tag"
        self.opens_container = self.opens_container and not beside_tag
        self.leaf(block, first=opens or beside_tag)
        self.opens_container = opens
        self.open_tags += 1 if opens else -1
        if not opens:
            self.ended(min(self.scores["tag-close"], cap), "tag-close")

    def leaf(self, block: Block, *, first: bool = True) -> None:
        previous = self.previous
        if previous is not None:
            score, kind = self.before, self.before_kind
            if self.after > score:
                score, kind = self.after, self.after_kind
            heads = CONSTRUCTS[previous.kind].heads
            if previous.kind == "label":
                self.raise_label(score, kind)
            if previous.kind == "heading":
                kind = "orphan-heading"
                score = min(score, self.scores[kind])
            elif heads or self.opens_container or not first or self.is_led_in(previous):
                kind = "lead-in"
                score = min(score, self.scores[kind])
            if block.kind == "label" and previous.kind != "label":
                self.label = len(self.points)
            self.points.append(new_point(block.start, score, kind))
        self.before = self.after = -math.inf
        self.introducible = False
        self.previous = block
        self.opens_container = False

    def raise_label(self, score: float, kind: str) -> None:
        """Let the point before a label count as much as the one that it stands for."""
        if self.label >= 0 and 0 <= self.points[self.label].score < score:
            self.points[self.label] = new_point(self.points[self.label].pos, score, kind)

    def is_led_in(self, previous: Block) -> bool:
        """Whether a line ending with a colon comes right before what it introduces."""
        if not self.introducible or previous.kind not in ("paragraph", "term"):
            return False
        line = self.text[previous.start : previous.end].rstrip()
        return line.rstrip(_EMPHASIS).endswith(_COLONS)

    def finish(self) -> None:
        if self.after > -math.inf and self.previous is not None:
            self.points.append(BreakPoint(len(self.text), self.after, self.after_kind))


def _score_kind(block: Block) -> str:
    """The row of the score table for the point before a heading or item."""
    return _HEADINGS[block.level] if block.kind == "heading" else item_kind(block.level)


def scan_break_points(text: str, tree: Block, scores: Mapping[str, float]) -> list[BreakPoint]:
    """The break points of a document's blocks, sorted, one per position.

    A point sits at the first character of the first line of every block but the
    document's first. It scores the best of what begins there and of what ended before
    it, and inside a container never more than the container's own point. A point that
    parts a heading from its text, or a lead-in from what it introduces, has the score
    of "orphan-heading" or "lead-in" instead. Where the last block scores behind
    itself, a point lies at the end of the text.
    """
    scanner = _Scanner(text, scores)
    scanner.children(tree, math.inf, 0)
    scanner.finish()
    return scanner.points
