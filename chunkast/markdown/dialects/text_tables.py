"""Parse tables drawn with dashes, as Pandoc writes them: grid, simple and multiline tables.

Without this rule, the dashes below the last row would turn it into a heading.
"""

from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import east_asian_width

from markdown_it.rules_block import StateBlock

from chunkast.markdown.lines import add_leaf, line_text
from chunkast.markdown.tables import Tables
from chunkast.text.source_map import line_starts

__all__ = ("may_have_tables", "text_rows", "text_table")

_MAY_HAVE = re.compile(r"^[ \t>]*(?:\+[:=\-]+\+|-{3,} +-{3})", re.MULTILINE)
# The lines between the rows of a grid table; a line below or above the rows of the others.
_GRID = re.compile(r"\+(?:[:=\-]+\+)+")
_DASHES = re.compile(r"-{3,}(?: +-{3,})*")
_GRID_ROW = re.compile(r"[|+].*[|+]")
_GAP = re.compile(r" +")
# Below a header, and between two rows.
_HEADER_END = re.compile(r"[ \t>]*(?:\+[=:+]+\+|-{3,}(?: +-{3,})+)[ \t\r\n]*")
_ROW_END = re.compile(r"[ \t>]*(?:\+[:=+\-]+\+)?[ \t\r\n]*")


def may_have_tables(text: str) -> bool:
    """Return whether ``text`` may have such tables, by a fast search for substrings."""
    parts = ("-+", "--- -", "---  ")
    return any(map(text.__contains__, parts)) and _MAY_HAVE.search(text) is not None


def text_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a table. Only a grid table interrupts a paragraph."""
    if state.is_code_block(start):
        return False
    line = line_text(state, start)
    if _GRID.fullmatch(line):
        after = _grid_end(state, start, end)
    else:
        after = 0 if silent else _dashed_end(state, start, end, line)
    return add_leaf(state, "text_table", start, after, silent=silent)


def _grid_end(state: StateBlock, start: int, end: int) -> int:
    """Return the line after a grid table, or 0."""
    after = 0
    for line in range(start + 1, end):
        text = line_text(state, line)
        if state.sCount[line] < state.blkIndent or not _GRID_ROW.fullmatch(text):
            break
        if line > start + 1 and _GRID.fullmatch(text):
            after = line + 1
    return after


def _dashed_end(state: StateBlock, start: int, end: int, rule: str) -> int:
    """Return the line after a simple or multiline table, or 0.

    A table that begins with dashes ends with as many. Below one run of dashes is a header. Rows may
    then be several lines, with blank lines between them.
    """
    first, columns = start, rule
    if not _DASHES.fullmatch(rule):
        if not _has_columns(state, start, start + 1, end):
            return 0
        last, closing = _next_rule(state, start + 2, end)
        return last + bool(closing) if last > start + 2 else 0
    if " " not in rule:
        first, columns = _next_rule(state, start + 1, end)
    elif not _has_columns(state, start + 1, start, end):
        return 0
    if " " not in columns or first == start + 1:
        return 0
    last, closing = _next_rule(state, first + 1, end, blanks=True)
    return last + 1 if last > first + 1 and len(closing) == len(rule) else 0


def _next_rule(state: StateBlock, line: int, end: int, *, blanks: bool = False) -> tuple[int, str]:
    """Return the next line of dashes and its text, or the end of the lines with text and ""."""
    while line < end and (blanks if state.isEmpty(line) else state.sCount[line] >= state.blkIndent):
        text = line_text(state, line)
        if _DASHES.fullmatch(text):
            return line, text
        line += 1
    return line, ""


def _has_columns(state: StateBlock, row: int, columns: int, end: int) -> bool:
    """Return whether ``columns`` is several runs of dashes, and ``row`` is blank between them."""
    below = max(row, columns)
    if below >= end or state.isEmpty(below) or state.sCount[below] < state.blkIndent:
        return False
    rule = line_text(state, columns)
    if " " not in rule or not _DASHES.fullmatch(rule):
        return False
    shift = state.sCount[row] - state.sCount[columns]
    text = "".join(char * (1 + (east_asian_width(char) in "WF")) for char in line_text(state, row))
    text = " " * shift + text[max(-shift, 0) :]
    return not any(text[slice(*gap.span())].strip() for gap in _GAP.finditer(rule))


def text_rows(text: str, start: int, end: int) -> Tables:
    """Read the lines and rows of a table. Every line of a simple table is a row."""
    starts = line_starts(text, start, end)
    lines = [text[start:end] for start, end in pairwise(starts)]
    headers, rows = (
        [after for after, line in zip(starts[1:], lines, strict=True) if edge.fullmatch(line)]
        for edge in (_HEADER_END, _ROW_END)
    )
    # Dashes above the first row and below the last are no header.
    header = start if not headers or headers[0] in (starts[1], end) else headers[0]

    tables = Tables(rows=[pos for pos in rows or starts if pos > header], tails=[header])
    tables.around = lambda text, cuts: (
        (pos, (text[start:header],) if start < header <= pos else (), "") for pos in cuts
    )
    return tables
