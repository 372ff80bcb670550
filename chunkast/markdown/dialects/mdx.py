"""Parse the blocks that MDX adds to Markdown.

Imports and exports end at a blank line outside brackets. Components, expressions and comments on
separate lines may contain blank lines. An element's opening and closing lines are separate blocks,
so that its content is read as Markdown, without the element's indentation. A brace or element that
is never closed is text, and does not affect other blocks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.jsx import JsxItem, jsx_item
from chunkast.markdown.lines import add_leaf, unindent

__all__ = ("mdx_block",)

_STATEMENT = re.compile(r"(?:import|export)[ \t{*\"']")
# Everything but brackets in a line of code; strings come first, so that brackets in them match too.
_NO_BRACKETS = re.compile(
    r"\\.|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|//.*|/\*(?:.*?\*/|.*)"
    r"|[^()\[\]{}]"
)
_CLOSING_TAG = re.compile(r"</[ \t]*([\w$.:-]*)[ \t]*>")
_BEGINS_CLOSING = re.compile(r"[ \t>]*</")
_KEY: Final = "chunkast_mdx"
# The characters that may be searched in vain, per character of the text. Keeps the time linear
# with thousands of braces that are never closed.
_ALLOWANCE: Final = 4
# The closing lines that are compared.
_MAX_CLOSERS: Final = 100


class _Mdx:
    """The state of one parse.

    allowance: the number of characters that may still be searched in vain.
    closers: the numbers of the lines that begin with a closing tag, in a quote too, by the names of
        their tags.
    """

    def __init__(self, state: StateBlock) -> None:
        src = state.src
        self.allowance = _ALLOWANCE * len(src)
        self.closers: defaultdict[str, list[int]] = defaultdict(list)
        for line, start in enumerate(state.bMarks):
            if _BEGINS_CLOSING.match(src, start):
                for name in set(_CLOSING_TAG.findall(src, start, state.eMarks[line])):
                    self.closers[name].append(line)


def mdx_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse an import or export (kind "esm"), or tags and expressions on separate lines.

    If an element continues after its "jsx" block, the block's ``info`` is the tag without
    attributes.
    """
    if state.is_code_block(start):
        return False
    mdx = state.env.get(_KEY)
    if mdx is None:
        mdx = state.env[_KEY] = _Mdx(state)
    at = state.bMarks[start] + state.tShift[start]
    if state.src[at] not in "<{":
        # Only a line without indentation, which does not interrupt a paragraph.
        if silent or (at and state.src[at - 1] != "\n") or not _STATEMENT.match(state.src, at):
            return False
        return add_leaf(state, "esm", start, _statement_end(state, mdx, start, end))
    last = state.eMarks[end - 1]
    if mdx.allowance <= 0 or ">" in state.src[state.src.rfind("\n", 0, at) + 1 : at]:
        last = state.eMarks[start]  # only items that end on their line, as always in a quote
    items, after = _items(state.src, at, last)
    opened, closed = _unmatched(items)
    # HTML's own elements are left to HTML's own rules.
    if not items or not all(map(_is_component, (*opened, *closed))):
        mdx.allowance -= after - at
        return False
    if not silent:
        following = start + 1 + state.src.count("\n", at, after)
        if opened:
            _shift(state, mdx, opened[0], start, following)
        add_leaf(state, "jsx", start, following, info=_info(opened, closed))
    return True


def _statement_end(state: StateBlock, mdx: _Mdx, start: int, end: int) -> int:
    """Return the next blank line outside brackets, or the next one if they never close."""
    line, depth, blank = start, 0, 0
    while line < end:
        if state.isEmpty(line):
            blank = blank or line
            if depth <= 0 or mdx.allowance <= 0:
                break
        depth += _brackets(state.src[state.bMarks[line] : state.eMarks[line]])
        line += 1
    if depth > 0:
        mdx.allowance -= state.eMarks[line - 1] - state.bMarks[start]
    return blank if depth > 0 and blank else line


def _brackets(line: str) -> int:
    marks = _NO_BRACKETS.sub("", line)
    return sum(1 if mark in "([{" else -1 for mark in marks)


def _items(src: str, at: int, limit: int) -> tuple[list[JsxItem], int]:
    """Return the items from ``at`` on, and their end; no items if the lines have other text."""
    items: list[JsxItem] = []
    while at < limit:
        item = jsx_item(src, at, limit)
        at = item.end
        if item.kind == "text":
            return [], at
        items.append(item)
        while src.startswith((" ", "\t"), at):
            at += 1
        if at >= len(src) or src[at] == "\n":
            return items, at
        if src[at] not in "<{":
            break
    return [], at


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


def _shift(state: StateBlock, mdx: _Mdx, name: str, start: int, first: int) -> None:
    """Remove the indentation of an element's content, from line ``first`` to its closing tag.

    The closing tag is indented no more than the opening tag on line ``start``, if possible.
    """
    columns = state.sCount
    lines = mdx.closers[name]
    slot = bisect_left(lines, first)
    later = [
        line
        for line in lines[slot : slot + _MAX_CLOSERS]
        if state.src.startswith("</", state.bMarks[line] + state.tShift[line])
    ]
    if not later:
        return
    last = next((line for line in later if columns[line] <= columns[start]), later[0])
    unindent(state, start, first, last)
