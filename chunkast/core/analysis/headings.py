"""Headings where converters write none, or all on one level, for those who ask for them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from chunkast.core.analysis.context import DocumentDraft, DocumentHeuristic
from chunkast.heuristics import Heuristic, Patch
from chunkast.markdown import CONSTRUCTS
from chunkast.markdown.dialects.bold_headings import bold_title
from chunkast.model import Analysis, Block

__all__ = ("NUMBERED_HEADINGS", "PSEUDO_HEADINGS")

# "2.3.1 Title", the marks of emphasis before it aside; "2. Title" is of the first level.
_NUMBER = re.compile(r"[\s*_]*(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})[.)]?[\s*_]+\S")
_COLON = re.compile(r":(?=[*_:]*$)")
_LEVELS: Final = 6


def _depth(title: str) -> int:
    """How many numbers stand before a title; 0: none."""
    found = _NUMBER.match(title)
    return found["number"].count(".") + 1 if found else 0


def _with_blocks(draft: DocumentDraft, children: list[Block]) -> Patch[Analysis]:
    value = _value(draft)
    return Patch(value=replace(value, blocks=replace(value.blocks, children=tuple(children))))


def _value(draft: DocumentDraft) -> Analysis:
    assert draft.value is not None, "post-parse heuristics run on a value"
    return draft.value


def _pseudo_headings(draft: DocumentDraft) -> Patch[Analysis]:
    """Paragraphs of strong emphasis alone as headings below the last one of Markdown's own.

    A number says how far below: "2.3" is two levels down.
    """
    level = 0
    children = list(_value(draft).blocks.children)
    for place, block in enumerate(children):
        construct = CONSTRUCTS[block.kind]
        if construct.section:
            level = block.level
        elif construct.pseudo:
            title = _COLON.sub("", bold_title(draft.original, block))
            children[place] = replace(
                block,
                kind="heading",
                level=min(level + max(_depth(title), 1), _LEVELS),
                content=title,
            )
    return _with_blocks(draft, children)


def _numbered_headings(draft: DocumentDraft) -> Patch[Analysis] | None:
    """The numbered headings by their numbers, if all of them are on one level."""
    children = list(_value(draft).blocks.children)
    depths = {
        place: depth
        for place, block in enumerate(children)
        if CONSTRUCTS[block.kind].section and (depth := _depth(block.content))
    }
    if len({children[place].level for place in depths}) != 1:
        return None
    for place, depth in depths.items():
        block = children[place]
        children[place] = replace(block, level=min(block.level + depth - 1, _LEVELS))
    return _with_blocks(draft, children)


PSEUDO_HEADINGS: Final[DocumentHeuristic] = Heuristic(
    "pseudo-headings",
    "post-parse",
    _pseudo_headings,
    lambda draft: draft.context.config.pseudo_headings,
)
NUMBERED_HEADINGS: Final[DocumentHeuristic] = Heuristic(
    "heading-levels",
    "post-parse",
    _numbered_headings,
    lambda draft: draft.context.config.heading_levels == "numbering",
)
