"""Parse the conflict markers of merges and of edits by coding agents, with the lines between them.

Without this rule, the line of seven ``=`` inside would turn the text before it into a heading.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.lines import add_leaf, find_line, line_text

__all__ = ("MAY_CONFLICT", "conflict_block")

# Matches in any text with conflict markers.
MAY_CONFLICT: Final = re.compile("<<<<<<<")
_OPENER = re.compile(r"<{7}(?=[ \t\n]|\Z)")
_CLOSER = re.compile(r">{7}(?![^ \t])")
_SEPARATOR: Final = "======="
_AFTER_OPENER = re.compile(rf"{_SEPARATOR}\Z|{_CLOSER.pattern}")


def conflict_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the lines from an opening marker to the next closing marker in the same container."""
    first = state.bMarks[start] + state.tShift[start]
    if state.is_code_block(start) or not _OPENER.match(state.src, first):
        return False
    last = find_line(state, start, end, "conflict", _AFTER_OPENER.match)
    if last >= 0 and line_text(state, last) == _SEPARATOR:
        last = find_line(state, last, end, "conflict end", _CLOSER.match)
        return add_leaf(state, "conflict", start, last + 1, silent=silent)
    return False
