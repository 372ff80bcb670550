"""Paragraphs of nothing but strong emphasis, which head what follows them.

Converters and people write headings so. Such a paragraph never stands without the block after
it; it opens no section, unless ``pseudo_headings`` says so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import is_
from typing import Final

from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.tree import relabelled
from chunkast.model import Block

__all__ = ("arrange_bold", "bold_title")

# One line: a number, strong text, a colon.
_BOLD = re.compile(
    r"\s*(?P<title>(?:\d[\d.]*[ \t]+)?(?P<mark>\*\*\*?|__)(?![\s*_])(?:(?!\*\*|__)[^\r\n])+"
    r"(?<![\s\\])(?P=mark):?)\s*"
)
# A longer paragraph is a text of its own.
_LONGEST: Final = 200
# Whether a line may be one, and how such a line ends; most texts have none.
_LINE = re.compile(
    r"[ \t>]*(?:(?:[-+*]|\d[\d.)]*)[ \t]+)*(?:\*\*|__)[^\r\n]*(?:\*\*|__):?[ \t]*\r?$",
    re.MULTILINE,
)
_ENDS = tuple(re.compile(rf"{mark}:?[ \t]*\r?$", re.MULTILINE) for mark in (r"\*\*", "__"))


def bold_title(text: str, block: Block) -> str:
    """The line of a paragraph that is only strong emphasis, marks and all; "" of any other."""
    if block.end - block.start > _LONGEST:
        return ""
    found = _BOLD.fullmatch(block.content or text[block.start : block.end])
    return found["title"] if found else ""


def arrange_bold(text: str, tree: Block, _has_html: bool) -> tuple[Block, list[tuple[int, int]]]:
    """``tree`` with leaves "bold-heading" for those paragraphs that a block of text follows."""
    lines = sorted(_lines(text))
    return (_arranged(text, tree, lines) if lines else tree), []


def _lines(text: str) -> Iterator[int]:
    """A place in each line of the text that may be one, told by the ends of lines first."""
    for end in chain.from_iterable(end.finditer(text) for end in _ENDS):
        if _LINE.match(text, text.rfind("\n", 0, end.start()) + 1):
            yield end.start()


def _arranged(text: str, block: Block, lines: Sequence[int]) -> Block:
    """``block`` with such leaves in it; ``lines`` is where they may be."""
    children = [
        _arranged(text, child, lines)
        if child.children and bisect_left(lines, child.start) < bisect_left(lines, child.end)
        else child
        for child in block.children
    ]
    headed = False  # whether what follows is text, or heads text
    for number in range(len(children) - 1, -1, -1):
        child = children[number]
        construct = CONSTRUCTS[child.kind]
        if construct.blank:
            continue
        if headed and construct.plain and bold_title(text, child):
            children[number] = relabelled("bold-heading", child)
        else:
            headed = not construct.section and not construct.marker
    if all(map(is_, children, block.children)):
        return block
    return relabelled(block.kind, block, tuple(children))
