"""Blocks between conflict markers, as in merges and in the edits of coding agents.

Without this rule, the line of seven ``=`` inside would underline the text before it as a heading.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.containers import line_text

__all__ = ("conflict_block", "may_conflict")

_OPENER = re.compile(r"<{7}(?=[ \t\n]|\Z)")
_CLOSER = re.compile(r">{7}(?![^ \t])")
_SEPARATOR: Final = "======="
_KEY: Final = "chunkast_conflicts"


def may_conflict(text: str) -> bool:
    """Return whether ``text`` may have conflict markers."""
    return "<<<<<<<" in text


def conflict_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the lines from an opening marker to the next closing one in the same container."""
    opener = _OPENER.match(state.src, state.bMarks[start] + state.tShift[start])
    # By level: the line before which no conflict ends, so that open markers take linear time.
    searched: dict[int, int] = state.env.setdefault(_KEY, {})
    if opener is None or state.is_code_block(start) or start < searched.get(state.level, 0):
        return False
    separated, line = False, start + 1
    while line < end:
        text = line_text(state, line)
        if _CLOSER.match(text) or (text and state.sCount[line] < state.blkIndent):
            break
        separated = separated or text == _SEPARATOR
        line += 1
    if line == end or not separated or state.sCount[line] < state.blkIndent:
        searched[state.level] = line
        return False
    if not silent:
        state.push("conflict", "", 0).map = [start, line + 1]
        state.line = line + 1
    return True
