"""Paragraphs that are entirely bold, which authors and converters use as headings.

Such a paragraph is never separated from the block after it. It only opens a section if
``pseudo_headings`` is set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from chunkast.markdown.blocks import Signs, relabelled, with_children
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block

__all__ = ("arrange_bold", "bold_title")

# One line: an optional number, strong text, an optional colon.
_BOLD = re.compile(
    r"\s*(?P<title>(?:\d[\d.]*[ \t]+)?(?P<mark>\*\*\*?|__)(?![\s*_])(?:(?!\*\*|__)[^\r\n])+"
    r"(?<![\s\\])(?P=mark):?)\s*"
)
# A longer paragraph is not a heading.
_LONGEST: Final = 200
# The ends of bold lines. Each pattern begins with a literal, which is fast to search for.
_ENDS = tuple(re.compile(rf"{mark}:?[ \t]*\r?$", re.MULTILINE) for mark in (r"\*\*", "__"))


def bold_title(text: str, block: Block) -> str:
    """Return the line of an entirely bold paragraph, including its marks, or ""."""
    if block.end - block.start > _LONGEST:
        return ""
    found = _BOLD.fullmatch(block.content or text[block.start : block.end])
    return found["title"] if found else ""


def arrange_bold(text: str, tree: Block, _signs: Signs) -> tuple[Block, list[tuple[int, int]]]:
    """Relabel entirely bold paragraphs that precede text as "bold-heading"."""
    return (_arranged(text, tree) if any(end.search(text) for end in _ENDS) else tree), []


def _arranged(text: str, block: Block) -> Block:
    children = list(block.children)
    for number, child in enumerate(block.children):
        if child.children:
            children[number] = _arranged(text, child)
        elif _is_bold(text, child) and _heads_text(children, number):
            children[number] = relabelled("bold-heading", child)
    return with_children(block, children)


def _is_bold(text: str, block: Block) -> bool:
    return CONSTRUCTS[block.kind].plain and bold_title(text, block) != ""


def _heads_text(blocks: Sequence[Block], number: int) -> bool:
    """Return whether text follows: the next non-blank block is not a heading or a marker."""
    for after in range(number + 1, len(blocks)):
        construct = CONSTRUCTS[blocks[after].kind]
        if not construct.blank:
            return not construct.section and not construct.marker
    return False
