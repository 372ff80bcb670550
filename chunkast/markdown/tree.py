"""markdown-it's block tokens to a tree whose leaves tile the source, line by line.

Every line belongs to one leaf. Lines that no token covers (blank lines, link reference
definitions, lines with nothing but a container's markers, text below the nesting limit)
become leaves of their own, so nothing is ever lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from chunkast.markdown.kinds import CONTAINER_TOKENS, LEAF_TOKENS
from chunkast.model import Block

__all__ = ("build_tree", "paragraph_tree")

# Quote and item markers at the head of a line.
_PREFIX = re.compile(r"(?:[ \t>]|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))*")
_QUOTE_PREFIX = re.compile(r"[ \t>]*")
_CONTAINER_LINE = re.compile(r":{3,}|!!!|\?\?\?|\[!|\[\^[^\]\s]+\]:\s*$")
_CLOSING_COLONS = re.compile(r"[ \t>]*:{3,}[ \t]*$")


@dataclass(slots=True)
class _Open:
    """A container whose end has not been seen: lines from ``first``, up to ``last``."""

    kind: str
    first: int
    last: int
    level: int = 0
    info: str = ""
    children: list[Block] = field(default_factory=list)


class _Builder:
    """Walks the tokens once; ``cursor`` is the first line that no leaf covers yet."""

    def __init__(self, text: str, starts: Sequence[int]) -> None:
        self.text = text
        self.starts = starts
        self.lines = len(starts) - 1
        self.cursor = 0
        self.stack = [_Open("document", 0, self.lines)]
        self.list_depth = -1
        self.quotes = 0

    def line(self, number: int) -> str:
        return self.text[self.starts[number] : self.starts[number + 1]]

    def leaf(self, kind: str, first: int, last: int, **fields: Any) -> None:
        """Add a leaf over the lines ``[first, last)``, and what lies before it as gaps."""
        first = min(max(first, self.cursor), self.lines)
        last = min(last, self.lines)
        if last <= first:
            return
        self.gap(first)
        block = Block(kind, self.starts[first], self.starts[last], **fields)
        self.stack[-1].children.append(block)
        self.cursor = last

    def gap(self, until: int) -> None:
        """Cover the lines from the cursor up to ``until`` with leaves of the gap kinds."""
        while self.cursor < until:
            first = self.cursor
            kind = self.gap_kind(first)
            last = first + 1
            # A definition's title may stand on lines of its own.
            joined = (kind, "paragraph") if kind == "link-definition" else (kind,)
            while last < until and self.gap_kind(last) in joined:
                last += 1
            start, end = self.starts[first], self.starts[last]
            self.stack[-1].children.append(Block(kind, start, end))
            self.cursor = last

    def gap_kind(self, number: int) -> str:
        line = self.line(number).rstrip()
        if not line or (self.quotes and not line.lstrip(" \t>")):
            return "blank"
        prefix = _PREFIX.match(line)
        rest = line[prefix.end() :] if prefix else line
        if number == 0:
            rest = rest.removeprefix("\ufeff")
        if not rest or _CONTAINER_LINE.match(rest):
            return "marker"
        return "link-definition" if rest.startswith("[") else "paragraph"

    def open(self, kind: str, token: Token) -> None:
        first, last = token.map or (self.cursor, self.cursor)
        self.gap(min(max(first, self.cursor), self.lines))
        if kind == "list":
            self.list_depth += 1
        elif kind in ("quote", "alert"):
            self.quotes += 1
        level = max(self.list_depth, 0) if kind in ("list", "item") else 0
        self.stack.append(
            _Open(kind, self.cursor, min(last, self.lines), level, token.info.strip())
        )

    def close(self, kind: str, token: Token) -> None:
        """Close the innermost container behind its last line that is not blank."""
        opened = self.stack[-1]
        if opened.kind != kind:
            return  # plugins together may close what is not open; its end comes with another
        last = max(opened.last, self.cursor)
        if token.type == "container_block_close" and last < self.lines:
            last += bool(_CLOSING_COLONS.match(self.line(last)))
        # A container without any block keeps its own first line, whatever is in it.
        least = self.cursor if opened.children or self.cursor > opened.first else opened.first + 1
        while last > least and not self.line(last - 1).strip():
            last -= 1
        self.gap(min(max(last, least), self.lines))
        self.stack.pop()
        if opened.kind == "list":
            self.list_depth -= 1
        elif opened.kind in ("quote", "alert"):
            self.quotes -= 1
        if opened.children:
            block = _closed(opened)
            self.stack[-1].children.append(block)

    def document(self) -> Block:
        while len(self.stack) > 1:
            self.stack.pop()
        self.gap(self.lines)
        children = tuple(self.stack[0].children)
        return Block("document", 0, len(self.text), children)


def _closed(opened: _Open) -> Block:
    children = tuple(opened.children)
    return Block(
        opened.kind, children[0].start, children[-1].end, children, opened.level, "", opened.info
    )


def build_tree(
    text: str, starts: Sequence[int], tokens: Sequence[Token], front_lines: int = 0
) -> Block:
    """The block tree of ``text`` from its block tokens.

    ``starts`` are the line starts with the text's length at the end. The first
    ``front_lines`` lines are front matter, which the parser did not see.
    """
    builder = _Builder(text, starts)
    builder.leaf("front-matter", 0, front_lines)
    # The closing token of a leaf that is awaited, and its level; tokens before it belong
    # to the leaf.
    awaited = ("", 0)
    for index, token in enumerate(tokens):
        kind = token.type
        if awaited[0]:
            if (kind, token.level) == awaited:
                awaited = ("", 0)
        elif leaf := LEAF_TOKENS.get(kind):
            if token.nesting == 1:
                awaited = (kind.removesuffix("open") + "close", token.level)
            if token.map is not None:
                builder.leaf(leaf, *token.map, **_details(leaf, tokens, index))
        elif container := CONTAINER_TOKENS.get(kind):
            builder.open(container, token)
        elif closing := CONTAINER_TOKENS.get(kind.removesuffix("close") + "open"):
            builder.close(closing, token)
    return builder.document()


def _details(kind: str, tokens: Sequence[Token], index: int) -> dict[str, Any]:
    """What a leaf's block says beyond its kind and place."""
    token = tokens[index]
    if kind == "heading":
        return {"level": int(token.tag[1]), "content": tokens[index + 1].content}
    if kind == "fence":
        first, last = token.map or (0, 0)
        lines = len(token.content.split("\n")) - token.content.endswith("\n")
        lines -= not token.content
        return {"info": token.info.strip(), "closed": last - first > lines + 1}
    if kind == "paragraph" and token.level:
        return {"content": tokens[index + 1].content}
    return {}


def paragraph_tree(text: str, starts: Sequence[int], front_lines: int = 0) -> Block:
    """A tree of nothing but paragraphs and blank lines: what is left when parsing fails."""
    builder = _Builder(text, starts)
    builder.leaf("front-matter", 0, front_lines)
    first = -1
    for number in range(front_lines, builder.lines + 1):
        blank = number == builder.lines or not builder.line(number).strip()
        if blank and first >= 0:
            builder.leaf("paragraph", first, number)
            first = -1
        elif not blank and first < 0:
            first = number
    return builder.document()
