"""Find break points inside code by its syntax or, without a grammar, by its indentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from chunkast.analysis.fence_contents import Content, content_of
from chunkast.analysis.walk import Point
from chunkast.code import Item, Outliner, indented_items, language_named, versions
from chunkast.markdown.fence_lines import opening_column
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.lines import marks_end
from chunkast.model import Block
from chunkast.text.source_map import line_starts
from chunkast.text.white_space import is_blank

__all__ = ("Margin", "code_of", "code_points", "margin_of", "scored")

# An option of a code cell, which belongs to the opening line.
_CELL_OPTION = re.compile(r"[ \t>]*(?:#|//|--|%%)\|[ \t]")


class Margin(NamedTuple):
    """The container markers, such as ">", and blanks at the start of each line of a code block.

    width: the maximum number of characters in the margin.
    marks: the characters that the margin may contain.
    """

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
) -> list[Point]:
    """Return the points before ``items`` of code, whose ``lines`` begin at ``positions``.

    The depth of a point is the number of items around it. A definition or import has the score of
    its kind at any depth. A deeper statement has a lower score, but always a higher one than a
    plain line. The point between an item's header and its body has the score of a lead-in.
    """
    points: list[Point] = []
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
        points.append(Point(positions[item.line], score, kind, item.depth))
    return points


def code_of(text: str, leaf: Block) -> tuple[list[int], Content]:
    """Return the starts of a leaf's lines of code, and the content of these lines."""
    fenced = CONSTRUCTS[leaf.kind].fenced
    starts = line_starts(text, leaf.start, leaf.end)
    positions = starts[fenced : len(starts) - 1 - (fenced and leaf.closed)]
    margin = margin_of(text, leaf)
    spans = zip(positions, starts[fenced + 1 :], strict=False)
    lines = [margin.without(text[start:end].rstrip("\r\n")) for start, end in spans]
    return positions, content_of(lines, leaf.info)


def code_points(
    text: str, leaf: Block, outliner: Outliner, scores: Mapping[str, float]
) -> list[Point]:
    """Return the break points inside a leaf of code, sorted by position.

    Levels depend on the content of a fence or on indentation. With a grammar, each level is cut at
    statements before other lines. Inner statements score lower than all outer ones.
    """
    row = CONSTRUCTS[leaf.kind]
    if row.shape != "code":
        return []
    positions, content = code_of(text, leaf)
    lines = content.lines
    language = language_named(leaf.info) if row.fenced and versions() else None
    found = outliner.items(lines, language) if language and not content.levels else ()
    known = {point.pos: point for point in scored(found, lines, positions, scores)}
    options = sum(1 for _ in takewhile(_CELL_OPTION.match, lines))
    least, most, inner = (scores[kind] for kind in ("line", "blank-line", "statement"))
    points: list[Point] = []
    for item in indented_items(lines, content.levels):
        level, after = divmod(item.depth, 2)
        pos = positions[item.line]
        point = known.get(pos)
        if point is not None:
            limit = least + (inner - least) / (level + 0.5) if level else point.score
            points.append(point._replace(score=min(point.score, limit), depth=3 * level))
            continue
        leads = item.first or 0 < item.line <= options
        kind = "lead-in" if leads else item.kind
        score = scores[kind] if leads else least + (most - least) / (1 + item.depth)
        points.append(Point(pos, score, kind, 3 * level + 1 + after))
    return points


def margin_of(text: str, leaf: Block) -> Margin:
    """Return the margin of a leaf. Without a fence, the margin ends with the last quote mark."""
    # The prefix before the fence also precedes its code: quote marks, or as many blanks as an
    # item's marker has characters.
    if CONSTRUCTS[leaf.kind].fenced:
        width = opening_column(text, leaf)
    else:
        width = text[leaf.start : marks_end(text, leaf.start, leaf.end)].rfind(">") + 1
    return Margin(width, " \t>" if ">" in text[leaf.start : leaf.start + width] else " \t")
