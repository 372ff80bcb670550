"""Blocks between conflict markers, as in merges and in the edits of coding agents.

Without this rule, the line of seven ``=`` inside would underline the text before it as a heading.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.containers import line_text
from chunkast.markdown.lines import add_leaf, lines_below

__all__ = ("MAY_CONFLICT", "after_closer", "conflict_block")

# Matches in any text with conflict markers.
MAY_CONFLICT: Final = re.compile("<<<<<<<")
_OPENER = re.compile(r"<{7}(?=[ \t\n]|\Z)")
_CLOSER = re.compile(r">{7}(?![^ \t])")
_SEPARATOR: Final = "======="


def conflict_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the lines from an opening marker to the next closing one in the same container."""
    if not _OPENER.match(state.src, state.bMarks[start] + state.tShift[start]):
        return False
    after = after_closer(state, start, end, _CLOSER, _SEPARATOR)
    return add_leaf(state, "conflict", start, after, silent=silent)


def after_closer(
    state: StateBlock, start: int, end: int, closer: re.Pattern[str], separator: str = ""
) -> int:
    """Return the line after the first one in the container that ``closer`` matches, or 0.

    The line ``separator``, if any, must be between it and the opening line ``start``.
    """
    separated = not separator
    for line in () if state.is_code_block(start) else lines_below(state, start, end):
        text = line_text(state, line)
        if closer.match(text):
            return line + 1 if separated else 0
        separated = separated or text == separator
    return 0
