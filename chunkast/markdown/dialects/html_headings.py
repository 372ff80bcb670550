"""Headings written in HTML, such as ``<h1 align="center">Name</h1>``, alone in their block."""

from __future__ import annotations

import html
import re
from typing import Final

from chunkast.markdown.blocks import Arranged, Signs, new_block, with_children
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block
from chunkast.text.hashes import normalize_text
from chunkast.text.html import tags_in

__all__ = ("arrange_headings", "html_title")

_NAMES: Final = tuple(f"{letter}{level}" for letter in "hH" for level in range(1, 7))
_OPENING = re.compile(r"\s*<h([1-6])(?=[\s>])", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ALT = re.compile(r"\salt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
# A longer block is not a heading.
_LONGEST: Final = 2_000


def arrange_headings(text: str, tree: Block, signs: Signs) -> Arranged:
    """Relabel HTML blocks that are a single heading, at the top level or directly in wrappers."""
    if "html" not in signs.kinds or not signs.may_open(*_NAMES):
        return tree, []
    return _with_headings(text, tree), []


def _with_headings(text: str, tree: Block) -> Block:
    children = list(tree.children)
    for number, block in enumerate(children):
        if block.kind == "html" and (level := _level(text, block)):
            details = level, "", "", True
            children[number] = new_block("html-heading", block.start, block.end, (), details)
        elif CONSTRUCTS[block.kind].wrapper:
            children[number] = _with_headings(text, block)
    return with_children(tree, children)


def _level(text: str, block: Block) -> int:
    """Return the level of the heading that fills an HTML block, or 0 for other blocks."""
    opening = _OPENING.match(text, block.start, block.end)
    if opening is None or block.end - block.start > _LONGEST:
        return 0
    content = _COMMENT.sub("", text[block.start : block.end]).strip().lower()
    closing = f"</h{opening[1]}>"
    alone = content.endswith(closing) and content.count("</h") == 1
    return int(opening[1]) if alone and html_title(content) else 0


def html_title(content: str) -> str:
    """Return the text of an HTML heading on one line, or its images' texts if it is empty."""
    content = _COMMENT.sub("", content)
    parts: list[str] = []
    images: list[str] = []
    at = 0
    for tag in tags_in(content, 0, len(content)):
        parts.append(content[at : tag.start])
        at = tag.end
        if tag.name == "br":
            parts.append(" ")
        elif tag.name == "img" and (alt := _ALT.search(content, tag.start, tag.end)):
            images.append(alt[1] or alt[2] or "")
    parts.append(content[at:])
    shown = normalize_text(html.unescape("".join(parts)))
    return shown or normalize_text(html.unescape(" ".join(images)))
