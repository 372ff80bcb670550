"""Find HTML headings, such as ``<h1 align="center">Name</h1>``, that are alone in their block."""

from __future__ import annotations

import html
import re
from typing import Final

from chunkast.markdown.blocks import Arranged, Signs, new_block, with_children
from chunkast.markdown.dialects.anchors import TitleText, attribute_of
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block
from chunkast.text.hashes import normalize_text
from chunkast.text.html import tags_in

__all__ = ("arrange_headings", "html_title")

_NAMES: Final = tuple(f"{letter}{level}" for letter in "hH" for level in range(1, 7))
_OPENING = re.compile(r"\s*<h([1-6])(?=[\s>])", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
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
    return int(opening[1]) if alone and html_title(content)[0] else 0


def html_title(content: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of an HTML heading on one line, and its anchors.

    If the heading has no text, returns its images' alternative texts instead.
    """
    content = _COMMENT.sub("", content)
    title = TitleText()
    images: list[str] = []
    anchors: tuple[str, ...] = ()
    at = 0
    for tag in tags_in(content, 0, len(content)):
        source = content[tag.start : tag.end]
        title.add(html.unescape(content[at : tag.start]))
        title.add_tag(source)
        at = tag.end
        if tag.name == "img":
            images.append(html.unescape(attribute_of(source, "alt")))
        elif _OPENING.match(source) and (own_id := attribute_of(source, "id")):
            anchors = (own_id,)
    title.add(html.unescape(content[at:]))
    shown, fragments = title.without_permalinks()
    return normalize_text(shown) or normalize_text(" ".join(images)), (
        *anchors,
        *fragments,
        *title.names,
    )
