"""Fenced divs in Pandoc and Quarto: from ``::: {.class}`` to the matching ``:::``.

A line with attributes opens a div. A line of only colons, however many, closes the innermost div.
The rule for containers would end an outer div at the line that closes the inner div.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.containers import line_text, push_container
from chunkast.text.fences import Fences

__all__ = ("fenced_div",)

_MARK: Final = ":::"
_OPENER = re.compile(r"(?P<colons>:{3,})[ \t]*(?P<about>\{[^{}]*\}|[^\s:{}]+)[ \t]*:*")
_CLOSER = re.compile(r":{3,}")
_KEY: Final = "chunkast_div_ends"


def fenced_div(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Parse a fenced div; a block rule for markdown-it."""
    opener = _OPENER.fullmatch(line_text(state, start_line))
    if opener is None or state.is_code_block(start_line):
        return False
    if silent:
        return True
    last = _closing_line(state, start_line + 1, end_line)
    push_container(state, start_line, last, opener["colons"], opener["about"])
    closed = last < end_line and _CLOSER.fullmatch(line_text(state, last)) is not None
    state.line = last + closed
    return True


def _closing_line(state: StateBlock, line: int, end_line: int) -> int:
    """Return the line that closes the div whose content begins at ``line``.

    If the div is not closed, return the line after its content. The closing lines of inner divs are
    remembered, so that each is searched for only once.
    """
    known: dict[tuple[int, int], int] = state.env.setdefault(_KEY, {})
    indent = state.blkIndent
    if (found := known.get((line, indent), -1)) >= 0:
        return min(found, end_line)
    opened = [line]
    fences = Fences()
    while line < end_line:
        text = line_text(state, line)
        if text and state.sCount[line] < indent:
            break
        if not fences.take(text) and text.startswith(_MARK):
            if _OPENER.fullmatch(text):
                opened.append(line + 1)
            elif _CLOSER.fullmatch(text):
                known[opened.pop(), indent] = line
                if not opened:
                    return line
        line += 1
    known.update({(first, indent): line for first in opened})
    return line
