"""Find the headings that begin sections, including bold text that converters write as headings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from chunkast.analysis.heading_paths import OpenSections
from chunkast.markdown.dialects.anchors import names_in
from chunkast.markdown.dialects.html_headings import html_title
from chunkast.markdown.dialects.paragraphs import bold_title
from chunkast.markdown.kinds import CONSTRUCTS, kinds_where
from chunkast.markdown.prose import Prose
from chunkast.markdown.titles import Title, read_title, short_title
from chunkast.model import Analysis, Block, Heading

__all__ = ("numbered_headings", "pseudo_headings", "with_headings")

# "2.3.1 Title", perhaps after the marks of emphasis; "2. Title" is of the first level.
_NUMBER = re.compile(r"[\s*_]*(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})[.)]?[\s*_]+\S")
_COLON = re.compile(r":(?=[*_:]*$)")
_LEVELS: Final = 6
_BOLD: Final = frozenset({"bold-heading"})
_BLANK: Final = kinds_where("blank")
_LABELS: Final = kinds_where("labels")
_SECTIONS: Final = kinds_where("section")
_FRONT_MATTER: Final = frozenset({"front-matter"})
_WRAPPERS: Final = kinds_where("wrapper")
_MARKERS: Final = kinds_where("marker")
_TAGS: Final = kinds_where("tag")


def _depth(title: str) -> int:
    """Return the depth of a title's number: 3 for "2.3.1 Title", or 0 for an unnumbered title."""
    numbered = _NUMBER.match(title)
    return numbered["number"].count(".") + 1 if numbered else 0


def _with_blocks(analysis: Analysis, children: list[Block]) -> Analysis:
    return replace(analysis, blocks=replace(analysis.blocks, children=tuple(children)))


def pseudo_headings(analysis: Analysis) -> Analysis:
    """Return the analysis with its entirely bold paragraphs turned into headings.

    Such a heading is one level below the previous Markdown heading. If it is numbered, each part of
    its number counts as a level: "2.3" is two levels below.
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

    Levels change only if all numbered headings have the same level.
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


def with_headings(analysis: Analysis) -> Analysis:
    """Return the analysis with the headings that begin sections, and the wrappers around them.

    A heading begins a section at the top level and directly inside a wrapper.
    """
    reader = _Reader(analysis)
    reader.read_document()
    wrappers = tuple(sorted(reader.wrappers))
    return replace(analysis, headings=tuple(reader.headings), wrappers=wrappers)


class _Reader:
    """Reads the blocks of a document in order, and lists what begins and ends sections.

    headings: the headings that open sections.
    wrappers: the spans of pairs of tags, and of the containers in which a heading begins.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.headings: list[Heading] = []
        self.wrappers: list[tuple[int, int]] = []
        self._analysis = analysis
        self._opened = OpenSections()
        # The last path at each depth; equal ones, as under repeated titles, are the same object.
        self._paths: dict[int, tuple[str, ...]] = {}
        # The pairs of tags that begin later, the last first, and the ends of those that are open.
        self._tags = sorted(analysis.wrappers, key=lambda span: (-span[0], span[1]))
        self._open_tags: list[tuple[int, int]] = []
        # The start of the labels, and of the lines that open wrappers, right before a heading.
        self._begin = -1

    def read_document(self) -> None:
        """Read the top-level blocks."""
        self._read_all(self._analysis.blocks.children, is_wrapper=False)
        self._pass_tags(len(self._analysis.text))

    def _read_all(self, blocks: Sequence[Block], *, is_wrapper: bool) -> None:
        """Read the blocks at the top level or directly inside a wrapper."""
        for number, block in enumerate(blocks):
            kind = block.kind
            if kind in _BLANK:
                continue
            if self._tags or self._open_tags:
                self._pass_tags(block.start)
            if kind in _SECTIONS:
                self._heading(block)
            elif kind in _FRONT_MATTER:
                self._opened, self._begin = OpenSections(), -1
            elif kind in _WRAPPERS and block.children:
                self._container(block)
            elif (
                kind in _LABELS
                or (kind in _TAGS and block.info == "open")
                or (is_wrapper and number == 0 and kind in _MARKERS)
            ):
                self._begin = block.start if self._begin < 0 else self._begin
            else:
                self._begin = -1

    def _container(self, block: Block) -> None:
        """Read the blocks inside a container; labels before it belong to a heading in it."""
        self._begin = block.start if self._begin < 0 else self._begin
        before = len(self.headings)
        self._opened.enter(before)
        self._read_all(block.children, is_wrapper=True)
        self._pass_tags(block.end)
        self._opened.leave()
        if len(self.headings) > before:
            self.wrappers.append((block.start, block.end))
        self._begin = -1

    def _pass_tags(self, pos: int) -> None:
        """Leave the tags that end at or before ``pos``, and enter those that contain it."""
        while self._open_tags and self._open_tags[-1][1] <= pos:
            self._opened.leave()
            self.wrappers.append(self._open_tags.pop())
        while self._tags and self._tags[-1][0] <= pos:
            start, end = self._tags.pop()
            if pos < end and not (self._open_tags and self._open_tags[-1][1] < end):
                self._open_tags.append((start, end))
                self._opened.enter(len(self.headings))

    def _heading(self, block: Block) -> None:
        start = block.start if self._begin < 0 else self._begin
        self._begin = -1
        title, stack = self._title(block), self._opened.stack
        self._opened.end(block.level)
        path = self.headings[stack[-1][1]].path if stack else ()
        shown = short_title(title.text)
        if shown:
            self._opened.begin(block.level, len(self.headings))
            path = (*path, shown)
        if self._paths.get(len(path)) != path:
            self._paths[len(path)] = path
        path = self._paths[len(path)]
        anchors = (*title.anchors, *names_in(self._analysis.text[start : block.start]))
        self.headings.append(Heading(start, block.end, block.level, shown, path, title.id, anchors))

    def _title(self, block: Block) -> Title:
        analysis = self._analysis
        if block.kind == "html-heading":
            return Title(*html_title(analysis.text[block.start : block.end]))
        content = _content(analysis, block) if analysis.masked else block.content
        return read_title(content, analysis.references, analysis.footnotes, analysis.extensions)


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
