"""Build the block tree, whose leaves cover all lines of the source.

Every line belongs to one leaf. Lines that the parser skips (blank lines, link reference
definitions, lines with only a container's markers, text below the nesting limit) become separate
leaves, so no text is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat
from typing import Final

from markdown_it.token import Token

from chunkast.markdown.blocks import NO_DETAILS, Details, new_block
from chunkast.markdown.kinds import TOKENS, Construct, kinds_where
from chunkast.markdown.lines import marks_end
from chunkast.model import Block

__all__ = ("CALL", "TreeBuilder", "paragraph_tree")

# The type of tokens that stand for calls of the builder's methods.
CALL: Final = "call"

# The lines before the text of a footnote and of an alert, whose type is the group.
_NOTE = re.compile(r"\[\^[^\]\s]+\]:\s*$")
_CALLOUT = re.compile(r"\[!([^\[\]|]+)?")
# Skipped lines of these kinds are joined: a definition's title may be on lines of its own.
_JOINED: Final = {"link-definition": ("link-definition", "paragraph")}
_BLANK: Final = kinds_where("blank")
_NESTS: Final = kinds_where("nests")
_LEVELED: Final = kinds_where("nests", "leveled")
# Kinds whose lines begin with a mark; a line with only marks is blank.
_QUOTES: Final = frozenset({"quote", "alert"})


@dataclass(slots=True)
class _Open:
    """An open container, which begins on line ``first``.

    ``lines[1]`` is the line after the container, and is set by the time the container is closed.
    ``own`` has the lines that only open and close the container.
    """

    kind: str
    first: int
    lines: Sequence[int]
    level: int = 0
    info: str = ""
    own: Sequence[int] = ()
    children: list[Block] = field(default_factory=list)


class TreeBuilder:
    """Builds the block tree of ``text`` from the fast parser's calls or markdown-it's tokens.

    starts: the line starts, then the text's length.
    front_lines: the number of lines of front matter, which the parser does not see.
    blanks: if false, the tree has no blank lines between top-level blocks. Such lines are half of
        the blocks in most documents.
    cursor: the first line that no leaf covers yet.
    """

    def __init__(
        self,
        text: str,
        starts: Sequence[int],
        front_lines: int = 0,
        *,
        blanks: bool = True,
    ) -> None:
        self.text = text
        self.starts = starts
        self.lines = len(starts) - 1
        self.blanks = blanks
        self.cursor = 0
        # The kinds of the leaves.
        self.kinds: set[str] = set()
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

        Tokens take several times as much memory as the tree. A token of the type ``CALL`` contains
        a method of the tree and its arguments.
        """
        tokens.reverse()
        stream = map(list.pop, repeat(tokens, len(tokens)))
        for token in stream:
            if token.type == CALL:
                build, arguments = token.meta["call"]
                build(*arguments)
            elif row := TOKENS.get(token.type):
                if row.shape == "container":
                    self.open(row.kind, token.map, token.info, token.meta.get("own", ()))
                else:
                    self._leaf_of(token, row, stream)
            elif token.nesting < 0 and (row := TOKENS.get(_opening(token.type))):
                self.close(row.kind)

    def _leaf_of(self, token: Token, row: Construct, stream: Iterator[Token]) -> None:
        """Add the leaf of a token, and skip the leaf's other tokens in ``stream``."""
        inside = _content(stream, token) if token.nesting == 1 else ""
        if token.map is None:
            return
        first, last = token.map
        details = 0, "", token.info.strip(), True
        if row.kind == "heading":
            details = int(token.tag[1]), inside, "", True
        elif row.kind == "fence":
            closed = last - first > token.content.count("\n") + 1
            details = 0, "", token.info.strip(), closed
        elif token.type == "dt_open":
            last += 1  # the token covers no line
        elif row.shape == "prose":
            details = 0, (inside if token.level else "") or token.content, "", True
        self.leaf(row.kind, first, last, details)

    def line(self, number: int) -> str:
        """Return the line ``number`` (counted from 0), including its line ending."""
        return self.text[self.starts[number] : self.starts[number + 1]]

    def leaf(self, kind: str, first: int, last: int, details: Details = NO_DETAILS) -> None:
        """Add leaves for skipped lines, then a leaf over the lines ``[first, last)``."""
        if not self.cursor <= first < last <= self.lines:
            first = min(max(first, self.cursor), self.lines)
            last = min(last, self.lines)
            if last <= first:
                return
        if first > self.cursor:
            self._skip(first)
        start, self.at = self.at, self.starts[last]
        self.kinds.add(kind)
        self.children.append(new_block(kind, start, self.at, (), details))
        self.cursor = last

    def _skip(self, until: int) -> None:
        """Cover the skipped lines from the cursor up to ``until`` with leaves, if any are needed."""
        if (
            self.cursor + 1 == until
            and not self.blanks
            and len(self.stack) == 1
            and self.children
            and self.text.startswith("\n", self.at)
        ):
            # Nearly every gap is an empty line between top-level blocks.
            self.at, self.cursor = self.starts[until], until
        else:
            self._gap(until)

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
        if not rest or number in self.stack[-1].own or _CALLOUT.match(rest) or _NOTE.match(rest):
            return "marker"
        return "link-definition" if rest.startswith("[") else "paragraph"

    def open(
        self, kind: str, lines: Sequence[int] | None, info: str = "", own: Sequence[int] = ()
    ) -> None:
        """Begin a container; ``lines`` are its first line and the first line after it.

        The second value may be set later, before the container is closed.
        """
        lines = lines or (self.cursor, self.cursor)
        first = lines[0]
        if first > self.cursor:
            self._skip(min(first, self.lines))
        self.list_depth += kind in _NESTS
        self.quotes += kind in _QUOTES
        level = max(self.list_depth, 0) if kind in _LEVELED else 0
        info = self._callout(first) if kind == "alert" else info.strip()
        opened = _Open(kind, self.cursor, lines, level, info, own)
        self.stack.append(opened)
        self.children = opened.children

    def item(self, first: int, last: int, info: str, text: str) -> None:
        """Add a list item that is one paragraph, over the lines ``[first, last)``."""
        if first > self.cursor:
            self._gap(first)
        start, self.at = self.at, self.starts[last]
        self.cursor = last
        self.kinds.add("paragraph")
        inside = new_block("paragraph", start, self.at, (), (0, text, "", True))
        details = self.list_depth, "", info, True
        self.children.append(new_block("item", start, self.at, (inside,), details))

    def _callout(self, number: int) -> str:
        """Return the type of an alert or callout, read from its first line in the source."""
        callout = _CALLOUT.search(self.line(number))
        return callout[1].strip().upper() if callout and callout[1] else ""

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


def _opening(closing: str) -> str:
    return closing.removesuffix("close") + "open"


def _content(stream: Iterator[Token], opening: Token) -> str:
    """Return the next token's content, and skip all tokens up to the end of a leaf."""
    first = next(stream)
    for token in stream:
        if token.level == opening.level and _opening(token.type) == opening.type:
            break
    return first.content


def paragraph_tree(text: str, starts: Sequence[int], front_lines: int = 0) -> Block:
    """Return a tree with only paragraphs and blank lines, which is used if parsing fails."""
    builder = TreeBuilder(text, starts, front_lines)
    numbers = range(front_lines, builder.lines)
    for is_blank, lines in groupby(numbers, lambda number: not builder.line(number).strip()):
        if not is_blank:
            first, *others = lines
            builder.leaf("paragraph", first, first + len(others) + 1)
    return builder.document()
