"""A builder of the block tree, whose leaves tile the source line by line.

Every line belongs to one leaf. Lines that the parser skips (blank lines, link reference
definitions, lines with only a container's markers, text below the nesting limit) become leaves
of their own, so no text is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Final

from markdown_it.token import Token

from chunkast.markdown.blocks import NO_DETAILS, Details, new_block
from chunkast.markdown.kinds import CONTAINER_TOKENS, LEAF_TOKENS, kinds_where
from chunkast.markdown.lines import marks_end
from chunkast.model import Block

__all__ = ("CALL", "TreeBuilder", "paragraph_tree")

# The type of tokens that stand for calls of the builder's methods.
CALL: Final = "call"

_CONTAINER_LINE = re.compile(r":{3,}|/{3,}|!!!|\?\?\?|===[!+]{0,2}[ \t]+\"|\[!|\[\^[^\]\s]+\]:\s*$")
_CALLOUT = re.compile(r"\[!([^\[\]|]+)")
# Skipped lines of these kinds are joined: a definition's title may be on lines of its own.
_JOINED: Final = {"link-definition": ("link-definition", "paragraph")}
_BLANK: Final = kinds_where("blank")
_NESTS: Final = kinds_where("nests")
_LEVELED: Final = _NESTS | kinds_where("leveled")
# Kinds whose lines begin with a mark; a line with only marks is blank.
_QUOTES: Final = frozenset({"quote", "alert"})


def _roles() -> Iterator[tuple[str, tuple[str, str, str]]]:
    for opening, kind in CONTAINER_TOKENS.items():
        yield opening.removesuffix("open") + "close", ("close", kind, "")
        yield opening, ("open", kind, "")
    for opening, kind in LEAF_TOKENS.items():
        yield opening, ("leaf", kind, opening.removesuffix("open") + "close")


# Token type -> role ("open" or "close" a container, or "leaf"), kind, and the type of the token
# that closes a leaf.
_ROLES: Final = dict(_roles())
_NO_ROLE: Final = ("", "", "")


class _Open:
    """An open container, which begins on line ``first``.

    ``lines[1]`` is the line after the container, and is set by the time the container is closed.
    """

    __slots__ = ("children", "first", "info", "kind", "level", "lines")

    def __init__(
        self, kind: str, first: int, lines: Sequence[int], level: int = 0, info: str = ""
    ) -> None:
        self.kind = kind
        self.first = first
        self.lines = lines
        self.level = level
        self.info = info
        self.children: list[Block] = []


class TreeBuilder:
    """Builds the block tree of ``text`` from the fast parser's calls or markdown-it's tokens.

    starts: the line starts, and the text's length at the end.
    front_lines: the number of lines of front matter, which the parser does not see.
    leaves: the kind and info of blocks that the parser reads as HTML, keyed by first line.
    blanks: if false, the tree has no blank lines between top-level blocks. Such lines are half of
        the blocks in most documents.
    cursor: the first line that no leaf covers yet.
    """

    def __init__(
        self,
        text: str,
        starts: Sequence[int],
        front_lines: int = 0,
        leaves: Mapping[int, tuple[str, str]] = MappingProxyType({}),
        *,
        blanks: bool = True,
    ) -> None:
        self.text = text
        self.starts = starts
        self.lines = len(starts) - 1
        self.leaves = leaves
        self.blanks = blanks
        self.cursor = 0
        # True once there is an HTML block, or a table.
        self.has_html = False
        self.has_tables = False
        # The start of the cursor's line: one object for the blocks that end and begin there.
        self.at = 0
        self.stack = [_Open("document", 0, (0, self.lines))]
        # The children of the innermost container.
        self.children = self.stack[-1].children
        self.list_depth = -1
        self.quotes = 0
        self.leaf("front-matter", 0, front_lines)

    def feed(self, tokens: list[Token]) -> None:
        """Add the tokens of whole top-level blocks to the tree, and empty the list of tokens.

        Tokens take up several times as much memory as the tree. A token of the type ``CALL`` has a
        method to call and its arguments.
        """
        tokens.reverse()
        stream = map(list.pop, repeat(tokens, len(tokens)))
        for token in stream:
            if token.type == CALL:
                build, given = token.meta["call"]
                build(*given)
                continue
            role, kind, closing = _ROLES.get(token.type, _NO_ROLE)
            if role == "leaf":
                # The tokens up to the closing one belong to the leaf.
                inside = _content(stream, closing, token.level) if token.nesting == 1 else ""
                if token.map is not None:
                    first, last = token.map
                    if token.type == "html_block":
                        self.html(first, last)
                    elif kind == "table":
                        self.table(first, last)
                    else:
                        # A term's token covers no line.
                        last += token.type == "dt_open"
                        read = _DETAILS.get(token.type)
                        details = read(token, inside) if read else NO_DETAILS
                        self.leaf(kind, first, last, details)
            elif role == "open":
                self.open(kind, token.map, token.info)
            elif role == "close":
                self.close(kind)

    def line(self, number: int) -> str:
        """Return the line ``number`` (counted from 0), including its line ending."""
        return self.text[self.starts[number] : self.starts[number + 1]]

    def leaf(self, kind: str, first: int, last: int, details: Details = NO_DETAILS) -> None:
        """Add a leaf over the lines ``[first, last)``, after leaves for any skipped lines."""
        if not self.cursor <= first < last <= self.lines:
            first = min(max(first, self.cursor), self.lines)
            last = min(last, self.lines)
            if last <= first:
                return
        if first > self.cursor:
            self._gap(first)
        start, self.at = self.at, self.starts[last]
        self.children.append(new_block(kind, start, self.at, (), details))
        self.cursor = last

    def html(self, first: int, last: int) -> None:
        """Add an HTML block.

        If the HTML is a placeholder that hid another block from the parser, add that block instead.
        """
        self.has_html = True
        kind, info = self.leaves.get(first, ("html", ""))
        self.leaf(kind, first, last, (0, "", info, True))

    def table(self, first: int, last: int) -> None:
        """Add a table over the lines ``[first, last)``."""
        self.has_tables = True
        self.leaf("table", first, last)

    def item(self, line: int, text: str, info: str) -> None:
        """Add a one-line item that contains a paragraph of ``text``, or only a marker."""
        if line > self.cursor:
            self._gap(line)
        start, self.at = self.at, self.starts[line + 1]
        kind = "paragraph" if text else "marker"
        inside = new_block(kind, start, self.at, (), (0, text, "", True))
        details = self.list_depth, "", info, True
        self.children.append(new_block("item", start, self.at, (inside,), details))
        self.cursor = line + 1

    def _gap(self, until: int) -> None:
        """Cover the skipped lines from the cursor up to ``until`` with leaves."""
        if self.cursor + 1 == until and self.text.startswith("\n", self.at):
            # Nearly every gap is one empty line.
            self._add_gap("blank", until)
            return
        while self.cursor < until:
            first = self.cursor
            kind = self._gap_kind(first)
            last = first + 1
            joined = _JOINED.get(kind, (kind,))
            while last < until and self._gap_kind(last) in joined:
                last += 1
            self._add_gap(kind, last)

    def _add_gap(self, kind: str, until: int) -> None:
        start, self.at = self.at, self.starts[until]
        self.cursor = until
        # The first block is kept: callers check whether a block is the document's first.
        if self.blanks or kind not in _BLANK or not self.children or len(self.stack) > 1:
            self.children.append(new_block(kind, start, self.at))

    def _gap_kind(self, number: int) -> str:
        line = self.line(number).rstrip()
        if not line or (self.quotes and not line.lstrip(" \t>")):
            return "blank"
        # The line may end with a marker.
        rest = line[marks_end(f"{line} ") :]
        if number == 0:
            rest = rest.removeprefix("\ufeff")
        if not rest or _CONTAINER_LINE.match(rest):
            return "marker"
        return "link-definition" if rest.startswith("[") else "paragraph"

    def open(self, kind: str, lines: Sequence[int] | None, info: str = "") -> None:
        """Begin a container; ``lines`` are its first line and the line after it.

        The second value may be set later, before the container is closed.
        """
        lines = lines or (self.cursor, self.cursor)
        first = lines[0]
        if first > self.cursor:
            self._gap(min(first, self.lines))
        self.list_depth += kind in _NESTS
        self.quotes += kind in _QUOTES
        level = max(self.list_depth, 0) if kind in _LEVELED else 0
        info = self._callout(first) if kind == "alert" else info.strip()
        opened = _Open(kind, self.cursor, lines, level, info)
        self.stack.append(opened)
        self.children = opened.children

    def _callout(self, number: int) -> str:
        """Return the type of an alert or callout, read from its first line in the source."""
        found = _CALLOUT.search(self.line(number))
        return found[1].strip().upper() if found else ""

    def close(self, kind: str) -> None:
        """Close the innermost container after its last line that is not blank."""
        opened = self.stack[-1]
        if opened.kind != kind:
            return  # plugins together may close a container that is not open
        children = opened.children
        if not children or opened.lines[1] > self.cursor:
            self._cover(opened)
        self.stack.pop()
        self.children = self.stack[-1].children
        self.list_depth -= kind in _NESTS
        self.quotes -= kind in _QUOTES
        if children:
            start, end = children[0].start, children[-1].end
            details = opened.level, "", opened.info, True
            self.children.append(new_block(kind, start, end, tuple(children), details))

    def _cover(self, opened: _Open) -> None:
        """Add leaves for a container's last lines."""
        last = max(min(opened.lines[1], self.lines), self.cursor)
        # A container without any block keeps its own first line.
        least = self.cursor
        if not opened.children and self.cursor <= opened.first:
            least = opened.first + 1
        while last > least and not self.line(last - 1).strip():
            last -= 1
        self._gap(min(max(last, least), self.lines))

    def document(self) -> Block:
        """Return the finished tree."""
        self._gap(self.lines)
        return Block("document", 0, len(self.text), tuple(self.children))


def _content(stream: Iterator[Token], closing: str, level: int) -> str:
    """Return the next token's content, and skip all tokens up to ``closing`` at ``level``."""
    first = next(stream)
    for token in stream:
        if token.level == level and token.type == closing:
            break
    return first.content


def _paragraph(token: Token, inside: str) -> Details:
    return (0, inside, "", True) if token.level else NO_DETAILS


def _heading(token: Token, inside: str) -> Details:
    return int(token.tag[1]), inside, "", True


def _fence(token: Token, _inside: str) -> Details:
    first, last = token.map or (0, 0)
    lines = token.content.count("\n")
    lines += bool(token.content) and not token.content.endswith("\n")
    return 0, "", token.info.strip(), last - first > lines + 1


# Token type of a leaf -> function from the token and its text to the block's details.
_DETAILS: Final[Mapping[str, Callable[[Token, str], Details]]] = {
    "paragraph_open": _paragraph,
    "heading_open": _heading,
    "fence": _fence,
}


def paragraph_tree(text: str, starts: Sequence[int], front_lines: int = 0) -> Block:
    """Return a tree with only paragraphs and blank lines, which is used if parsing fails."""
    builder = TreeBuilder(text, starts, front_lines)
    first = -1
    for number in range(front_lines, builder.lines + 1):
        blank = number == builder.lines or not builder.line(number).strip()
        if blank and first >= 0:
            builder.leaf("paragraph", first, number)
            first = -1
        elif not blank and first < 0:
            first = number
    return builder.document()
