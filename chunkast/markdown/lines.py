"""Read and search lines, find their markers, remove their indentation, and add leaves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from markdown_it.rules_block import StateBlock

__all__ = ("SHIFTED", "add_leaf", "find_line", "line_text", "lines_below", "marks_end", "unindent")

# The key in the parser's environment that is set once a rule moves the starts of lines, to the
# number of lines that may still be moved. A line may be moved a few times, on average, so that
# deep nesting takes linear time.
SHIFTED: Final = "chunkast_shifted"
_MAX_SHIFTS: Final = 40
# The keys of the lines found, and of the number of lines that may still be read to find others.
_FOUND: Final = "chunkast_lines_found"
_LEFT: Final = "chunkast_lines_left"
# The lines that all searches with one key may read, for each line of the text. Keeps the time linear.
_SEARCHES: Final = 20
# A quote's or an item's marker, or blanks.
_MARKS = re.compile(r"[ \t>]+|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])")


def add_leaf(
    state: StateBlock, kind: str, first: int, after: int, *, silent: bool = False, info: str = ""
) -> bool:
    """Add a leaf of lines ``[first, after)`` unless ``silent``; return whether there are any."""
    if after > first and not silent:
        token = state.push(kind, "", 0)
        token.map, token.info = [first, after], info
        state.line = after
    return after > first


def line_text(state: StateBlock, line: int) -> str:
    """Return a line without its containers' prefixes and surrounding white space."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def lines_below(state: StateBlock, start: int, end: int, left_key: str) -> Iterator[int]:
    """Yield the lines below ``start`` in its container, until the limit of lines is reached.

    The parser's environment stores the number of lines left under the key ``left_key``.
    """
    for line in range(start + 1, end):
        left = state.env.get(left_key, _SEARCHES * len(state.bMarks))
        if left <= 0 or (state.sCount[line] < state.blkIndent and not state.isEmpty(line)):
            return
        state.env[left_key] = left - 1
        yield line


def find_line(
    state: StateBlock,
    start: int,
    end: int,
    name: str,
    matches: Callable[[str], object],
    *,
    html: bool = False,
) -> int:
    """Return the number of the first line below ``start`` in its container that matches, or -1.

    If ``html`` is true, the search ends at a blank line, where Markdown ends an HTML block, and
    skips lines indented as code. The result is remembered for the lines before it, so that blocks
    that are never closed take linear time. Each ``matches`` needs its own ``name``.
    """
    known: dict[tuple[str, int], tuple[range, int]] = state.env.setdefault(_FOUND, {})
    lines, found = known.get((name, state.level), (range(0), -1))
    if start not in lines:
        found, last = -1, start
        for last in lines_below(state, start, end, _LEFT):
            if html and state.isEmpty(last):
                break
            if not (html and state.is_code_block(last)) and matches(line_text(state, last)):
                found = last
                break
        known[name, state.level] = range(start, last + (found < 0)), found
    return found if found < end else -1


def marks_end(text: str, start: int = 0, end: int | None = None) -> int:
    """Return the end of the quote and item markers at the start of the line ``text[start:end]``."""
    last = len(text) if end is None else end
    # Matched one by one: a repeated group in the pattern takes a hundred bytes for each marker.
    while marks := _MARKS.match(text, start, last):
        start = marks.end()
    return start


def unindent(state: StateBlock, opener: int, first: int, last: int) -> None:
    """Remove the indentation of an element's content, the lines ``[first, last)``.

    The indentation is that of the first line with text, relative to the line ``opener``.
    """
    columns, indent = state.sCount, state.blkIndent
    inside = (line for line in range(first, last) if not state.isEmpty(line))
    shift = columns[next(inside, opener)] - columns[opener]
    left = state.env.get(SHIFTED, _MAX_SHIFTS * len(state.bMarks))
    if shift <= 0 or left <= 0:
        return
    state.env[SHIFTED] = left - (last - first)
    for line in range(first, last):
        if columns[line] > indent:
            _remove_columns(state, line, min(shift, columns[line] - indent))


def _remove_columns(state: StateBlock, line: int, most: int) -> None:
    """Move the start of ``line`` past up to ``most`` columns of white space; no tab is split."""
    at = start = state.bMarks[line]
    base = state.bsCount[line]
    column = removed = 0
    while at < start + state.tShift[line]:
        column += 4 - (base + column) % 4 if state.src[at] == "\t" else 1
        if column > most:
            break
        at, removed = at + 1, column
    state.bMarks[line], state.tShift[line] = at, start + state.tShift[line] - at
    state.bsCount[line], state.sCount[line] = base + removed, state.sCount[line] - removed
