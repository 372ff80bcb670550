"""Find front matter and the markers at the start of a line; remove the indentation of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from markdown_it.rules_block import StateBlock

__all__ = ("SHIFTED", "front_matter_lines", "marks_end", "unindent")

# The key in the parser's environment that is set once a rule moves the starts of lines, to the
# number of lines that may still be moved. A line may be moved a few times, on average, so that
# deep nesting takes linear time.
SHIFTED: Final = "chunkast_shifted"
_MAX_SHIFTS: Final = 40
_YAML_KEY = re.compile(r"(?:[\w.\-/ ]{1,100}|\"[^\"\n]{1,100}\"|'[^'\n]{1,100}')[ \t]*:(?:\s|$)")
_TOML_LINE = re.compile(r"(?:[\w.\-\"']{1,100}[ \t]*=|\[{1,2}[^\[\]\n]{1,100}\])")
# Opening line -> closing lines, and a pattern for the first line of content.
_FORMS = {
    "---": (("---", "..."), _YAML_KEY),
    "+++": (("+++",), _TOML_LINE),
}
# A quote's or an item's marker, or blanks.
_MARKS = re.compile(r"[ \t>]+|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])")


def marks_end(text: str, start: int = 0, end: int | None = None) -> int:
    """Return the end of the quote and item markers at the start of ``text[start:end]``, a line."""
    last = len(text) if end is None else end
    # Matched one by one: a repeated group in the pattern takes a hundred bytes for each marker.
    while marks := _MARKS.match(text, start, last):
        start = marks.end()
    return start


def front_matter_lines(text: str, starts: Sequence[int]) -> int:
    """Return the number of lines of YAML or TOML front matter, including delimiters, or 0.

    In Markdown, text between two ``---`` lines may be a heading, so the first line of content has
    to look like YAML (``key:``) or TOML (``key =`` or ``[table]``). ``starts`` has the line starts,
    and the text's length at the end. A byte order mark may precede the opening line.
    """
    if len(starts) < 3:
        return 0
    form = _FORMS.get(text[: starts[1]].removeprefix("\ufeff").rstrip())
    if form is None:
        return 0
    closers, first_line = form
    seen = False
    for line in range(1, len(starts) - 1):
        content = text[starts[line] : starts[line + 1]].rstrip()
        if content in closers:
            return line + 1 if seen else 0
        if not seen and content and not content.startswith("#"):
            if not first_line.match(content):
                return 0
            seen = True
    return 0


def unindent(state: StateBlock, opener: int, first: int, last: int) -> None:
    """Remove the indentation of an element's content, the lines ``[first, last)``.

    The indentation is that of the first line with text, beyond that of the line ``opener``.
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
