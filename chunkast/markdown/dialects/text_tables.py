"""Tables drawn with dashes, as Pandoc writes them: grid, simple and multiline tables.

Without this rule, the dashes below the last row would underline it as a heading.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final
from unicodedata import east_asian_width

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.containers import line_text
from chunkast.model import Block
from chunkast.text.source_map import line_starts

__all__ = ("may_have_text_tables", "text_rows", "text_table")

_MAY_HAVE = re.compile(r"^[ \t>]*(?:\+[:=\-]+\+|-{3,} +-{3})", re.MULTILINE)
# The lines between the rows of a grid table; a line below or above the rows of the others.
_GRID = re.compile(r"\+(?:[:=\-]+\+)+")
_DASHES = re.compile(r"-{3,}(?: +-{3,})*")
_GAP = re.compile(r" +")
# Below a header, and between two rows.
_HEADER_END = re.compile(r"[ \t>]*(?:\+[=:+]+\+|-{3,}(?: +-{3,})+)[ \t\r\n]*")
_ROW_END = re.compile(r"[ \t>]*(?:\+[:=+\-]+\+)?[ \t\r\n]*")
_ROW_EDGES: Final = ("|", "+")


def may_have_text_tables(text: str) -> bool:
    """Return whether ``text`` may have such tables."""
    return _MAY_HAVE.search(text) is not None


def text_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a table; only a grid table interrupts a paragraph."""
    if state.is_code_block(start):
        return False
    line = line_text(state, start)
    if _GRID.fullmatch(line):
        after = _grid_end(state, start, end)
    elif silent:
        return False
    elif _DASHES.fullmatch(line):
        after = _ruled_end(state, start, end, line)
    else:
        after = _simple_end(state, start, end)
    if after and not silent:
        state.push("text_table", "", 0).map = [start, after]
        state.line = after
    return after > 0


def _is_inside(state: StateBlock, line: int, end: int) -> bool:
    """Return whether ``line`` has text and is in the container."""
    return line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent


def _grid_end(state: StateBlock, start: int, end: int) -> int:
    """Return the line after a grid table, or 0."""
    line, after = start + 1, 0
    while _is_inside(state, line, end):
        text = line_text(state, line)
        if not text.startswith(_ROW_EDGES) or not text.endswith(_ROW_EDGES):
            break
        line += 1
        if line > start + 2 and _GRID.fullmatch(text):
            after = line
    return after


def _simple_end(state: StateBlock, start: int, end: int) -> int:
    """Return the line after a simple table that begins with its header, or 0."""
    line = start + 2
    if not _is_inside(state, start + 1, end) or not _has_columns(state, start, start + 1):
        return 0
    while _is_inside(state, line, end):
        line += 1
        if _DASHES.fullmatch(line_text(state, line - 1)):
            break
    return line if line > start + 2 else 0


def _ruled_end(state: StateBlock, start: int, end: int, rule: str) -> int:
    """Return the line after a table that begins and ends with dashes of the same length, or 0.

    Below one run of dashes is a header. Rows may be several lines, with blank lines between them.
    """
    first = start
    if " " not in rule:
        first = _next_dashes(state, start + 1, end, blanks=False)
        header = first > start + 1 and " " in line_text(state, first)
        if not header:
            return 0
    elif not _is_inside(state, start + 1, end) or not _has_columns(state, start + 1, start):
        return 0
    last = _next_dashes(state, first + 1, end, blanks=True)
    return last + 1 if last > first + 1 and len(line_text(state, last)) == len(rule) else 0


def _next_dashes(state: StateBlock, line: int, end: int, *, blanks: bool) -> int:
    """Return the next line of dashes in the container, with or without blank lines before, or 0."""
    while _is_inside(state, line, end) or (blanks and line < end and state.isEmpty(line)):
        if _DASHES.fullmatch(line_text(state, line)):
            return line
        line += 1
    return 0


def _has_columns(state: StateBlock, row: int, dashes: int) -> bool:
    """Return whether ``dashes`` are several runs, and ``row`` is blank between them."""
    rule, text = line_text(state, dashes), line_text(state, row)
    if " " not in rule or not _DASHES.fullmatch(rule):
        return False
    text = "".join(char * (1 + (east_asian_width(char) in "WF")) for char in text)
    shift = state.sCount[row] - state.sCount[dashes]
    text = " " * shift + text[max(-shift, 0) :]
    return not any(text[slice(*gap.span())].strip() for gap in _GAP.finditer(rule))


def text_rows(text: str, table: Block) -> tuple[int, list[int]]:
    """Return the end of a table's header, or the table's start, and the starts of later rows.

    The rows of a simple table are its lines.
    """
    starts = line_starts(text, table.start, table.end)
    lines = [text[start:end] for start, end in pairwise(starts)]
    headed = 0
    if not _HEADER_END.fullmatch(lines[0]):
        inside = range(1, len(lines) - 1)
        headed = next((line for line in inside if _HEADER_END.fullmatch(lines[line])), 0)
    header = starts[headed + 1] if headed else table.start
    ends = [
        after for after, line in zip(starts[1:], lines, strict=True) if _ROW_END.fullmatch(line)
    ]
    return header, [pos for pos in ends or starts if pos > header]
