"""The constructs that MDX adds to Markdown, found line by line before the parse.

Imports and exports end at a blank line outside brackets. Components, expressions and comments on
lines of their own may contain blank lines. An element's opening and closing lines are separate
blocks, so that its content is read as Markdown, without the element's indentation. A brace or
element that is never closed is treated as text and affects nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import chain
from typing import Final

from chunkast.markdown.dialects.jsx import JsxItem, jsx_item
from chunkast.markdown.lines import cover
from chunkast.markdown.open_elements import OpenElements
from chunkast.text.fences import Fences
from chunkast.text.source_map import line_starts

__all__ = ("read",)

_STATEMENT = re.compile(r"(?:import|export)[ \t{*\"']")
# Everything but brackets in a line of code; strings come first, so that brackets in them match too.
_NO_BRACKETS = re.compile(
    r"\\.|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|//.*|/\*(?:.*?\*/|.*)"
    r"|[^()\[\]{}]"
)
_MARGIN = re.compile(r"[ \t]*")
# The characters that may be searched in vain, per character of the text. Keeps the time linear
# with thousands of braces that are never closed.
_ALLOWANCE: Final = 4


def read(text: str, leaves: dict[int, tuple[str, str]]) -> str:
    """Return the text with MDX constructs replaced with comments, and add them to ``leaves``.

    Their kind is "esm" for imports and exports, and "jsx" for the rest. The info of lines with tags
    is the tag, without attributes, of the element that extends beyond these lines.
    """
    if not any(mark in text for mark in ("<", "{", "import", "export")):
        return text
    reader = _MdxReader(text, leaves)
    reader.read()
    return "\n".join(reader.lines)


class _OpenElement:
    """An element that is still open; ``shift`` is the indentation to remove from its content."""

    __slots__ = ("indent", "outer", "shift")

    def __init__(self, indent: int, outer: int) -> None:
        self.indent = indent
        self.outer = outer
        # Known with the first line inside.
        self.shift: int | None = None


class _MdxReader:
    def __init__(self, text: str, leaves: dict[int, tuple[str, str]]) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.leaves = leaves
        self.starts = line_starts(text)
        self.elements: OpenElements[str, _OpenElement] = OpenElements()
        self.comments_end = True
        self.allowance = _ALLOWANCE * len(self.text)
        # No tag or expression ends after the line of the last "}" or ">".
        last = max(text.rfind("}"), text.rfind(">"))
        self.limit = self.starts[bisect_right(self.starts, last)] if last >= 0 else 0

    def read(self) -> None:
        fences = Fences()
        number = 0
        # An import or export must begin the text, or follow a blank line or a construct of MDX.
        begins = True
        while number < len(self.lines):
            line = self.lines[number]
            if not line.strip(" \t"):
                begins = True
                number += 1
                continue
            end = number
            if number not in self.leaves and not fences.take(line):
                end = self.end(number, line, begins=begins)
            begins = end > number
            if end == number:
                self.lines[number] = self.dedented(line)
                end += 1
            number = end

    def end(self, number: int, line: str, *, begins: bool) -> int:
        """Return the line after the construct on line ``number``, or ``number`` for Markdown."""
        if begins and _STATEMENT.match(line):
            return self.statement_end(number)
        margin = _margin(line)
        if line.startswith("<!--", len(margin)):
            return self.comment_end(number)
        return self.jsx_end(number, margin) if line[len(margin)] in "<{" else number

    def dedented(self, line: str) -> str:
        if not self.elements.stack:
            return line
        margin = _margin(line)
        shift = self.shift(len(margin.expandtabs(4)))
        column = at = 0
        for character in margin if shift else "":
            column += 4 - column % 4 if character == "\t" else 1
            if column > shift:
                break
            at += 1
        return line[at:]

    def shift(self, indent: int) -> int:
        """Return the number of columns to remove from a line of the innermost element."""
        if not self.elements.stack:
            return 0
        element = self.elements.stack[-1][1]
        if element.shift is None:
            element.shift = element.outer + max(indent - element.indent, 0)
        return element.shift

    def statement_end(self, number: int) -> int:
        """Return the next blank line outside brackets, or the next one if they never close."""
        at, depth, blank = number, 0, 0
        while at < len(self.lines):
            if not self.lines[at].strip(" \t"):
                blank = blank or at
                if depth <= 0 or self.allowance <= 0:
                    break
            depth += _brackets(self.lines[at])
            at += 1
        if depth > 0:
            self.allowance -= self.starts[min(at, len(self.starts) - 1)] - self.starts[number]
        end = blank if depth > 0 and blank else at
        self.leaves[number] = ("esm", "")
        cover(self.lines, number, end)
        return end

    def comment_end(self, number: int) -> int:
        """Return the line after an HTML comment, or ``number`` if it is never closed.

        MDX does not allow HTML comments, but authors often write them.
        """
        found = self.text.find("-->", self.starts[number]) if self.comments_end else -1
        self.comments_end = found >= 0
        return bisect_right(self.starts, found) if found >= 0 else number

    def jsx_end(self, number: int, margin: str) -> int:
        begin = self.starts[number] + len(margin)
        items, at = self.items(begin, number)
        opened, closed = _unmatched(items)
        # HTML's own elements are left to HTML's own rules.
        if not items or not all(map(_is_component, (*opened, *closed))):
            self.allowance -= at - begin
            return number
        end = bisect_left(self.starts, at, lo=number + 1)
        outside = self.close(closed)
        indent = len(margin.expandtabs(4))
        shift = outside.outer if outside else self.shift(indent)
        self.leaves[number] = ("jsx", _info(opened, closed))
        cover(self.lines, number, end, max(indent - shift, 0))
        for name in opened:
            self.elements.open(name, _OpenElement(indent, shift))
        return end

    def items(self, at: int, number: int) -> tuple[list[JsxItem], int]:
        """Return the items from ``at`` on, and their end; no items if the lines have other text."""
        # Once the allowance is used up, only items that end on their line are found.
        limit = min(self.limit, len(self.text) if self.allowance > 0 else self.starts[number + 1])
        found: list[JsxItem] = []
        while at < limit:
            item = jsx_item(self.text, at, limit)
            at = item.end
            if item.kind == "text":
                return [], at
            found.append(item)
            while at < limit and self.text[at] in " \t":
                at += 1
            if at >= len(self.text) or self.text[at] == "\n":
                return found, at
            if self.text[at] not in "<{":
                break
        return [], at

    def close(self, names: Sequence[str]) -> _OpenElement | None:
        """Close the elements of these closing tags, and return the outermost one, or None."""
        closed = list(chain(*map(self.elements.close, names)))
        return closed[-1] if closed else None


def _unmatched(items: Sequence[JsxItem]) -> tuple[list[str], list[str]]:
    """Return the names of unmatched opening tags and of unmatched closing tags in ``items``."""
    opened: list[str] = []
    closed: list[str] = []
    for item in items:
        if item.kind == "open":
            opened.append(item.name)
        elif item.kind == "close" and opened and opened[-1] == item.name:
            opened.pop()
        elif item.kind == "close":
            closed.append(item.name)
    return opened, closed


def _info(opened: Sequence[str], closed: Sequence[str]) -> str:
    """Return the outermost tag of an element that extends beyond a leaf, or ""."""
    if bool(opened) == bool(closed):
        return ""
    return f"<{opened[0]}>" if opened else f"</{closed[-1]}>"


def _is_component(name: str) -> bool:
    """Return whether a tag is a component's or a fragment's; HTML's names are in lower case."""
    return not name[:1].islower() or "." in name


def _margin(line: str) -> str:
    found = _MARGIN.match(line)
    return found[0] if found else ""


def _brackets(line: str) -> int:
    marks = _NO_BRACKETS.sub("", line)
    return sum(1 if mark in "([{" else -1 for mark in marks)
