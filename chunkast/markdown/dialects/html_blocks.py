"""Turn HTML around Markdown, such as ``<details>``, into containers.

markdown-it ends an HTML block at a blank line, so an element with Markdown inside consists of a
block that opens it and a block that closes it. Such a pair becomes a container. A block with only
an opening tag, an anchor or a comment stays with the block after it. A block with only a closing
tag stays with the block before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final

from chunkast.markdown.blocks import Arranged, Pair, Signs, relabelled, with_children
from chunkast.markdown.dialects.anchors import ANCHORS
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.open_elements import OpenElements, nested
from chunkast.model import Block
from chunkast.text.html import TAG
from chunkast.text.source_map import line_starts

__all__ = ("arrange_html",)

# The elements that may contain blocks.
_ELEMENTS: Final = frozenset(
    """article aside blockquote center details dialog div dl figure footer header main nav ol p
    section table ul""".split()  # noqa: SIM905
)
# Those in which a heading opens a section; the others are layout.
_COMPONENTS: Final = frozenset({"details", "dialog"})
# A longer comment is not a label.
_MAX_COMMENT: Final = 200
_CLOSING_COMMENT = re.compile(r"<!--\s*(?:/|end\b)", re.IGNORECASE)
_LAST_WORD = re.compile(r"(?:\bend|stop)\Z", re.IGNORECASE)
# Pairs nested deeper in one list of blocks do not become containers.
_MAX_DEPTH: Final = 4
# White space, and the quote marks around a block.
_MARGIN: Final = " \t\r\n>"


@dataclass(frozen=True, slots=True)
class _Role:
    """The elements that an HTML block closes, and those that it leaves open, in order.

    Each is a name and the tag's position in the block. ``kind`` is "label" or "closer" for a block
    without text, or "" for other blocks.
    """

    closes: tuple[tuple[str, int], ...] = ()
    opens: tuple[tuple[str, int], ...] = ()
    kind: str = ""


def arrange_html(text: str, tree: Block, signs: Signs) -> Arranged:
    """Turn pairs of HTML blocks into containers; relabel blocks without text "label" or "closer".

    Also returns the pairs that are components, with or without headings between their tags.
    """
    # A paragraph of only anchors is a label as well.
    has_anchors = signs.may_open("a ", "span ")
    kinds = ("html",) * ("html" in signs.kinds) + ("paragraph",) * has_anchors
    components: list[Pair] = []
    return (_arranged(text, tree, kinds, components) if kinds else tree), components


def _arranged(
    text: str, block: Block, kinds: Collection[str], components: list[Pair] | None
) -> Block:
    """Return ``block`` with its leaves of these ``kinds`` paired and relabelled.

    If ``block`` is the document or inside wrappers, its components are added to ``components``.
    """
    children = [
        _arranged(text, child, kinds, components if CONSTRUCTS[child.kind].wrapper else None)
        if child.children and text.find("<", child.start, child.end) >= 0
        else child
        for child in block.children
    ]
    roles = {
        number: role
        for number, child in enumerate(children)
        if child.kind in kinds and (role := _role(text, child)) is not None
    }
    if not roles:
        return with_children(block, children)
    pairs: dict[int, int] = {}
    if any(role.opens or role.closes for role in roles.values()):
        found, inside = _pairs(text, children, roles)
        # The last pair with an opening block is the outermost one.
        pairs = dict(nested(dict(found).items(), _MAX_DEPTH))
        if components is not None:
            components += inside
    for number, role in roles.items():
        if role.kind == "closer" or (role.kind and _labels(children, number)):
            children[number] = relabelled(role.kind, children[number])
    for opener, closer in pairs.items():
        children[opener] = relabelled("label", children[opener])
        children[closer] = relabelled("closer", children[closer])
    if pairs:
        children = _wrapped(children, pairs, roles)
    return relabelled(block.kind, block, tuple(children))


def _wrapped(
    children: Sequence[Block], closers: Mapping[int, int], roles: Mapping[int, _Role]
) -> list[Block]:
    """Put a container around each pair; ``closers`` maps an opening block to its closing block."""
    rows: list[list[Block]] = [[]]
    openers: list[int] = []
    for number, child in enumerate(children):
        if number in closers:
            rows.append([])
            openers.append(number)
        rows[-1].append(child)
        if openers and closers[openers[-1]] == number:
            inside = tuple(rows.pop())
            info, _ = roles[openers.pop()].opens[0]
            rows[-1].append(Block("container", inside[0].start, inside[-1].end, inside, info=info))
    return rows[0]


def _labels(children: Sequence[Block], number: int) -> bool:
    """Return whether a block without visible text, such as an anchor, belongs to the next block.

    It does if no blank line separates the two, or if it has blank lines both before and after it.
    """
    block = children[number]
    following = next((b for b in children[number + 1 : number + 3] if b.kind != "blank"), None)
    if following is None or following.start == block.end:
        return following is not None
    previous = children[number - 1] if number else None
    return previous is None or previous.kind == "blank" or previous.end < block.start


def _role(text: str, block: Block) -> _Role | None:
    """Return the role of an HTML leaf or of a paragraph of anchors, or None."""
    start = text.find("<", block.start, block.end)
    if start < 0 or text[block.start : start].strip(_MARGIN):
        return None
    content = block.content or text[start : block.end]
    if block.kind == "paragraph":
        return _Role(kind="label") if ANCHORS.fullmatch(content) else None
    return _role_of(content)


@lru_cache(maxsize=256)
def _role_of(content: str) -> _Role:
    if ANCHORS.fullmatch(content):
        return _Role(kind="label")
    without = _without_comments(content)
    if not without.strip(_MARGIN):
        closer = _closes(content)
        return _Role(kind="closer" if closer else "label" if len(content) <= _MAX_COMMENT else "")
    tags = [
        (tag["name"].lower(), bool(tag["closing"]), tag.start()) for tag in TAG.finditer(without)
    ]
    elements: OpenElements[str, int] = OpenElements()
    closes: list[tuple[str, int]] = []
    for name, closing, at in tags:
        if name not in _ELEMENTS:
            continue
        if not closing:
            elements.open(name, at)
        elif not elements.close(name):
            closes.append((name, at))
    opens = tuple(elements.stack)
    bare = not TAG.sub("", without).strip(_MARGIN) and all(name in _ELEMENTS for name, *_ in tags)
    kind = "" if not bare or bool(opens) == bool(closes) else "label" if opens else "closer"
    return _Role(tuple(closes), opens, kind)


def _closes(content: str) -> bool:
    """Return whether one of the comments in ``content`` marks the end of something."""
    comments = (comment.rstrip() for comment in content.split("-->")[:-1])
    return _CLOSING_COMMENT.search(content) is not None or any(
        _LAST_WORD.search(comment, max(len(comment) - 5, 0)) for comment in comments
    )


def _without_comments(text: str) -> str:
    """Return ``text`` with spaces in place of comments."""
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept += text[at:start], " " * (end + 3 - start)
        at = end + 3
    return "".join((*kept, text[at:]))


def _pairs(
    text: str, children: Sequence[Block], roles: Mapping[int, _Role]
) -> tuple[list[tuple[int, int]], list[Pair]]:
    """Return the indices of the blocks that open and close an element, and the components.

    The pairs are in order of their closing blocks. A pair does not cross a pair of XML tags, and
    does not contain a heading, since the heading's section would continue after the pair. If a
    block opens several elements, the first one counts; if it closes several, the last one does.
    """
    pairs: list[tuple[int, int]] = []
    components: list[Pair] = []
    headings = [0, *accumulate(map(_has_heading, children))]
    within_tags: list[OpenElements[str, tuple[int, int]]] = [OpenElements()]
    for number, child in enumerate(children):
        if child.kind == "tag":
            if child.info == "open":
                within_tags.append(OpenElements())
            elif len(within_tags) > 1:
                within_tags.pop()
            continue
        role = roles.get(number)
        if role is None:
            continue
        elements = within_tags[-1]
        first = text.find("<", child.start)
        lines = line_starts(text, child.start, child.end)
        closed: list[tuple[int, int]] = []
        for name, at in role.closes:
            closed = elements.close(name)
            if closed and name in _COMPONENTS:
                end = lines[bisect_right(lines, first + at)]
                components.append(Pair(closed[-1][1], end, protected=False, wraps=True))
        opener = closed[-1][0] if closed and not role.opens else number
        if opener < number and headings[opener] == headings[number] and not roles[opener].closes:
            pairs.append((opener, number))
        for name, at in role.opens:
            elements.open(name, (number, lines[bisect_right(lines, first + at) - 1]))
    return pairs, components


def _has_heading(block: Block) -> bool:
    """Return whether a block is a heading, or has one that opens a section inside."""
    row = CONSTRUCTS[block.kind]
    return row.section or (row.wrapper and any(map(_has_heading, block.children)))
