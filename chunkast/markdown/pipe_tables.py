"""Read the rows and cells of pipe tables, and complete a part of a table."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Final, TypeAlias

from chunkast.markdown.blocks import Arranged, Signs, new_block, rearranged
from chunkast.markdown.lines import marks_end
from chunkast.markdown.tables import Around, Cell, Tables, begins_with_header, words_of
from chunkast.model import Block
from chunkast.text.source_map import line_starts
from chunkast.text.spans import content_end
from chunkast.text.white_space import is_blank

__all__ = ("arrange_pipes", "count_cells", "count_delimiters", "pipe_table")

# Any pipe separates cells, even inside code, unless a backslash precedes it (GFM).
_PIPE = re.compile(r"(?<!\\)\|")
# Before a cell's text: indentation, the marks of quotes around the table, and a pipe.
_OPENING = re.compile(r"[ \t>]*\|[ \t]*|[ \t]+")
# A line with marks of a delimiter row only: not a rule or an item.
_DELIMITER_ROW = re.compile(r"(?:[|:][|:\- \t]|-[|:\-])[|:\- \t]*")
_BETWEEN_PIPES = re.compile(r"\|.*(?<!\\)\|")
# White space inside the lines of a header, but not right after the mark of a quote.
_PADDING = re.compile(r"(?<=[^\s>])[ \t]{2,}")
# The number of characters in a header and in a row's first cell that are repeated.
_LONGEST_HEADER: Final = 4_096
_LONGEST_LABEL: Final = 48
_Span: TypeAlias = tuple[int, int]
_Cells: TypeAlias = Callable[[int, int], Sequence[Cell]]
_DELIMITER = re.compile(r"[ \t]*:?-+:?[ \t]*")


def count_delimiters(row: str) -> int:
    """Return the number of columns in a delimiter row, or 0 if ``row`` is not a delimiter row."""
    if not _DELIMITER_ROW.fullmatch(row):
        return 0
    delimiters = row.rstrip(" \t").removeprefix("|").removesuffix("|").split("|")
    return len(delimiters) if all(map(_DELIMITER.fullmatch, delimiters)) else 0


def count_cells(row: str) -> int:
    """Return the number of cells in a row without surrounding white space."""
    pipes = len(_PIPE.findall(row)) if "\\" in row else row.count("|")
    return pipes + 1 - row.startswith("|") - (row.endswith("|") and not row.endswith("\\|"))


def arrange_pipes(text: str, tree: Block, _signs: Signs) -> Arranged:
    """Turn lines of cells into tables, and add a line right above a table to its header."""
    has_pipe, step = partial(_has_pipe, text), partial(_with_rows, text)
    return (rearranged(tree, step, has_pipe) if has_pipe(tree) else tree), []


def _has_pipe(text: str, block: Block) -> bool:
    return text.find("|", block.start, block.end) >= 0


def _with_rows(text: str, blocks: list[Block]) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        kind = block.kind
        if kind == "paragraph" and _has_pipe(text, block):
            widths = _widths(text, block)
            is_table = len(widths) > 2 and widths[0] > 1 and len({*widths}) == 1
            found.append(new_block("table", block.start, block.end) if is_table else block)
            continue
        if kind == "table" and found and _is_header(text, found[-1], block):
            block = new_block("table", found.pop().start, block.end)  # noqa: PLW2901
        found.append(block)
    return found


def _is_header(text: str, leaf: Block, table: Block) -> bool:
    """Return whether a leaf right above a table is a rule or a row of its header."""
    if leaf.kind != "paragraph" or leaf.end != table.start:
        return False
    widths = _widths(text, table)[:1]
    return widths != [0] and _widths(text, leaf) == widths


def _widths(text: str, leaf: Block) -> list[int]:
    """Return the number of cells in each line of a paragraph or table, or 0 if it has other text."""
    lines = (leaf.content or text[leaf.start : leaf.end]).strip().split("\n")
    rows = (_BETWEEN_PIPES.fullmatch(line.strip(" \t\r>")) for line in lines)
    return [count_cells(row[0]) if row else 0 for row in rows]


def pipe_table(text: str, start: int, end: int) -> Tables:
    """Read the lines of a pipe table; its cells are read when they are needed."""
    starts = line_starts(text, start, end)
    cells = cache(partial(_cells, text))
    lines = [*pairwise([marks_end(text, start, starts[1]), *starts[1:]])]
    heading = _header([text[marks_end(text, *line) : line[1]].strip() for line in lines[:4]])
    first, shown = heading.stop, [*heading]
    if len(shown) < 2:
        rows = ([text[each[2] : each[3]].lower() for each in cells(*row)] for row in lines[first:])
        shown = [first, *heading] if begins_with_header([[*enumerate(row)] for row in rows]) else []
    body = first + (first in shown)
    tables = Tables(rows=starts[max(first, 1) : -1], tails=starts[1:first], cells=cells)
    tables.leading |= dict.fromkeys(starts[max(first, 1) : body + 1], "lead-in")
    columns = len(cells(*lines[max(first - 1, 0)]))
    tables.add_groups(lines[body:], [_may_group(text[slice(*row)]) for row in lines[body:]])

    def around(text: str, cuts: Iterable[int]) -> Iterator[Around]:
        whole = "".join(text[starts[number] : starts[number + 1]] for number in shown)
        # Each part of a row has a prefix of its own, so without a limit the total is not linear.
        whole = _PADDING.sub(" ", whole) if len(whole) <= _LONGEST_HEADER else ""
        header = (whole,) if whole.strip("> \t|") else ()
        for pos in cuts:
            row = lines[bisect_right(starts, pos) - 1]
            if pos == row[0] >= starts[body] and not tables.groups:
                yield pos, header, ""  # almost always
                continue
            fillings = _fillings(text, row, cells, pos, columns) if pos >= starts[body] else ()
            above = tables.group_rows(text, row[0])
            framed = [whole + rows + filling for rows in above for filling in fillings]
            yield pos, tuple(each for each in framed if each.strip("> \t|")), ""

    tables.around = around
    return tables


def _fillings(text: str, row: _Span, cells: _Cells, pos: int, columns: int) -> Sequence[str]:
    """Return the text that keeps the columns after a cut in a row, with and without the row's label.

    Inside a row this is its margin and a cell for each column before the cut: its first cell, if that
    is short, and empty ones. A cut in the margin, in cells beyond the table's ``columns`` or before an
    escaped pipe has none.
    """
    if pos == row[0]:
        return ("",)
    label, *others = cells(*row)
    first = row[1] - len(text[slice(*row)].lstrip(" \t>"))
    column = bisect_left(others, (pos,)) + (pos > first)
    if pos < first or column > columns or text[pos - 1 : pos + 1] == "\\|":
        return ()
    before, words = text[row[0] : first], text[label.text_start : label.text_end]
    empty = f"{before}{'| ' * column}"
    is_short = 0 < len(words) <= _LONGEST_LABEL and label.end <= pos
    return (f"{before}| {words} {'| ' * (column - 1)}", empty) if is_short else (empty,)


def _header(lines: Sequence[str]) -> range:
    """Return the numbers of the lines of a table's header and of its delimiter row.

    These are only the delimiter row if the header is empty, and none if the table has neither. A
    rule above the header is not part of it. ``lines`` are the first ones.
    """
    rule = int(count_delimiters(lines[0]) > 0)
    for start, number in ((rule, rule + 1), (rule, rule + 2), (0, 1)):
        if number < len(lines) and count_delimiters(lines[number]):
            is_empty = not any(line.strip("| \t") for line in lines[start:number])
            return range(number if is_empty else start, number + 1)
    return range(rule, rule)


def _may_group(row: str) -> bool:
    """Return whether a row has text in one cell only, all of it in bold."""
    content = row.lstrip(" \t>|").rstrip(" \t\r\n|")
    return "|" not in content and words_of(content.lower().replace("__", "**"))[2]


def _cells(text: str, start: int, end: int) -> list[Cell]:
    """Return the cells in a row of a table, or in a part of a row.

    Their spans tile it: the first includes the margin, the last the closing pipe and the line
    ending.
    """
    first = end - len(text[start:end].lstrip(" \t>"))
    pipes = [match.start() for match in _PIPE.finditer(text, first, end)]
    if pipes and pipes[0] == first:
        del pipes[0]
    if pipes and is_blank(text[pipes[-1] + 1 : end]):
        del pipes[-1]
    return [Cell(*span, *_content(text, *span)) for span in pairwise([start, *pipes, end])]


def _content(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the text of a cell or of a part of it, without pipes and white space."""
    opening = _OPENING.match(text, start, end)
    first = opening.end() if opening else start
    last = content_end(text, first, end)
    if last > first and text[last - 1] == "|" and text[last - 2 : last - 1] != "\\":
        last = content_end(text, first, last - 1)
    return first, last
