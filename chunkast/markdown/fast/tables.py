"""The rule for GFM tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from chunkast.markdown.fast.state import TRIMMED, BlockState, closing_token, new_token

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
    parent, state.parentType = state.parentType, "table"
    rows = _rows(state, body, end, len(styles))
    if state.tree is not None:
        state.line = body + sum(1 for _ in rows)
        state.build(state.tree.table, start, state.line)
    else:
        _push_table(state, start, cells, rows, styles)
    state.parentType = parent
    return True


def _rows(state: BlockState, line: int, end: int, width: int) -> Iterator[list[str]]:
    """The cells of each row after the delimiters, of which there are ``width``."""
    filled = 0
    while line < end and 0 <= state.sCount[line] - state.blkIndent < 4:
        row = _line(state, line).strip(TRIMMED)
        if not row or _is_interrupted(state, line, end):
            break
        cells = _cells(row)
        filled += width - len(cells)
        if filled > _MAX_FILLED_CELLS:
            break
        yield cells
        line += 1


def _push_table(
    state: BlockState,
    start: int,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    styles: Sequence[str],
) -> None:
    """The tokens of a table whose header is the line ``start``."""
    push, level = state.tokens.append, state.level
    lines, body_lines = [start, 0], [start + 2, 0]
    push(new_token("table_open", "table", 1, level, lines))
    push(new_token("thead_open", "thead", 1, level + 1, [start, start + 1]))
    _push_row(state, "th", start, header, styles)
    push(closing_token("thead_close", "thead", level + 1))
    body = line = start + 2
    for cells in rows:
        if line == body:
            push(new_token("tbody_open", "tbody", 1, level + 1, body_lines))
        _push_row(state, "td", line, cells, styles)
        line += 1
    if line > body:
        push(closing_token("tbody_close", "tbody", level + 1))
    push(closing_token("table_close", "table", level))
    lines[1] = body_lines[1] = state.line = line


def _line(state: BlockState, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _styles(row: str) -> list[str]:
    """The style of each column by a row of delimiters; none if it is not such a row."""
    if not _DELIMITER_ROW.fullmatch(row):
        return []
    delimiters = [delimiter.strip(" \t") for delimiter in row.split("|")]
    # There may be nothing before the first pipe and after the last.
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
    cell_close = closing_token(f"{tag}_close", tag, level + 1)
    push(new_token("tr_open", "tr", 1, level, [line, line + 1]))
    for number, style in enumerate(styles):
        token = new_token(opening, tag, 1, level + 1)
        if style:
            token.attrs = {"style": style}
        push(token)
        content = cells[number].strip(TRIMMED) if number < len(cells) else ""
        push(new_token("inline", "", 0, level + 2, [line, line + 1], content, "", []))
        push(cell_close)
    push(closing_token("tr_close", "tr", level))


def _is_interrupted(state: BlockState, line: int, end: int) -> bool:
    """Whether a block begins at ``line`` that would end a quote."""
    rules = state.ends_quote.get(state.first_character(line), state.ends_quote[""])
    return any(rule(state, line, end, True) for rule in rules)
