"""Find the tabs of Microsoft Learn: headings that are only a link such as ``# [Label](#tab/id)``.

A tab ends with a thematic break, before the next tab, or with the section around it, whichever
comes first. The lines that open and close tabs are container markers, never headings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from chunkast.markdown.blocks import Arranged, Signs, new_block, relabelled, with_children
from chunkast.markdown.kinds import kinds_where
from chunkast.model import Block

__all__ = ("arrange_tabs",)

# Translated pages have an anchor before the link.
_TAB = re.compile(
    r"(?:<a\s[^<>]*>\s*(?:</a>)?\s*)?"
    r"\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])+)\]\(#tab/[^()]*\)"
)
_SECTIONS: Final = kinds_where("section")
_RULE: Final = "hr"


def arrange_tabs(text: str, tree: Block, _signs: Signs) -> Arranged:
    """Turn each tab into a "tab" block, with the tab's label as its ``info``."""
    if "(#tab/" not in text:
        return tree, []
    return with_children(tree, _with_tabs(tree.children, 0)), []


def _with_tabs(blocks: Sequence[Block], level: int) -> list[Block]:
    """Return the children of a container with their tabs; ``level`` is the section's around it."""
    found: list[Block] = []
    number = 0
    while number < len(blocks):
        block = blocks[number]
        if tab := _tab_line(block):
            last = _tab_end(blocks, number + 1, level)
            found += _tab(tab["label"], blocks[number:last], level)
            number = last
            continue
        if block.kind in _SECTIONS:
            level = block.level
        children = _with_tabs(block.children, level)
        found.append(with_children(block, children) if children else block)
        number += 1
    return found


def _tab_line(block: Block) -> re.Match[str] | None:
    return _TAB.fullmatch(block.content.strip()) if block.kind in _SECTIONS else None


def _tab_end(blocks: Sequence[Block], first: int, level: int) -> int:
    """Return the number of the block after a tab, whose second block has the number ``first``."""
    for number in range(first, len(blocks)):
        block = blocks[number]
        if block.kind == _RULE:
            return number + 1
        if block.kind in _SECTIONS and (block.level <= level or _tab_line(block)):
            return number
    return len(blocks)


def _tab(label: str, blocks: Sequence[Block], level: int) -> list[Block]:
    """Return a tab, and what is after it: blank lines, and the line that closes a container."""
    last = len(blocks)
    while last > 1 and blocks[last - 1].kind in ("blank", "marker"):
        last -= 1
    inside = [relabelled("marker", blocks[0]), *_with_tabs(blocks[1:last], level)]
    if inside[-1].kind == _RULE:
        inside[-1] = relabelled("marker", inside[-1])
    details = 0, "", " ".join(label.split()), True
    tab = new_block("tab", blocks[0].start, inside[-1].end, tuple(inside), details)
    return [tab, *blocks[last:]]
