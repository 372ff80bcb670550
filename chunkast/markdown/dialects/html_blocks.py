"""HTML around Markdown: pairs of tags such as ``<details>`` become containers.

markdown-it ends an HTML block at a blank line, so an element with Markdown inside consists of a
block that opens it and a block that closes it. Such a pair becomes a container. A block with only
an opening tag, an anchor or a comment stays with the block after it. A block with only a closing
tag stays with the block before it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final

from chunkast.markdown.blocks import Signs, relabelled, with_children
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.open_elements import OpenElements
from chunkast.model import Block
from chunkast.text.html import TAG

__all__ = ("arrange_html",)

# The elements that may contain blocks.
_ELEMENTS: Final = frozenset(
    """article aside blockquote center details dialog div dl figure footer header main nav ol p
    section table ul""".split()  # noqa: SIM905
)
# A longer comment is not a label.
_MAX_COMMENT: Final = 200
_CLOSING_COMMENT = re.compile(r"<!--\s*(?:/|end\b)", re.IGNORECASE)
_LAST_WORD = re.compile(r"(?:\bend|stop)\Z", re.IGNORECASE)
_ANCHORS = re.compile(
    r"(?:\s*<a\s+(?:id|name)\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*')\s*(?:/>|>\s*</a>))+\s*"
)
_ANCHOR = re.compile(r"<a\s+(?:id|name)\s*=")
# Pairs nested deeper in one list of blocks do not become containers.
_MAX_DEPTH: Final = 4
# White space, and the quote marks around a block.
_MARGIN: Final = " \t\r\n>"


@dataclass(frozen=True, slots=True)
class _Role:
    """The elements that an HTML block closes, and those that it leaves open, in order.

    ``kind`` is "label" or "closer" for a block without text, or "" for other blocks.
    """

    closes: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    kind: str = ""


def arrange_html(text: str, tree: Block, signs: Signs) -> tuple[Block, list[tuple[int, int]]]:
    """Turn pairs of HTML blocks into containers, and relabel "label" and "closer" blocks."""
    # A paragraph of only anchors is a label as well.
    has_anchors = signs.may_open("a") and _ANCHOR.search(text) is not None
    kinds = ("html",) * ("html" in signs.kinds) + ("paragraph",) * has_anchors
    return (_arranged(text, tree, kinds) if kinds else tree), []


def _arranged(text: str, block: Block, kinds: Collection[str]) -> Block:
    """Return ``block`` with its leaves of these ``kinds`` paired and relabelled."""
    children = [
        _arranged(text, child, kinds)
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
    pairs: Sequence[tuple[int, int]] = ()
    if any(role.opens or role.closes for role in roles.values()):
        pairs = _nested(_pairs(children, roles), len(children))
    for number, role in roles.items():
        if role.kind == "closer" or (role.kind and _labels(children, number)):
            children[number] = relabelled(role.kind, children[number])
    for opener, closer in pairs:
        children[opener] = relabelled("label", children[opener])
        children[closer] = relabelled("closer", children[closer])
    if pairs:
        children = _wrapped(children, pairs, roles)
    return relabelled(block.kind, block, tuple(children))


def _wrapped(
    children: Sequence[Block], pairs: Sequence[tuple[int, int]], roles: Mapping[int, _Role]
) -> list[Block]:
    """Put a container around each of ``pairs``, in which outer pairs come before inner pairs."""
    closers = dict(pairs)
    rows: list[list[Block]] = [[]]
    openers: list[int] = []
    for number, child in enumerate(children):
        if number in closers:
            rows.append([])
            openers.append(number)
        rows[-1].append(child)
        if openers and closers[openers[-1]] == number:
            inside = tuple(rows.pop())
            info = roles[openers.pop()].opens[0]
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
        return _Role(kind="label") if _ANCHORS.fullmatch(content) else None
    return _role_of(content)


@lru_cache(maxsize=256)
def _role_of(content: str) -> _Role:
    if _ANCHORS.fullmatch(content):
        return _Role(kind="label")
    without = _without_comments(content)
    if not without.strip(_MARGIN):
        closer = _closes(content)
        return _Role(kind="closer" if closer else "label" if len(content) <= _MAX_COMMENT else "")
    tags = [(tag["name"].lower(), bool(tag["closing"])) for tag in TAG.finditer(without)]
    elements: OpenElements[str, None] = OpenElements()
    closes: list[str] = []
    for name, closing in tags:
        if name not in _ELEMENTS:
            continue
        if not closing:
            elements.open(name, None)
        elif not elements.close(name):
            closes.append(name)
    opens = tuple(name for name, _ in elements.stack)
    bare = not TAG.sub("", without).strip(_MARGIN) and all(name in _ELEMENTS for name, _ in tags)
    kind = "" if not bare or bool(opens) == bool(closes) else "label" if opens else "closer"
    return _Role(tuple(closes), opens, kind)


def _closes(content: str) -> bool:
    """Return whether one of the comments in ``content`` marks the end of something."""
    comments = (comment.rstrip() for comment in content.split("-->")[:-1])
    return _CLOSING_COMMENT.search(content) is not None or any(
        _LAST_WORD.search(comment, max(len(comment) - 5, 0)) for comment in comments
    )


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join((*kept, text[at:]))


def _pairs(children: Sequence[Block], roles: Mapping[int, _Role]) -> Iterator[tuple[int, int]]:
    """Yield the indices of the blocks that open and close an element.

    The pairs are in order of their closing blocks. A pair does not cross a pair of XML tags, and
    does not contain a heading, since the heading's section would continue after the pair. If a
    block opens several elements, the first one counts; if it closes several, the last one does.
    """
    headings = [0, *accumulate(CONSTRUCTS[child.kind].section for child in children)]
    within_tags: list[OpenElements[str, int]] = [OpenElements()]
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
        closed: list[int] = []
        for name in role.closes:
            closed = elements.close(name)
        opener = closed[-1] if closed and not role.opens else number
        if opener < number and headings[opener] == headings[number] and not roles[opener].closes:
            yield opener, number
        for name in role.opens:
            elements.open(name, number)


def _nested(pairs: Iterator[tuple[int, int]], children: int) -> list[tuple[int, int]]:
    """Return the pairs that become containers: properly nested, not too deep, outer pairs first."""
    kept: list[tuple[int, int]] = []
    ends = [children]
    for first, last in sorted(pairs, key=lambda pair: (pair[0], -pair[1])):
        while ends[-1] < first:
            ends.pop()
        if len(ends) <= _MAX_DEPTH and last < ends[-1] and (not kept or kept[-1][0] < first):
            kept.append((first, last))
            ends.append(last)
    return kept
