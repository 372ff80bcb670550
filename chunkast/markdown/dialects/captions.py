"""Captions: a paragraph such as "Table 3: ..." stays with the table next to it."""

from __future__ import annotations

import re
from typing import Final

from chunkast.markdown.blocks import Signs, relabelled, with_children
from chunkast.markdown.kinds import CONSTRUCTS, Shape
from chunkast.model import Block

__all__ = ("arrange_captions",)

_TABLES: Final[frozenset[Shape]] = frozenset({"table", "html-table"})
_CAPTION = re.compile(
    r"[ \t>*_+\-]*(?:<\w+>[*_]*)?(?:table|tab\.|tabelle|tableau|tabla|tabella|表)"
    r"[\s*_]*[\dIVX][\dIVX.\-–]*[a-z]?(?:[:.)*_\s]|$)",
    re.IGNORECASE,
)
# A longer paragraph is not a caption.
_LONGEST: Final = 500


def arrange_captions(text: str, tree: Block, signs: Signs) -> tuple[Block, list[tuple[int, int]]]:
    """Relabel captions before tables as "caption", and captions after tables as "legend"."""
    tables = signs.tables or signs.may_open("table", "TABLE")
    return (_arranged(text, tree) if tables else tree), []


def _arranged(text: str, block: Block) -> Block:
    children = [_arranged(text, child) if child.children else child for child in block.children]
    numbers = [number for number, child in enumerate(children) if not CONSTRUCTS[child.kind].blank]
    tables = [CONSTRUCTS[children[number].kind].shape in _TABLES for number in numbers]
    for number, is_after, is_before in zip(
        numbers, [False, *tables], [*tables[1:], False], strict=False
    ):
        child = children[number]
        if (is_after or is_before) and CONSTRUCTS[child.kind].plain and _is_caption(text, child):
            children[number] = relabelled("caption" if is_before else "legend", child)
    return with_children(block, children)


def _is_caption(text: str, block: Block) -> bool:
    if block.end - block.start > _LONGEST:
        return False
    return _CAPTION.match((block.content or text[block.start : block.end]).lstrip()) is not None
