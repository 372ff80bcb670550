"""Paragraphs of nothing but strong emphasis, which head what follows them.

Converters and people write headings so. Such a paragraph never stands without the block after
it; it opens no section, unless ``pseudo_headings`` says so.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final

from chunkast.markdown.blocks import Signs, relabelled, with_children
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block

__all__ = ("arrange_bold", "bold_title")

# One line: a number, strong text, a colon.
_BOLD = re.compile(
    r"\s*(?P<title>(?:\d[\d.]*[ \t]+)?(?P<mark>\*\*\*?|__)(?![\s*_])(?:(?!\*\*|__)[^\r\n])+"
    r"(?<![\s\\])(?P=mark):?)\s*"
)
# A longer paragraph is a text of its own.
_LONGEST: Final = 200
_START = attrgetter("start")
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


def arrange_bold(text: str, tree: Block, _signs: Signs) -> tuple[Block, list[tuple[int, int]]]:
    """``tree`` with leaves "bold-heading" for those paragraphs that a block of text follows."""
    lines = sorted(_lines(text))
    return (_arranged(text, tree, lines) if lines else tree), []


def _lines(text: str) -> Iterator[int]:
    """A place in each line of the text that may be one, told by the ends of lines first."""
    for end in chain.from_iterable(end.finditer(text) for end in _ENDS):
        if _LINE.match(text, text.rfind("\n", 0, end.start()) + 1):
            yield end.start()


def _arranged(text: str, block: Block, lines: Sequence[int]) -> Block:
    """``block`` with such leaves in it; ``lines`` is where they may be, all inside it."""
    children = list(block.children)
    at = 0
    while at < len(lines):
        number = bisect_right(children, lines[at], key=_START) - 1
        child = children[number]
        inside = lines[at : bisect_left(lines, child.end, at)]
        if child.children:
            children[number] = _arranged(text, child, inside)
        elif _is_bold(text, child) and _heads_text(children, number):
            children[number] = relabelled("bold-heading", child)
        at += max(len(inside), 1)
    return with_children(block, children)


def _is_bold(text: str, block: Block) -> bool:
    return CONSTRUCTS[block.kind].plain and bold_title(text, block) != ""


def _heads_text(blocks: Sequence[Block], number: int) -> bool:
    """Whether what follows a block is text, or heads text."""
    # By number: ``islice`` walks to where it begins.
    for after in range(number + 1, len(blocks)):
        construct = CONSTRUCTS[blocks[after].kind]
        if not construct.blank:
            return not construct.section and not construct.marker
    return False
