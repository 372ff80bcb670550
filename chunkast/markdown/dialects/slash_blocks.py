"""Blocks between lines of slashes, as in PyMdown Extensions and FastAPI's documentation.

    /// note | A title            //// tab | Python 3.10
    Text.                         /// tip
    ///                           ...

A block ends at the matching line with as many slashes as its opening line. Blocks with the same
number of slashes may be nested. If there is no closing line, the opening line is text.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.containers import line_text, once, push_container
from chunkast.text.fences import Fences

__all__ = ("slash_block",)

_OPENER = re.compile(r"(?P<slashes>/{3,})[ \t]*(?P<about>[\w-]+(?:[ \t]*\|.*)?)")
_CLOSER = re.compile(r"/{3,}")
# White space and quote marks before a line's own text.
_MARGIN: Final = " \t>"


def slash_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Parse a block between lines of slashes; a block rule for markdown-it."""
    opener = _OPENER.fullmatch(line_text(state, start_line))
    if opener is None or state.is_code_block(start_line):
        return False
    last = once(state, _closing_lines).get(start_line, end_line)
    # Its closing line must be in the same container.
    if last >= end_line or state.sCount[last] < state.blkIndent:
        return False
    if silent:
        return True
    push_container(state, start_line, last, opener["slashes"], opener["about"])
    state.line = last + 1
    return True


def _closing_lines(state: StateBlock) -> dict[int, int]:
    """Return a map from the opening line to the closing line of each block in the text."""
    closing: dict[int, int] = {}
    open_lines: dict[int, list[int]] = {}
    fences = Fences()
    for number, line in enumerate(state.src.split("\n")):
        text = line.strip(_MARGIN)
        if fences.take(line) or not text.startswith("///"):
            continue
        if _CLOSER.fullmatch(text):
            if waiting := open_lines.get(len(text)):
                closing[waiting.pop()] = number
        elif opener := _OPENER.fullmatch(text):
            open_lines.setdefault(len(opener["slashes"]), []).append(number)
    return closing
