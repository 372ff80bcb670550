"""Find paragraphs with a special role: captions, bold headings, and tables of contents.

A paragraph such as "Table 3: ..." stays with the table next to it, and "Figure 3: ..." with the
image. An entirely bold paragraph, which authors and converters use as a heading, stays with the
block after it; it begins a section only if ``pseudo_headings`` is set. Lines with dot leaders and a
page number are a table of contents. Converters write them as paragraphs or, if the text is large or
bold, as headings.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from chunkast.markdown.blocks import (
    Arranged,
    Signs,
    new_block,
    rearranged,
    relabelled,
    with_children,
)
from chunkast.markdown.kinds import CONSTRUCTS, Shape
from chunkast.model import Block

__all__ = ("arrange_bold", "arrange_captions", "arrange_contents", "bold_title")

_TABLES: Final[frozenset[Shape]] = frozenset({"table", "text-table", "html-table"})
# By what has the caption: a word, a number, and what separates it from the caption's text.
_CAPTIONS: Final = {
    shown: re.compile(
        rf"{mark}[ \t>*_+\-]*(?:<[^<>]*>[*_]*)*(?i:{words})[\s*_]*(?:\d[\d.\-–]*[a-z]?|[IVX]+)"
        r"(?=[*_]*(?:[:)：）。]|\.(?!\d)|\s*$|[\s*_]*[^\W\d_a-z]))"
    )
    for shown, mark, words in (
        ("table", r"(?i:table)?:[ \t]+\S|", r"table|tab\.|tabelle|tableau|tabla|tabella|表"),
        ("figure", "", r"figure|fig\.?|abbildung|abb\.|figura|[图圖図]"),
    )
}
_FIGURES = re.compile("[Ff]ig|FIG|[Aa]bb|[图圖図]")
_IMAGE = re.compile(r"[ \t>]*(?:\[?!\[|<img|<figure)[^\r\n]*[)\]}>]\s*")
# A longer paragraph is not a caption, or not a heading.
_LONGEST_CAPTION: Final = 500
_LONGEST_HEADING: Final = 200
# One line: an optional number, strong text, an optional colon.
_BOLD = re.compile(
    r"\s*(?P<title>(?:\d[\d.]*[ \t]+)?(?P<mark>\*\*\*?|__)(?![\s*_])(?:(?!\*\*|__)[^\r\n])+"
    r"(?<![\s\\])(?P=mark):?)\s*"
)
# The ends of bold lines. Each pattern begins with a literal, which is fast to search for.
_BOLD_ENDS = tuple(re.compile(rf"{mark}(?=:?[^\S\r\n]*(?:[\r\n]|\Z))") for mark in (r"\*\*", "__"))

_DOTS: Final = ".…·"
_LEADERS = re.compile(rf"[{_DOTS}][{_DOTS} \t_*]{{4,}}")
_LEAST: Final = 5
_PAGE = re.compile(r"(?:\d{1,5}|[ivxlcIVXLC]{1,8})(?!\w)")
# Fewer dots, at the end of a line that the title nearly fills.
_FEW = re.compile(r"(?:[ \t]\.){2,}[ \t_*]*\d{1,5}[ \t_*]*$")
_TAIL: Final = 40
# Matches in any line that may lead to a page; most texts have none.
_MAY_LEAD = tuple(
    re.compile(
        rf"{re.escape(dot)}(?=[ \t_*{_DOTS}])"
        rf"(?:(?:[ \t_*]*[{_DOTS}]){{{_LEAST - 1}}}|[ \t]\.[ \t_*]*\d)"
    )
    for dot in _DOTS
)
_LINE_END = re.compile(r"\r\n?|\n")


def arrange_captions(text: str, tree: Block, signs: Signs) -> Arranged:
    """Relabel captions before tables and images as "caption", and captions after them as "legend".

    A figure's caption belongs to the image before it, if there is one.
    """

    def with_captions(blocks: list[Block]) -> list[Block]:
        numbers = [n for n, block in enumerate(blocks) if not CONSTRUCTS[block.kind].blank]
        shown = [_shown(text, blocks[number]) for number in numbers]
        for number, before, after in zip(numbers, ["", *shown], [*shown[1:], ""], strict=False):
            block, both = blocks[number], before == after == "figure"
            if after and not both and _is_caption(text, block, after):
                blocks[number] = relabelled("caption", block)
            elif before and _is_caption(text, block, before):
                blocks[number] = relabelled("legend", block)
        return blocks

    has_tables = not signs.kinds.isdisjoint(_TABLES) or signs.may_open("table", "TABLE")
    has_images = "![" in text or signs.may_open("img", "figur")
    may_have = has_tables or (has_images and _FIGURES.search(text))
    return (rearranged(tree, with_captions) if may_have else tree), []


def _shown(text: str, block: Block) -> str:
    """Return "table", "figure" for a block that is only an image, or ""."""
    row = CONSTRUCTS[block.kind]
    if row.shape in _TABLES:
        return "table"
    is_leaf = not block.children and not row.section
    return "figure" if is_leaf and _IMAGE.fullmatch(text, block.start, block.end) else ""


def _is_caption(text: str, block: Block, shown: str) -> bool:
    """Return whether a paragraph, or a list of only one, is a caption of what is ``shown``."""
    inner = block
    while len(inner.children) == 1:
        (inner,) = inner.children
    if not CONSTRUCTS[inner.kind].plain or block.end - block.start > _LONGEST_CAPTION:
        return False
    content = inner.content or text[inner.start : inner.end]
    return _CAPTIONS[shown].match(content.lstrip()) is not None


def arrange_bold(text: str, tree: Block, _signs: Signs) -> Arranged:
    """Relabel entirely bold paragraphs that precede text as "bold-heading"."""

    def arranged(block: Block) -> Block:
        children = list(block.children)
        for number, child in enumerate(block.children):
            if bisect_left(ends, child.start) == bisect_left(ends, child.end):
                continue
            if child.children:
                children[number] = arranged(child)
            elif (
                CONSTRUCTS[child.kind].plain
                and bold_title(text, child)
                and _heads_text(block.children, number)
            ):
                children[number] = relabelled("bold-heading", child)
        return with_children(block, children)

    ends = sorted(end.start() for mark in _BOLD_ENDS for end in mark.finditer(text))
    return (arranged(tree) if ends else tree), []


def bold_title(text: str, block: Block) -> str:
    """Return the text of a paragraph, with its marks, if it is a single bold line, else ""."""
    if block.end - block.start > _LONGEST_HEADING:
        return ""
    match = _BOLD.fullmatch(block.content or text[block.start : block.end])
    return match["title"] if match else ""


def _heads_text(blocks: Sequence[Block], number: int) -> bool:
    """Return whether text follows: the next non-blank block is not a heading or a marker."""
    for after in range(number + 1, len(blocks)):
        construct = CONSTRUCTS[blocks[after].kind]
        if not construct.blank:
            return not construct.section and not construct.marker
    return False


def arrange_contents(text: str, tree: Block, _signs: Signs) -> Arranged:
    """Turn each table of contents at the top level into a "contents" leaf.

    Tables of contents that are separated only by blank lines are joined into one block.
    """
    may_lead = [each for each, dot in zip(_MAY_LEAD, _DOTS, strict=True) if dot in text]
    may_lead = [each for each in may_lead if each.search(text)]
    if not may_lead:
        return tree, []
    children: list[Block] = []
    last = -1  # the index of the last table of contents, if only blank lines follow it
    for child in tree.children:
        construct = CONSTRUCTS[child.kind]
        if (
            (construct.plain or construct.section)
            and any(each.search(text, child.start, child.end) for each in may_lead)
            and _is_contents(text, child)
        ):
            if last >= 0:
                start = children[last].start
                del children[last:]
                child = new_block("contents", start, child.end)  # noqa: PLW2901
            last = len(children)
            children.append(relabelled("contents", child))
        else:
            last = last if construct.blank else -1
            children.append(child)
    return relabelled(tree.kind, tree, tuple(children)), []


def _is_contents(text: str, block: Block) -> bool:
    """Return whether at least half of a block's lines have dot leaders and a page number."""
    lines = [line for line in _LINE_END.split(text[block.start : block.end]) if line.strip()]
    return 2 * sum(map(_leads_to_page, lines)) >= len(lines) > 0


def _leads_to_page(line: str) -> bool:
    if _FEW.search(line.rstrip()[-_TAIL:]):
        return True
    return any(
        _PAGE.match(line, match.end()) and sum(map(match[0].count, _DOTS)) >= _LEAST
        for match in _LEADERS.finditer(line)
    )
