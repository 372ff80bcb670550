"""Parse blocks that contain other blocks: lists and quotes.

Each rule matches the same text as markdown-it's rule of the same name, including its quirks. While
the blocks inside are parsed, the line table skips the container's marks; afterwards, the table is
restored.
"""

from __future__ import annotations

import re
from typing import Final

from chunkast.markdown.fast.state import TRIMMED, BlockState

__all__ = ("blockquote", "column_after", "list_block")

# An item's marker with the space after it; a number precedes its last character.
_MARKER = re.compile(r"([-+*]|[0-9]{1,9}[.)])(?:[ \t]+|(?=\n|\Z))")
# The beginning of text with one of the characters, but none of the beginnings, of other blocks.
_PLAIN = re.compile(r"`(?!``)|\*\*(?=[^\s*])|_(?=[^\s_])|\[(?!\^|[ xX]\])[^\[\]\\\n]*\](?!:)")
# The first characters of lines that make another block of the text before them.
_AFTER_TEXT: Final = "=:~"
_SPACES = re.compile(r"[ \t]*")
_CHECKBOX = re.compile(r"\[([ xX])\][ \t]")
_ALERTS: Final = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})


def list_block(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse a list: items whose markers are of the same kind."""
    columns = state.sCount[start]
    # An item indented too deeply for its list is text of the item before it.
    if 0 <= state.listIndent <= columns - 4 and columns < state.blkIndent:
        return False
    marker = _MARKER.match(state.src, state.bMarks[start] + state.tShift[start])
    if marker is None:
        return False
    if silent and (state.parentType != "paragraph" or columns < state.blkIndent):
        return True
    if silent:
        # Only an item with text, and the number 1 if any, interrupts a paragraph.
        return marker.end() < state.eMarks[start] and int(marker[1][:-1] or 1) == 1
    parent, state.parentType = state.parentType, "list"
    lines = state.open("list", start)
    _items(state, marker, start, end)
    state.close("list", lines)
    state.parentType = parent
    return True


def _items(state: BlockState, marker: re.Match[str], line: int, end: int) -> None:
    """Parse a list's items; the first item has this ``marker``."""
    src, indent, rules_at = state.src, state.blkIndent, state.chains.ends_item
    starts, shifts, columns = state.bMarks, state.tShift, state.sCount
    mark = marker[1][-1]
    is_deep = state.level + 1 >= state.max_nesting
    simple = state.chains.simple_items and not (state.has_tabs or state.quotes or is_deep)
    while True:
        if not (simple and _simple_item(state, marker, line, end)):
            _item(state, marker, line, end)
        line = state.line
        if line >= end or not 0 <= columns[line] - indent < 4:
            return
        at = starts[line] + shifts[line]
        for rule in rules_at.get(src[at : at + 1], ()):
            if rule(state, line, end, True):
                return
        again = _MARKER.match(src, at)
        if again is None or again[1][-1] != mark:
            return
        marker = again


def _simple_item(state: BlockState, match: re.Match[str], line: int, end: int) -> bool:
    """Parse an item that is one paragraph, as most are; return False for any other.

    No line of the text begins like another block. After it comes an item that is not inside this
    one, or blank lines and then a line that is not.
    """
    src, others, rows = state.src, state.chains.starts, state.delimiter_rows
    starts, ends, shifts, columns = state.bMarks, state.eMarks, state.tShift, state.sCount
    content, last = match.end(), line + 1
    if (
        content >= ends[line]
        or content - match.end(1) > 4
        or (src[content] in others and not _PLAIN.match(src, content))
        or last in rows
        or state.tokens
    ):
        return False
    column = columns[line] + content - match.start(1)
    text = src[content : ends[line]]
    while last < end and (at := starts[last] + shifts[last]) < ends[last]:
        if columns[last] < min(column, state.blkIndent + 4) and _MARKER.match(src, at):
            break
        is_text = column <= columns[last] < column + 4 and src[at] not in others
        if not is_text or src[at] in _AFTER_TEXT or last + 1 in rows:
            return False
        text += "\n" + src[starts[last] + column : ends[last]]
        last += 1
    following = last
    while following < state.lineMax and starts[following] + shifts[following] >= ends[following]:
        following += 1
    if last < following < end and columns[following] >= column:
        return False
    state.line = following
    state.tree.item(line, last, match[1][:-1], text.strip(TRIMMED))
    return True


def _item(state: BlockState, match: re.Match[str], line: int, end: int) -> None:
    """Parse the item whose marker is matched."""
    start, shift, columns = state.bMarks[line], state.tShift[line], state.sCount[line]
    marker = match[1]
    content = match.end()
    width = columns + len(marker)
    text_column = column_after(state.src[match.end(1) : content], width, state.bsCount[line])
    # After more than four columns of space, code begins one column after the marker.
    gap = text_column - width if content < state.eMarks[line] else 1
    list_indent, indent = state.listIndent, state.blkIndent
    state.listIndent = indent
    state.blkIndent = width + (gap if gap <= 4 else 1)
    state.tShift[line] = content - start
    state.sCount[line] = text_column

    lines = state.open("item", line, marker[:-1])
    if state.tasklists and state.src.startswith("[", content) and gap <= 4:
        box = _CHECKBOX.match(state.src, content)
        if box:
            state.bMarks[line] = box.end()
            state.tShift[line] = 0
    if content >= state.eMarks[line] and state.isEmpty(line + 1):
        # An item that begins with two blank lines is empty.
        state.line = min(line + 2, end)
    else:
        state.md.block.tokenize(state, line, end)
    state.close("item", lines)
    state.listIndent, state.blkIndent = list_indent, indent
    state.bMarks[line], state.tShift[line], state.sCount[line] = start, shift, columns


def blockquote(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse a quote: lines after ``>``, and lines that continue a paragraph without ``>``."""
    if silent:
        return state.first_character(start) == ">"  # stock rules try any line
    parent, state.parentType = state.parentType, "blockquote"
    line_max, indent = state.lineMax, state.blkIndent
    changed: list[tuple[int, ...]] = []
    line = _quoted_lines(state, start, end, changed)
    state.blkIndent = 0
    state.quotes += 1
    is_alert = state.alerts and _is_alert(state, start)
    kind = "alert" if is_alert else "quote"
    lines = state.open(kind, start)
    state.line = line
    if start + is_alert < line:
        state.md.block.tokenize(state, start + is_alert, line)
    state.close(kind, lines)
    state.quotes -= 1
    state.lines_ahead -= line - state.line
    state.parentType, state.lineMax, state.blkIndent = parent, line_max, indent
    for number, begin, shift, columns, base in changed:
        state.bMarks[number] = begin
        state.tShift[number] = shift
        state.sCount[number] = columns
        state.bsCount[number] = base
    return True


def _quoted_lines(state: BlockState, line: int, end: int, changed: list[tuple[int, ...]]) -> int:
    """Skip the marks of a quote's lines, from ``line`` on, and return the line after the quote.

    ``changed`` receives each changed line's number and its previous entries in the line table.
    """
    src, indent = state.src, state.blkIndent
    starts, ends, shifts, columns = state.bMarks, state.eMarks, state.tShift, state.sCount
    empty = False
    while line < end:
        at = starts[line] + shifts[line]
        if at >= ends[line]:
            break
        depth = columns[line] - indent
        before = line, starts[line], shifts[line], columns[line], state.bsCount[line]
        if src[at] == ">" and depth >= 0:
            changed.append(before)
            empty = _take_mark_off(state, line, at + 1)
        elif empty:
            break
        elif depth < 4 and state.is_interrupted(line, end):
            # A paragraph inside does not continue after the block that ends the quote.
            state.lineMax = line
            break
        elif state.lines_ahead < 0:
            # Thousands of quotes end before lines that looked like theirs. Reading all of these
            # again for each quote would take quadratic time.
            break
        elif columns[line] != -1:
            # With fewer columns than any container requires, a line can only continue text.
            changed.append(before)
            columns[line] = -1
        line += 1
    return line


def _take_mark_off(state: BlockState, line: int, at: int) -> bool:
    """Move the start of ``line`` past its ``>``, and return whether the rest is empty.

    ``at`` is the position after the mark.
    """
    src = state.src
    columns = state.sCount[line] + 1
    base = state.bsCount[line]
    state.bsCount[line] = columns
    following = src[at : at + 1]
    if following in (" ", "\t"):
        # One space belongs to the mark; of a tab one column does.
        state.bsCount[line] += 1
        if following == " " or (base + columns) % 4 == 3:
            at += 1
            columns += 1
            following = src[at : at + 1]
        else:
            base += 1
    content, indent = at, 0
    if following in (" ", "\t"):
        spaces = _SPACES.match(src, at)
        content = spaces.end() if spaces else at
        indent = column_after(src[at:content], columns, base) - columns
    state.sCount[line] = indent
    state.bMarks[line] = at
    state.tShift[line] = content - at
    return content >= state.eMarks[line]


def column_after(spaces: str, column: int, base: int) -> int:
    """Return the column after ``spaces``, which begin at ``column``.

    ``base`` is added to a column to find the next tab stop.
    """
    if "\t" not in spaces:
        return column + len(spaces)
    for character in spaces:
        column += 4 - (column + base) % 4 if character == "\t" else 1
    return column


def _is_alert(state: BlockState, line: int) -> bool:
    """Return whether a quote's first line is the mark of an alert, such as ``[!NOTE]``."""
    at = state.bMarks[line] + state.tShift[line]
    text = state.src[at : state.eMarks[line]].rstrip(" \t")
    return text.startswith("[!") and text.endswith("]") and text[2:-1].upper() in _ALERTS
