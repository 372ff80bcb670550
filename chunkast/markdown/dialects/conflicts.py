"""Blocks between conflict markers, as in merges and in the edits of coding agents.

Without this rule, the line of seven ``=`` inside would underline the text before it as a heading.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.containers import line_text

__all__ = ("conflict_block", "may_conflict")

_OPENER = re.compile(r"<{7}(?=[ \t\n]|\Z)")
_CLOSER = re.compile(r">{7}(?![^ \t])")
_SEPARATOR: Final = "======="
_KEY: Final = "chunkast_conflicts"


class _Search(NamedTuple):
    """The result of a search from ``start`` for the first closing line, before the line ``stop``.

    ``closer`` is that line and ``separator`` the last ``=======`` before it, or -1. ``at_end`` is
    true if the search stopped at its last line, not at a closing line or the container's end.
    """

    start: int
    stop: int
    separator: int = -1
    closer: int = -1
    at_end: bool = False


def may_conflict(text: str) -> bool:
    """Return whether ``text`` may have conflict markers."""
    return "<<<<<<<" in text


def conflict_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the lines from an opening marker to the next closing one in the same container."""
    opener = _OPENER.match(state.src, state.bMarks[start] + state.tShift[start])
    if opener is None or state.is_code_block(start):
        return False
    # The last search at each level, so that markers that are never closed take linear time.
    searches: dict[int, _Search] = state.env.setdefault(_KEY, {})
    found = searches.get(state.level, _Search(0, 0))
    if not found.start <= start < found.stop or (found.at_end and end > found.stop):
        found = searches[state.level] = _search(state, start, end)
    if not start < found.separator < found.closer < end:
        return False
    if not silent:
        state.push("conflict", "", 0).map = [start, found.closer + 1]
        state.line = found.closer + 1
    return True


def _search(state: StateBlock, start: int, end: int) -> _Search:
    separator = -1
    for line in range(start + 1, end):
        text = line_text(state, line)
        if text and state.sCount[line] < state.blkIndent:
            return _Search(start, line)
        if text == _SEPARATOR:
            separator = line
        elif _CLOSER.match(text):
            return _Search(start, line, separator, line)
    return _Search(start, end, at_end=True)
