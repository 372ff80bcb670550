"""The rule for GFM tables."""

from __future__ import annotations

import re
from typing import Final

from chunkast.markdown.fast.state import TRIMMED, BlockState

__all__ = ("table",)

_DELIMITER_ROW = re.compile(r"(?:[|:][|:\- \t]|-[|:\-])[|:\- \t]*")
_DELIMITER = re.compile(r":?-+:?")
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")
# markdown-it fills rows up to the header's width, but only with this many cells.
_MAX_FILLED_CELLS: Final = 65_536


def table(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse a table: a header, a delimiter row of the same width, and rows of any width."""
    body = start + 2
    if body - 1 not in state.delimiter_rows or body > end:
        return False
    if not 0 <= state.sCount[body - 1] - state.blkIndent < 4:
        return False
    width = _count_delimiters(_line(state, body - 1))
    header = _line(state, start).strip(TRIMMED)
    if not width or "|" not in header or _count_cells(header) != width:
        return False
    if silent:
        return True
    parent, state.parentType = state.parentType, "table"
    state.line = _rows_end(state, body, end, width)
    state.build(state.tree.table, start, state.line)
    state.parentType = parent
    return True


def _rows_end(state: BlockState, line: int, end: int, width: int) -> int:
    """Return the line after a table's rows, which begin at ``line``.

    ``width`` is the number of columns.
    """
    filled = 0
    while line < end and 0 <= state.sCount[line] - state.blkIndent < 4:
        row = _line(state, line).strip(TRIMMED)
        if not row or _is_interrupted(state, line, end):
            break
        filled += width - _count_cells(row)
        if filled > _MAX_FILLED_CELLS:
            break
        line += 1
    return line


def _line(state: BlockState, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _count_delimiters(row: str) -> int:
    """Return the number of columns in a delimiter row, or 0 if ``row`` is not one."""
    if not _DELIMITER_ROW.fullmatch(row):
        return 0
    delimiters = [delimiter.strip(" \t") for delimiter in row.split("|")]
    # The first pipe may begin the row, and the last one end it.
    if not delimiters[-1]:
        delimiters.pop()
    if delimiters and not delimiters[0]:
        del delimiters[0]
    return len(delimiters) if all(map(_DELIMITER.fullmatch, delimiters)) else 0


def _count_cells(row: str) -> int:
    """Return the number of cells in a row, which may begin and end with a pipe."""
    cells = _UNESCAPED_PIPE.split(row) if "\\" in row else row.split("|")
    if not cells[0]:
        del cells[0]
    return len(cells) - (bool(cells) and not cells[-1])


def _is_interrupted(state: BlockState, line: int, end: int) -> bool:
    """Return whether a block that would also end a quote begins at ``line``."""
    rules = state.ends_quote.get(state.first_character(line), state.ends_quote[""])
    return any(rule(state, line, end, True) for rule in rules)
