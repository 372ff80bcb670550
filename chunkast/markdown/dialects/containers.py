"""Containers in site generators: from ``::: name`` to a line with at least as many colons.

The plugin of the same name reads the rest of the document again for each nested container. Here,
the lines that can close a container are collected once per document.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Final, TypeVar

from markdown_it.rules_block import StateBlock

__all__ = ("container", "line_text", "once", "push_container")

_Found = TypeVar("_Found")
_MARK: Final = ":"
_LEAST: Final = ":::"


def container(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Parse a container; a block rule for markdown-it."""
    line = line_text(state, start_line)
    name = line.lstrip(_MARK)
    count = len(line) - len(name)
    if count < len(_LEAST) or not name or state.is_code_block(start_line):
        return False
    if silent:
        return True
    last, closed = _closing_line(state, start_line + 1, end_line, count)
    push_container(state, start_line, last, line[:count], name)
    state.line = last + closed
    return True


def line_text(state: StateBlock, line: int) -> str:
    """Return a line without its containers' prefixes and surrounding white space."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def once(state: StateBlock, find: Callable[[StateBlock], _Found]) -> _Found:
    """Call ``find`` once per document, and return its result."""
    key = f"{find.__module__}.{find.__name__}"
    if key not in state.env:
        state.env[key] = find(state)
    found: _Found = state.env[key]
    return found


def push_container(  # noqa: PLR0917 - as the parser's own methods
    state: StateBlock,
    first: int,
    last: int,
    markup: str,
    info: str,
    name: str = "container_block",
    indent: int = 0,
) -> None:
    """Add the tokens of a container that opens on line ``first`` and ends before ``last``.

    The token types begin with ``name``. The blocks inside are indented by ``indent`` more columns.
    """
    outer = state.parentType, state.lineMax, state.blkIndent
    state.parentType, state.lineMax = "container", last
    state.blkIndent += indent
    token = state.push(f"{name}_open", "div", 1)
    token.markup, token.info = markup, info
    token.block = True
    token.map = [first, last]
    state.md.block.tokenize(state, first + 1, last)
    token = state.push(f"{name}_close", "div", -1)
    token.markup, token.block = markup, True
    state.parentType, state.lineMax, state.blkIndent = outer


def _closers(state: StateBlock) -> list[int]:
    """Return the lines that end with enough colons to close a container."""
    return [
        line
        for line, (start, end) in enumerate(zip(state.bMarks, state.eMarks, strict=True))
        if state.src[start:end].rstrip(" \t").endswith(_LEAST)
    ]


def _closing_line(state: StateBlock, first: int, end_line: int, count: int) -> tuple[int, bool]:
    """Return the line after a container's content, and whether it is a closing line."""
    closers = once(state, _closers)
    slot = bisect_left(closers, first)
    while True:
        line = min(closers[slot], end_line) if slot < len(closers) else end_line
        outside = _outside(state, first, min(line + 1, end_line))
        if outside >= 0:
            return outside, False
        if line == end_line:
            return line, False
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
        text = text.rstrip(" \t")
        if len(text) >= count and not text.strip(_MARK) and not state.is_code_block(line):
            return line, True
        first = line + 1
        slot += 1


def _outside(state: StateBlock, line: int, end: int) -> int:
    """Return the first line in ``[line, end)`` that is outside the container's parent, or -1.

    Such a line is indented less than the parent's content. Blank lines do not count.
    """
    indent = state.blkIndent
    step = len(_LEAST)
    while line < end:
        stop = min(line + step, end)
        if min(state.sCount[line:stop]) < indent:
            for number in range(line, stop):
                if state.sCount[number] < indent and not state.isEmpty(number):
                    return number
        line = stop
        step *= 2
    return -1
