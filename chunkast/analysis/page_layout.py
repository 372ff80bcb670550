"""Handle page marks, running heads and feet, and blocks that span pages in converted documents.

Before the parse, page marks are masked with blanks, so that a list continues across them. After the
parse, each mark becomes a leaf that stays with the text it belongs to. Lines that are repeated at
the edges of pages become running heads and feet. A paragraph or table that continues on the next
page becomes one block again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import regex

from chunkast.config import ChunkConfig
from chunkast.markdown import CONSTRUCTS
from chunkast.markdown.page_marks import mask_pages
from chunkast.model import Analysis, Block, ProtectedRegion, Replacement
from chunkast.text.pages import PageMark, page_starts
from chunkast.text.source_map import line_starts
from chunkast.text.spans import SpanSet, content_end
from chunkast.text.white_space import WHITE_SPACE, is_blank

__all__ = ("with_pages",)

_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b")
_MARKUP: Final = WHITE_SPACE + "*_"
_NOT_SPACE = re.compile(f"[^{WHITE_SPACE}]")
# Rows of cells, without a delimiter row.
_ROWS = re.compile(r"(?:[ \t]*\|(?! *:?-+:? *\|)[^\r\n]*(?:\r\n?|\n|\Z))+")
# A running head or foot has at most this many characters, and is repeated on at least three pages
# and on one page in six.
_LONGEST: Final = 120
_FEWEST: Final = 3
_SHARE: Final = 6
# Page marks, and all lines at the edge of a page, across which the text may continue.
_MARKS: Final = frozenset({"page-begin", "page-end"})
_EDGES: Final = _MARKS | {"running-head", "running-foot"}
# The maximum number of lines in a running head or foot.
_DEPTH: Final = 2
# Text that continues on the next page ends with a letter, a digit or one of these. It may begin
# with marks before its first letter.
_OPEN_ENDS: Final = ",-–—(，、（「『《"
_OPENERS: Final = "*_(\"'“‘[（「『《"
# Chinese and Japanese characters, between which there is no space.
_UNSPACED = regex.compile(
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\u30fb\u30fc\uff01-\uff60]"
)
_ROW_END: Final = "\n"


@dataclass(frozen=True, slots=True)
class _Joint:
    """The text between two parts of a block that spans pages, and the text that replaces it.

    ``glue`` is the replacement in ``embed_text``. ``edged`` is true if there is a running head or
    foot between the parts.
    """

    start: int
    end: int
    glue: str
    edged: bool


def with_pages(analysis: Analysis, marks: Sequence[PageMark], config: ChunkConfig) -> Analysis:
    """Return the analysis with page marks, running heads and running feet as blocks.

    Each paragraph or table that continues on the next page becomes one block.
    """
    text, masked = analysis.text, analysis.masked or analysis.text
    starts = [mark.start for mark in marks]
    blocks = _placed(text, analysis.blocks, marks, starts)
    children = list(blocks.children)
    edges = _running_lines(text, children, starts)
    children, joints, inside = _joined(masked, children, starts)
    analysis = replace(
        analysis,
        blocks=replace(blocks, children=tuple(_absorbed(children))),
        masked=mask_pages(masked, inside),
        pages=tuple(page_starts(marks)),
    )
    # Inside a table or a sentence that continues, each mark sticks to the text it belongs to.
    regions = [
        _with_mark(mark, joint)
        for joint in joints
        for mark in marks[bisect_left(starts, joint.start) : bisect_left(starts, joint.end)]
    ]
    left_out = _left_out(text, config, marks, edges, joints)
    return analysis.plus(replacements=left_out, regions=regions)


def _left_out(
    text: str,
    config: ChunkConfig,
    marks: Sequence[PageMark],
    edges: Sequence[Block],
    joints: Sequence[_Joint],
) -> list[Replacement]:
    """Return the replacements that remove page marks, heads and feet from ``embed_text``."""
    left_out: list[Replacement] = []
    if not config.running_heads_in_embed:
        left_out += (Replacement(edge.start, _next_text(text, edge.end)) for edge in edges)
    if not config.page_markers_in_embed:
        # A form feed is white space.
        left_out += (
            Replacement(mark.start, _next_text(text, mark.end))
            for mark in marks
            if not is_blank(text[mark.start : mark.end])
        )
        # Unless a head or foot stays between the two parts, they are joined: a sentence by its space,
        # a table by a line end.
        whole = [joint for joint in joints if not (joint.edged and config.running_heads_in_embed)]
        inside = SpanSet((joint.start, joint.end) for joint in whole)
        left_out = [span for span in left_out if not inside.covers(span.start)]
        left_out += (Replacement(joint.start, joint.end, joint.glue) for joint in whole)
    return sorted(left_out, key=lambda span: span.start)


def _with_mark(mark: PageMark, joint: _Joint) -> ProtectedRegion:
    """Return a region over a mark and the adjacent character of the text it belongs to."""
    if mark.begins:
        return ProtectedRegion(mark.start, joint.end + 1, "page-marker")
    return ProtectedRegion(joint.start - 1, mark.end, "page-marker")


def _next_text(text: str, pos: int) -> int:
    """Return the first position from ``pos`` that is not white space, or the end of the text."""
    match = _NOT_SPACE.search(text, pos)
    return match.start() if match else len(text)


def _placed(text: str, block: Block, marks: Sequence[PageMark], starts: Sequence[int]) -> Block:
    """Return ``block`` with a leaf added for each page mark between the blocks inside it."""
    children: list[Block] = []
    for child in block.children:
        first, last = bisect_left(starts, child.start), bisect_left(starts, child.end)
        if first == last:
            children.append(child)
        elif child.children:
            children.append(_placed(text, child, marks, starts))
        elif CONSTRUCTS[child.kind].blank:
            children += _split(text, child, marks[first:last])
        else:
            children.append(child)
    return replace(block, children=tuple(children))


def _split(text: str, blank: Block, marks: Sequence[PageMark]) -> Iterator[Block]:
    """Split a blank leaf at lines with page marks; form feeds are treated as white space."""
    lines = line_starts(text, blank.start, blank.end)
    at = blank.start
    for mark in marks:
        if is_blank(text[mark.start : mark.end]):
            continue
        line = bisect_left(lines, mark.start + 1)
        if at < lines[line - 1]:
            yield Block("blank", at, lines[line - 1])
        at = lines[line]
        yield Block("page-begin" if mark.begins else "page-end", lines[line - 1], at)
    if at < blank.end:
        yield Block("blank", at, blank.end)


def _gaps(children: Sequence[Block], starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield, for each page boundary, the indices of the blocks before and after its marks."""
    before = -1
    for number, block in enumerate(children):
        construct = CONSTRUCTS[block.kind]
        if construct.blank or block.kind in _EDGES:
            continue
        if before >= 0:
            first = bisect_left(starts, children[before].end)
            # A form feed may begin the text of the block.
            if first < len(starts) and starts[first] <= block.start:
                yield before, number
        before = number


def _running_lines(text: str, children: list[Block], starts: Sequence[int]) -> list[Block]:
    """Relabel lines repeated at page edges as running heads or feet, and return their blocks."""
    edges: list[Block] = []
    for _ in range(_DEPTH):
        gaps = list(_gaps(children, starts))
        last, first = ([*numbers] for numbers in zip(*gaps, strict=True)) if gaps else ([], [])
        alone = {*last} & {*first}
        for kind, numbers in (("running-foot", last), ("running-head", first)):
            keys = {number: key for number in numbers if (key := _key(text, children[number]))}
            # A line that is all of a page is its text.
            counts = Counter(key for number, key in keys.items() if number not in alone)
            least = max(_FEWEST, len(gaps) // _SHARE)
            for number, key in keys.items():
                if counts[key] >= least:
                    children[number] = replace(children[number], kind=kind)
                    edges.append(children[number])
    return sorted(edges, key=lambda block: block.start)


def _key(text: str, block: Block) -> str:
    """Return a key to compare lines by, without emphasis, case and numbers.

    Returns "" for a block that is not one short line of plain text.
    """
    if not CONSTRUCTS[block.kind].plain or block.end - block.start > _LONGEST:
        return ""
    line = text[block.start : block.end].strip(_MARKUP)
    return "" if "\n" in line or "\r" in line else _NUMBERS.sub("#", line.casefold())


def _joined(
    text: str, children: Sequence[Block], starts: Sequence[int]
) -> tuple[list[Block], list[_Joint], list[Block]]:
    """Join blocks that continue on the next page.

    Returns all blocks, the gaps where blocks were joined, and the running heads and feet in those
    gaps.
    """
    before = {after: number for number, after in _gaps(children, starts)}
    joined: list[Block] = []
    joints: list[_Joint] = []
    edges: list[Block] = []
    last = -1  # the index in ``joined`` of the last block that is not a mark, head or foot
    for number, block in enumerate(children):
        construct = CONSTRUCTS[block.kind]
        if number in before and _continues(text, joined[last], block):
            one = joined[last]
            heads = [edge for edge in joined[last + 1 :] if CONSTRUCTS[edge.kind].shape == "prose"]
            start, end = content_end(text, one.start, one.end), _next_text(text, block.start)
            glue = _space(text[start - 1], text[end]) if CONSTRUCTS[one.kind].plain else _ROW_END
            joints.append(_Joint(start, end, glue, edged=bool(heads)))
            edges += heads
            joined[last:] = [replace(one, end=block.end)]
            continue
        if not construct.blank and block.kind not in _EDGES:
            last = len(joined)
        joined.append(block)
    return joined, joints, edges


def _space(before: str, after: str) -> str:
    """Return the space between two characters of a sentence."""
    return "" if _UNSPACED.match(before) and _UNSPACED.match(after) else " "


def _absorbed(children: Sequence[Block]) -> list[Block]:
    """Return the blocks, with each mark merged into the paragraph, head or foot it belongs to.

    Only blank lines may separate the two. A mark for the end of a page is treated as the beginning
    of a page if no text precedes it.
    """
    kept: list[Block] = []
    for block in children:
        construct = CONSTRUCTS[block.kind]
        last = _last_text(kept)
        if block.kind in _MARKS and construct.clings:
            if last < 0:
                block = replace(block, kind="page-begin")  # noqa: PLW2901
            elif _takes_marks(kept[last]):
                kept[last:] = [replace(kept[last], end=block.end)]
                continue
        elif _takes_marks(block):
            while last >= 0 and kept[last].kind in _MARKS and CONSTRUCTS[kept[last].kind].heads:
                block = replace(block, start=kept[last].start)  # noqa: PLW2901
                del kept[last:]
                last = _last_text(kept)
        kept.append(block)
    return kept


def _last_text(blocks: Sequence[Block]) -> int:
    """Return the index of the last block, or of the block before it if the last is blank.

    Returns -1 if there is no such block.
    """
    for number in range(len(blocks) - 1, max(len(blocks) - 3, -1), -1):
        if not CONSTRUCTS[blocks[number].kind].blank:
            return number
    return -1


def _takes_marks(block: Block) -> bool:
    row = CONSTRUCTS[block.kind]
    return (row.plain or block.kind in _EDGES - _MARKS) and not block.content


def _continues(text: str, one: Block, two: Block) -> bool:
    """Return whether ``two``, on the next page, continues the sentence or table in ``one``."""
    if one.content or two.content:
        return False
    if CONSTRUCTS[one.kind].shape == "table":
        return _ROWS.fullmatch(text, two.start, two.end) is not None
    if not (CONSTRUCTS[one.kind].plain and CONSTRUCTS[two.kind].plain):
        return False
    end = text[content_end(text, one.start, one.end) - 1]
    first = text[_next_text(text, two.start) : two.end].lstrip(_OPENERS)[:1]
    return (end.isalnum() or end in _OPEN_ENDS) and first.isalpha() and first == first.lower()
