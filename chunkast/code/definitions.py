"""Outline source code: find the lines at which definitions and statements begin.

The grammar parses windows of a few kilobytes (see ``grammars``). The complete items of a window are
kept, and the next window begins after them. If a statement is larger than a window, its body is
also parsed in windows. Each window is wrapped in the statement's opening lines and the matching
closing brackets. Parsing time is therefore linear in the length of the code, and an error affects
only nearby items.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from chunkast.code.grammars import MAX_BYTES, parse
from chunkast.code.languages import Language
from chunkast.code.nodes import (
    COMMENT,
    STATEMENT,
    definition,
    errors,
    has_many_errors,
    indentation,
    is_sequence,
    kind_of,
    title_of,
)

__all__ = ("CONTINUES", "Item", "Outliner")

_MASKED = re.compile(r"[^\t\x20-\x7e]")
_SKIPPED_BEFORE_HEADER = re.compile(r"\s*(?:@|#(?!\w)|//|/\*|\*|$)")
_LINE_COMMENT = re.compile(r"[ \t]*(?:#(?!\w)|//)")
# A line that continues the statement whose body ends before it.
CONTINUES = re.compile(r"\s*(?:\}\s*)?(?:else|elif|elsif|except|finally|catch|rescue|ensure)\b")
_BRACKETS: Final = {"(": ")", "[": "]", "{": "}"}
# A window is broken when more than one in ``_ERROR_SHARE`` of its characters, and more than
# ``_FEW_ERRORS`` characters, are syntax errors.
_ERROR_SHARE: Final = 10
_FEW_ERRORS: Final = 40
# Reading of a document's code stops after this many broken characters, plus one for every
# ``_READ_PER_BROKEN`` characters read.
_MOST_BROKEN: Final = 4 * MAX_BYTES
_READ_PER_BROKEN: Final = 16
# It also stops once each character was parsed this many times on average; for real code, twice.
_READINGS: Final = 8
# A broken window is halved, but not below this size.
_LEAST_BYTES: Final = MAX_BYTES // 8
_MOST_BLANK_LINES: Final = 2
_MAX_DEPTH: Final = 12
_MAX_HEADER: Final = 24
_MAX_CONTEXT: Final = MAX_BYTES // 4


class Item(NamedTuple):
    """A definition or statement that begins at the start of a line.

    line: the first line of the item, from 0, including comments and attributes directly above it.
    depth: the number of items that contain the item.
    kind: "class", "function", "type", "import" or "statement"; without a grammar, "line" or
        "blank-line".
    first: true if the item is the first one inside the item that contains it.
    named: the line number of a definition's title, and the title's start and end in the line. The
        title, such as "class Hut", ends with the definition's name.
    """

    line: int
    depth: int
    kind: str
    first: bool = False
    named: tuple[int, int, int] | None = None


class _WindowItem(NamedTuple):
    """An item in a window, which consists of the lines from ``row`` to ``last``.

    complete: true if the item does not contain syntax errors.
    """

    row: int
    last: int
    column: int
    depth: int
    kind: str
    complete: bool
    named: tuple[int, int, int] | None = None


class _Body(NamedTuple):
    """The lines to put before and after every window of a body.

    ``depth`` is the number of items that contain the body.
    """

    opening: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    depth: int = 0


class _Exhausted(Exception):  # noqa: N818 - caught here
    """Raised when too much of the code is broken to read the rest."""


class Outliner:
    """Outlines the code in one document, and stops after too many syntax errors."""

    def __init__(self, least: int = 0) -> None:
        """Create an outliner that ignores items inside an item of at most ``least`` characters."""
        self.least = least
        self._read = 0
        self._broken = 0
        self._parsed = 0

    def items(self, lines: Sequence[str], language: Language) -> list[Item]:
        """Return the items in ``lines`` (without line endings), in order, up to a limit."""
        reader = _CodeReader([_masked(line) for line in lines], language, self)
        with suppress(_Exhausted):
            self.count(0, broken=False)
            reader.read(0, len(lines), _Body())
        return _attached(reader.items)

    def count(self, size: int, *, broken: bool) -> None:
        """Count ``size`` characters as read or, if ``broken`` is true, as broken.

        Raises ``_Exhausted`` if too many characters are broken.
        """
        self._broken += size * broken
        self._read += size * (not broken)
        if self._broken > _MOST_BROKEN + self._read // _READ_PER_BROKEN:
            raise _Exhausted

    def parse(self, lines: Iterable[str], language: Language) -> Any:
        """Call ``grammars.parse``. Raises ``_Exhausted`` if too much text was parsed repeatedly."""
        text = "\n".join(lines) + "\n"
        self._parsed += len(text)
        if self._parsed > _MOST_BROKEN + _READINGS * (self._read + self._broken + MAX_BYTES):
            raise _Exhausted
        return parse(text, language)


def _masked(line: str) -> str:
    """Replace each unusual character with "x" or a space, so that columns stay the same.

    Characters outside printable ASCII occur in names, strings and comments, where any letter can
    replace them.
    """
    if line.isascii() and line.isprintable():
        return line
    return _MASKED.sub(lambda other: " " if other.group().isspace() else "x", line)


class _CodeReader:
    """Reads one piece of code and adds its items to ``items``; their rows are line numbers."""

    def __init__(self, lines: Sequence[str], language: Language, outliner: Outliner) -> None:
        self.lines = lines
        self.language = language
        self.outliner = outliner
        self.items: list[_WindowItem] = []

    def read(self, at: int, last: int, body: _Body) -> None:
        """Read the lines ``[at, last)`` of a body."""
        room = MAX_BYTES
        while at < last:
            if not self.lines[at].strip():
                at += 1
                continue
            stop = self.window_end(at, last, min(room, MAX_BYTES - 2 * _size(body.opening)))
            if stop == at:
                at += 1  # too long to read
                continue
            next_row = self.window(at, stop, last, body)
            if next_row == at:
                next_row = self.inside(at, last, body)
            if next_row is None and room > _LEAST_BYTES:
                room //= 2  # only a part of it may be broken
                continue
            end = self.resumption(at, stop) if next_row is None else next_row
            self.outliner.count(_size(self.lines[at:end]), broken=next_row is None)
            room = room if next_row is None else min(2 * room, MAX_BYTES)
            at = end

    def window(self, at: int, stop: int, last: int, body: _Body) -> int | None:
        """Keep the complete items of the lines ``[at, stop)`` and return the end of these items.

        Returns None if the window is broken.
        """
        lines = (*body.opening, *self.lines[at:stop], *body.closing)
        tree = self.outliner.parse(lines, self.language)
        if tree is None or has_many_errors(tree):
            return None
        shift = len(body.opening) - at
        items = list(self.walk(tree, at, stop, body))
        next_row = stop if stop == last else self.end_of_complete(items, at, stop)
        broken = errors(tree, at + shift, next_row + shift)
        if broken > max(_FEW_ERRORS, _size(self.lines[at:next_row]) // _ERROR_SHARE):
            return None
        self.items += [item for item in items if item.row < next_row]
        return next_row

    def window_end(self, at: int, last: int, room: int) -> int:
        stop = at
        while stop < last and room > len(self.lines[stop]):
            room -= len(self.lines[stop]) + 1
            stop += 1
        return stop

    def walk(self, root: Any, at: int, stop: int, body: _Body) -> Iterator[_WindowItem]:
        """Yield the items of a window over the lines ``[at, stop)`` of a body.

        An item is a named node at the start of a line. Nodes that begin at the same position belong
        to the same item. In a definition, only the body can contain items. A sequence of items is
        not an item.
        """
        lines, language = self.lines, self.language
        shift = at - len(body.opening)
        # A node, its depth, and the start of the innermost item around it.
        stack: list[tuple[Any, int, Any]] = [
            (child, body.depth, None) for child in reversed(root.children)
        ]
        while stack:
            node, depth, begun = stack.pop()
            begin, end = node.start_point, node.end_point
            line, column = begin.row + shift, begin.column
            last = end.row - (end.column == 0) + shift
            if last < at:
                continue
            if (
                at <= line < stop
                and begun != begin
                and node.is_named
                and not node.is_error
                and not lines[line][:column].strip()
            ):
                kind, inner, name = definition(node, language)
                if kind or not is_sequence(node, language):
                    named = title_of(kind, inner, name, shift, lines)
                    rows, complete = (line, max(line, last)), not node.has_error
                    yield _WindowItem(*rows, column, depth, kind or kind_of(node), complete, named)
                    if node.end_byte - node.start_byte <= self.outliner.least:
                        continue
                    depth, begun = depth + 1, begin
                    if named is not None:
                        node = inner.child_by_field_name("body") or inner
                        end = node.end_point
            if end.row > begin.row:
                stack.extend((child, depth, begun) for child in reversed(node.children))

    def level(self, at: int) -> int:
        """Return the indentation of the statement at line ``at``, ignoring comments before it."""
        header = self.lines[at : at + _MAX_HEADER]
        code = (line for line in header if line.strip() and not _LINE_COMMENT.match(line))
        return indentation(next(code, self.lines[at]))

    def end_of_complete(self, items: Sequence[_WindowItem], at: int, stop: int) -> int:
        """Return the end of the last complete statement that another statement follows.

        Both must be at the window's own level. Returns ``at`` if there is no such statement.
        """
        column = self.level(at)
        for item in reversed(items):
            if not item.complete or item.column != column:
                continue
            next_row = item.last + 1
            line = next((line for line in self.lines[next_row:stop] if line.strip()), None)
            if line is not None and indentation(line) <= column and not CONTINUES.match(line):
                return next_row
        return at

    def resumption(self, at: int, stop: int) -> int:
        """Return the row at which to resume reading after a broken window.

        It is the last row that follows a blank line and is not indented more deeply than the
        window, or ``stop`` if there is none.
        """
        column = self.level(at)
        for row in range(stop - 1, at, -1):
            line = self.lines[row]
            if line.strip() and indentation(line) <= column and not self.lines[row - 1].strip():
                return row
        return stop

    def inside(self, at: int, last: int, body: _Body) -> int | None:
        """Read a statement larger than a window from the inside, and return its end.

        Returns None if the statement at line ``at`` cannot be read.
        """
        begin, opened = self.header(at, last)
        header = (*body.opening, *self.lines[at:begin])
        shut = (*opened, *body.closing)
        column = self.level(at)
        filler = f"{' ' * (column + 1)}{self.language.filler}"
        if begin == last or _size(header) > _MAX_CONTEXT or body.depth >= _MAX_DEPTH:
            return None
        tree = self.outliner.parse((*header, filler, *shut), self.language)
        if tree is not None:
            self.items += self.walk(tree, at, begin, body)
        if tree is None or not self.items or self.items[-1].row < at:
            return None
        depth = self.items[-1].depth + 1
        while True:
            end = self.end_of_body(column, begin, last)
            self.read(begin, end, _Body(header, shut, depth))
            if end == last or _size(header) > _MAX_CONTEXT:
                return end
            line = self.lines[end]
            if not CONTINUES.match(line):
                text = line.strip()
                return end + (text[:1] in _BRACKETS.values() or text == "end")
            # All branches of a statement have one context.
            header = (*header, filler, line)
            begin = end + 1

    def header(self, at: int, last: int) -> tuple[int, list[str]]:
        """Return the first line of the body of a statement, and the lines that close the statement.

        The statement begins at line ``at``.
        """
        stack: list[str] = []
        for row in range(at, min(last, at + _MAX_HEADER)):
            line = self.lines[row].strip()
            if not stack and _SKIPPED_BEFORE_HEADER.match(line):
                continue
            for character in line:
                if character in _BRACKETS:
                    stack.append(_BRACKETS[character])
                elif stack and character == stack[-1]:
                    stack.pop()
            if not stack and row + 1 < last and self.lines[row + 1].strip() == "{":
                continue
            if not stack or line.endswith(("{", "[")):
                closers = self.language.closers.items()
                words = (text for word, text in closers if line.startswith(word))
                return row + 1, ["".join(reversed(stack)), *words]
        return last, []

    def end_of_body(self, column: int, begin: int, last: int) -> int:
        """Return the end of the body at line ``begin``, whose lines are indented beyond ``column``.

        Comments and directives may have any indentation. Returns ``last`` if the body is empty or
        does not end before ``last``.
        """
        for row in range(begin, last):
            line = self.lines[row]
            if line.strip() and line[0] != "#" and indentation(line) <= column:
                inner = any(text.strip() for text in self.lines[begin:row])
                return row if inner else last
        return last


def _size(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _attached(window_items: Sequence[_WindowItem]) -> list[Item]:
    """Return the items, joined with the comments and attributes before them.

    Comments and attributes belong to the item directly below them. If blank lines separate them
    from it, they still belong to it if there are blank lines above them, too.
    """
    items: list[Item] = []
    comments: list[_WindowItem] = []  # those that may belong to what comes next
    next_row = 0  # the line after the items before them

    def add(line: int, item: _WindowItem, kind: str, last: int) -> None:
        nonlocal next_row
        first = not items or items[-1].depth < item.depth
        items.append(Item(line, item.depth, kind, first, item.named))
        next_row = max(next_row, last + 1)
        comments.clear()

    for item in window_items:
        if comments:
            gap = item.row - comments[-1].last - 1
            most = _MOST_BLANK_LINES if comments[0].row > next_row else 0
            if gap > most or item.column < comments[0].column:
                add(comments[0].row, comments[0], STATEMENT, comments[-1].last)
        if item.kind == COMMENT:
            comments.append(item)
        else:
            add((comments or [item])[0].row, item, item.kind, item.last)
    if comments:
        add(comments[0].row, comments[0], STATEMENT, comments[-1].last)
    return items
