"""Break points inside code, found by its syntax if a grammar for its language is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chunkast.code import Item, Outliner, language_named, versions
from chunkast.markdown.fence_lines import opening_column
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block, BreakPoint
from chunkast.text.source_map import line_starts
from chunkast.text.white_space import is_blank

__all__ = ("Margin", "SyntaxPoint", "fence_points", "margin_of", "scored")


@dataclass(frozen=True, slots=True)
class SyntaxPoint:
    """A break point before an item that is nested inside ``depth`` other items."""

    depth: int
    point: BreakPoint


@dataclass(frozen=True, slots=True)
class Margin:
    """The marks of containers before the code of a fence, in the first ``width`` characters."""

    width: int
    marks: str

    def without(self, line: str) -> str:
        """Return a line without its margin."""
        return line[: self.width].lstrip(self.marks) + line[self.width :]


def scored(
    items: Iterable[Item],
    lines: Sequence[str],
    positions: Sequence[int],
    scores: Mapping[str, float],
) -> list[SyntaxPoint]:
    """Return the break points before ``items``; the ``lines`` of code begin at ``positions``.

    A definition or import has the score of its kind at any depth. The deeper a statement is nested,
    the lower its score, but it is always higher than that of a plain line. The point between a
    header and its body has the score of a lead-in.
    """
    points: list[SyntaxPoint] = []
    for item in items:
        kind = item.kind
        score = scores[kind]
        if item.first:
            kind = "lead-in"
            score = scores[kind]
        elif kind == "statement":
            if item.line and is_blank(lines[item.line - 1]):
                kind = "blank-line"
            score = scores["line"] + (scores[kind] - scores["line"]) / (1 + item.depth)
        points.append(SyntaxPoint(item.depth, BreakPoint(positions[item.line], score, kind)))
    return points


def fence_points(
    text: str, fence: Block, outliner: Outliner, scores: Mapping[str, float]
) -> list[SyntaxPoint]:
    """Return the break points inside a fence, sorted by position.

    The list is empty if no grammar is installed for the fence's language.
    """
    language = language_named(fence.info)
    if not CONSTRUCTS[fence.kind].fenced or language is None or not versions():
        return []
    starts = line_starts(text, fence.start, fence.end)
    positions = starts[1 : len(starts) - 1 - fence.closed]
    margin = margin_of(text, fence)
    lines = [
        margin.without(text[start:end].rstrip("\r\n"))
        for start, end in zip(positions, starts[2:], strict=False)
    ]
    return scored(outliner.items(lines, language), lines, positions, scores)


def margin_of(text: str, leaf: Block) -> Margin:
    """Return the margin of a fence; of another leaf, it is empty."""
    if not CONSTRUCTS[leaf.kind].fenced:
        return Margin(0, "")
    # The prefix before the fence also precedes its code: quote marks, or as many blanks as an
    # item's marker has characters.
    width = opening_column(text, leaf)
    return Margin(width, " \t>" if ">" in text[leaf.start : leaf.start + width] else " \t")
