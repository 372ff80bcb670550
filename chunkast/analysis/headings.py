"""The headings that open sections, including headings that converters write as bold text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from chunkast.markdown.dialects.html_headings import html_title
from chunkast.markdown.dialects.paragraphs import bold_title
from chunkast.markdown.kinds import CONSTRUCTS, kinds_where
from chunkast.markdown.prose import Prose
from chunkast.markdown.titles import plain_title, without_attributes
from chunkast.model import Analysis, Block, Heading
from chunkast.text.spans import SpanSet

__all__ = ("find_headings", "numbered_headings", "pseudo_headings")

# "2.3.1 Title", perhaps after the marks of emphasis; "2. Title" is of the first level.
_NUMBER = re.compile(r"[\s*_]*(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})[.)]?[\s*_]+\S")
_COLON = re.compile(r":(?=[*_:]*$)")
_LEVELS: Final = 6
_BOLD: Final = frozenset({"bold-heading"})
_BLANK: Final = kinds_where("blank")
_LABELS: Final = kinds_where("labels")
_SECTIONS: Final = kinds_where("section")


def _depth(title: str) -> int:
    """Return the depth of a title's number: 3 for "2.3.1 Title", or 0 for an unnumbered title."""
    numbered = _NUMBER.match(title)
    return numbered["number"].count(".") + 1 if numbered else 0


def _with_blocks(analysis: Analysis, children: list[Block]) -> Analysis:
    return replace(analysis, blocks=replace(analysis.blocks, children=tuple(children)))


def pseudo_headings(analysis: Analysis) -> Analysis:
    """Return the analysis with its entirely bold paragraphs turned into headings.

    Such a heading is one level below the last Markdown heading, or deeper if it is numbered: "2.3"
    is two levels below.
    """
    level = 0
    children = list(analysis.blocks.children)
    for place, block in enumerate(children):
        construct = CONSTRUCTS[block.kind]
        if construct.section:
            level = block.level
        elif block.kind in _BOLD:
            title = _COLON.sub("", bold_title(analysis.text, block))
            children[place] = replace(
                block,
                kind="heading",
                level=min(level + max(_depth(title), 1), _LEVELS),
                content=title,
            )
    return _with_blocks(analysis, children)


def numbered_headings(analysis: Analysis) -> Analysis:
    """Return the analysis with the levels of numbered headings derived from their numbers.

    Levels only change if all numbered headings have the same level.
    """
    children = list(analysis.blocks.children)
    depths = {
        place: depth
        for place, block in enumerate(children)
        if CONSTRUCTS[block.kind].section and (depth := _depth(block.content))
    }
    if len({children[place].level for place in depths}) != 1:
        return analysis
    for place, depth in depths.items():
        block = children[place]
        children[place] = replace(block, level=min(block.level + depth - 1, _LEVELS))
    return _with_blocks(analysis, children)


def find_headings(analysis: Analysis) -> Iterator[Heading]:
    """Yield the headings that open sections: those at the top level and outside XML tags."""
    levels: list[int] = []
    # The last path at each depth; equal ones, as under repeated titles, are the same object.
    paths: list[tuple[str, ...]] = [()]
    tags = SpanSet(analysis.tags) if analysis.tags else None
    attributes = "attributes" in analysis.extensions
    begin = -1  # the start of the labels right before a heading
    for block in analysis.blocks.children:
        kind = block.kind
        if kind in _LABELS:
            begin = block.start if begin < 0 else begin
            continue
        if kind in _BLANK:
            continue
        start, begin = begin, -1
        if kind not in _SECTIONS or (tags is not None and tags.covers(block.start)):
            continue
        start = block.start if start < 0 else start
        while levels and levels[-1] >= block.level:
            levels.pop()
        levels.append(block.level)
        if kind == "html-heading":
            title = html_title(analysis.text[block.start : block.end])
        else:
            content = _content(analysis, block) if analysis.masked else block.content
            title = plain_title(
                without_attributes(content) if attributes else content,
                analysis.references,
                analysis.footnotes,
                analysis.extensions,
            )
        depth = len(levels)
        path = (*paths[depth - 1], title)
        if depth == len(paths):
            paths.append(path)
        elif paths[depth] != path:
            paths[depth] = path
        path = paths[depth]
        yield Heading(start, block.end, block.level, path[-1], path)


def _content(analysis: Analysis, heading: Block) -> str:
    """Return the original text of a heading whose masked text was parsed."""
    prose = Prose(analysis.masked, heading)
    lines: list[str] = []
    at = 0
    for line in heading.content.split("\n"):
        start = prose.source(at)
        lines.append(analysis.text[start : start + len(line)])
        at += len(line) + 1
    return "\n".join(lines)
