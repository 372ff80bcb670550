"""The rule for GFM tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from chunkast.markdown.fast.state import TRIMMED, BlockState, new_token

__all__ = ("table",)

_DELIMITER_ROW = re.compile(r"(?:[|:][|:\- \t]|-[|:\-])[|:\- \t]*")
_DELIMITER = re.compile(r":?-+:?")
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")
# By whether a delimiter begins and ends with a colon.
_STYLES: Final = {
    (False, False): "",
    (True, False): "text-align:left",
    (False, True): "text-align:right",
    (True, True): "text-align:center",
}
# Rows are filled up to the header's width, but a text can only grow so much by it.
_MAX_FILLED_CELLS: Final = 65_536


def table(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """A header, a row of delimiters of the same width, and rows of any width."""
    body = start + 2
    if body - 1 not in state.delimiter_rows or body > end:
        return False
    if not 0 <= state.sCount[body - 1] - state.blkIndent < 4:
        return False
    styles = _styles(_line(state, body - 1))
    header = _line(state, start).strip(TRIMMED)
    if not styles or "|" not in header:
        return False
    cells = _cells(header)
    if len(cells) != len(styles):
        return False
    if silent:
        return True
    lines = [start, 0]
    level = state.level
    parent, state.parentType = state.parentType, "table"
    state.tokens.append(new_token("table_open", "table", 1, level, lines))
    state.tokens.append(new_token("thead_open", "thead", 1, level + 1, [start, start + 1]))
    _push_row(state, "th", start, cells, styles)
    state.tokens.append(state.closing("thead_close", "thead", level + 1))
    lines[1] = state.line = _push_body(state, body, end, styles)
    state.tokens.append(state.closing("table_close", "table", level))
    state.parentType = parent
    return True


def _push_body(state: BlockState, start: int, end: int, styles: Sequence[str]) -> int:
    """The tokens of the rows from ``start`` on, if there are any; the line behind them."""
    lines = [start, 0]
    line = start
    filled = 0
    while line < end and 0 <= state.sCount[line] - state.blkIndent < 4:
        row = _line(state, line).strip(TRIMMED)
        if not row or _is_interrupted(state, line, end):
            break
        cells = _cells(row)
        filled += len(styles) - len(cells)
        if filled > _MAX_FILLED_CELLS:
            break
        if line == start:
            state.tokens.append(new_token("tbody_open", "tbody", 1, state.level + 1, lines))
        _push_row(state, "td", line, cells, styles)
        line += 1
    if line > start:
        state.tokens.append(state.closing("tbody_close", "tbody", state.level + 1))
    lines[1] = line
    return line


def _line(state: BlockState, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _styles(row: str) -> list[str]:
    """The style of each column by a row of delimiters; none if it is no such row."""
    if not _DELIMITER_ROW.fullmatch(row):
        return []
    delimiters = [delimiter.strip(" \t") for delimiter in row.split("|")]
    # There may be nothing before the first pipe and behind the last.
    if not delimiters[-1]:
        delimiters.pop()
    if delimiters and not delimiters[0]:
        del delimiters[0]
    if not all(map(_DELIMITER.fullmatch, delimiters)):
        return []
    return [_STYLES[each.startswith(":"), each.endswith(":")] for each in delimiters]


def _cells(row: str) -> list[str]:
    if "\\" in row:
        cells = [cell.replace("\\|", "|") for cell in _UNESCAPED_PIPE.split(row)]
    else:
        cells = row.split("|")
    if cells and not cells[0]:
        del cells[0]
    if cells and not cells[-1]:
        cells.pop()
    return cells


def _push_row(
    state: BlockState, tag: str, line: int, cells: Sequence[str], styles: Sequence[str]
) -> None:
    """A row's tokens, two levels below the table's; as many cells as there are styles."""
    push, level = state.tokens.append, state.level + 2
    opening = f"{tag}_open"
    cell_close = state.closing(f"{tag}_close", tag, level + 1)
    push(new_token("tr_open", "tr", 1, level, [line, line + 1]))
    for number, style in enumerate(styles):
        token = new_token(opening, tag, 1, level + 1)
        if style:
            token.attrs = {"style": style}
        push(token)
        content = cells[number].strip(TRIMMED) if number < len(cells) else ""
        push(new_token("inline", "", 0, level + 2, [line, line + 1], content, "", []))
        push(cell_close)
    push(state.closing("tr_close", "tr", level))


def _is_interrupted(state: BlockState, line: int, end: int) -> bool:
    """Whether a block begins at ``line`` that would end a quote."""
    rules = state.ends_quote.get(state.first_character(line), state.ends_quote[""])
    return any(rule(state, line, end, True) for rule in rules)
