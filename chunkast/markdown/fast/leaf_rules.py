"""Parse blocks without blocks inside: paragraphs, headings, fences, HTML, tables.

Each rule matches the same text as markdown-it's rule of the same name, including its quirks. No
rule is tried on a line that is indented as code. Stock rules may try a rule on any other line, to
find whether it interrupts their text.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it import rules_block
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block.html_block import HTML_SEQUENCES

from chunkast.markdown.blocks import NO_DETAILS
from chunkast.markdown.fast.state import TRIMMED, BlockState, Dispatch
from chunkast.markdown.fence_lines import FENCE, closes
from chunkast.markdown.inline import HTML_TAG
from chunkast.markdown.pipe_tables import count_cells, count_delimiters

__all__ = (
    "fence",
    "heading",
    "hr",
    "html_block",
    "lheading",
    "paragraph",
    "reference",
    "table",
)

_HEADING = re.compile(r"#{1,6}(?=[ \t\n]|\Z)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*(?=\n|\Z)")
_BREAK = re.compile(
    r"(?:-[ \t]*-[ \t]*-[- \t]*|\*[ \t]*\*[ \t]*\*[* \t]*|_[ \t]*_[ \t]*_[_ \t]*)(?=\n|\Z)"
)
_UNDERLINE_MARKS: Final = "=-"
# A link definition on one line, with nothing to be escaped or decoded.
_PLAIN_DEFINITION = re.compile(
    r"\[([^\[\]\\\n]+)\]:[ \t]*"
    r"((?:https?://[a-z0-9]{1,15}(?:[.-][a-z0-9]{1,15}){0,3}(?![\w.-])|(?=[\w./#])(?!//))"
    r"[\w./-]*(?:\#[\w./-]*)?)[ \t]*(?=\n|\Z)",
    re.ASCII,
)
# The beginning and end of each kind of raw HTML (an end that matches the empty string is a blank
# line), and whether it interrupts a paragraph. The stock pattern of the last kind, a line of one
# tag, takes quadratic time if a value has white space beyond ASCII.
_HTML_KINDS: Final = (
    *HTML_SEQUENCES[:-1],
    (re.compile(rf"{HTML_TAG.pattern}\s*$"), *HTML_SEQUENCES[-1][1:]),
)
# The kinds to try, by the character after ``<``; "" for any other.
_HTML_KINDS_AT: Final = {
    "!": (_HTML_KINDS[1], *_HTML_KINDS[3:5]),
    "?": _HTML_KINDS[2:3],
    "": (_HTML_KINDS[0], *_HTML_KINDS[5:]),
}
_TITLE_MARKS: Final = ('"', "'", "(")
# The characters searched for a blank line, few enough for each of many paragraphs.
_MAX_LOOK_AHEAD: Final = 1_000
# markdown-it fills rows up to the header's width, but only with this many cells.
_MAX_FILLED_CELLS: Final = 65_536


def heading(state: BlockState, start: int, _end: int, silent: bool) -> bool:
    """Parse a heading such as ``# Title ##``."""
    at = state.bMarks[start] + state.tShift[start]
    marks = _HEADING.match(state.src, at)
    if marks is None:
        return False
    if silent:
        return True
    text = state.src[marks.end() : state.eMarks[start]].rstrip(" \t")
    unmarked = text.rstrip("#")
    if unmarked.endswith((" ", "\t")):
        text = unmarked
    state.line = start + 1
    details = marks.end() - at, text.strip(TRIMMED), "", True
    state.build(state.tree.leaf, "heading", start, state.line, details)
    return True


def fence(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse a fenced code block; without a closing line, it ends with its container."""
    at = state.bMarks[start] + state.tShift[start]
    opening = FENCE.match(state.src, at, state.eMarks[start])
    if opening is None or silent:
        return opening is not None
    line, closed = _fence_end(state, start, end, opening["run"])
    state.line = line + closed
    details = (0, "", opening["info"].strip(), closed)
    state.build(state.tree.leaf, "fence", start, state.line, details)
    return True


def _fence_end(state: BlockState, start: int, end: int, run: str) -> tuple[int, bool]:
    """Return the line after a fence's code, and whether it is the closing line."""
    src, starts, ends, shifts = state.src, state.bMarks, state.eMarks, state.tShift
    columns, indent, marker = state.sCount, state.blkIndent, run[0]
    for line in range(start + 1, end):
        at = starts[line] + shifts[line]
        if at >= ends[line]:
            if at == len(src):
                return line, False  # as in the stock rule; a line less, at the end of a quote
        elif columns[line] < indent:
            return line, False
        elif (
            src[at] == marker
            and columns[line] - indent < 4
            and closes(src[at : ends[line]].rstrip(" \t"), run)
        ):
            return line, True
    return end, False


def hr(state: BlockState, start: int, _end: int, silent: bool) -> bool:
    """Parse a thematic break: three or more identical marks, optionally separated by blanks."""
    if not _BREAK.match(state.src, state.bMarks[start] + state.tShift[start]):
        return False
    if not silent:
        state.line = start + 1
        state.build(state.tree.leaf, "hr", start, start + 1)
    return True


def html_block(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse an HTML block, up to its kind's end marker, or a blank line if the kind has none."""
    src, starts, ends, shifts = state.src, state.bMarks, state.eMarks, state.tShift
    text = src[starts[start] + shifts[start] : ends[start]]
    for kind in _HTML_KINDS_AT.get(text[1:2], _HTML_KINDS_AT[""]):
        if kind[0].match(text):
            break
    else:
        return False
    _, closing, interrupts = kind
    if silent:
        return interrupts
    at_blank = closing.search("") is not None
    closed = not at_blank and closing.search(text) is not None
    line = start + 1
    while line < end and not closed:
        at = starts[line] + shifts[line]
        if at >= ends[line]:
            if at_blank:
                break
        elif state.sCount[line] < state.blkIndent:
            break
        elif not at_blank:
            closed = closing.search(src, at, ends[line]) is not None
        line += 1
    state.line = line
    state.build(state.tree.leaf, "html", start, line)
    return True


def reference(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse ``[label]: destination``; use the stock rule unless the definition is simple."""
    at = state.bMarks[start] + state.tShift[start]
    # A definition needs "]:" before the next empty line.
    text_end = state.src.find("\n\n", at, at + _MAX_LOOK_AHEAD)
    if text_end >= 0 and state.src.find("]:", at, text_end) < 0:
        return False
    plain = _PLAIN_DEFINITION.match(state.src, at)
    following = start + 1
    if plain and (
        following >= state.lineMax
        or state.isEmpty(following)
        or state.first_character(following) not in _TITLE_MARKS
    ):
        label = normalizeReference(plain[1])
        if label and label not in state.env.get("references", ()):
            definition = {"title": "", "href": plain[2], "map": [start, following]}
            state.env.setdefault("references", {})[label] = definition
            state.line = following
            return True
    return rules_block.reference(state, start, end, silent)


def lheading(state: BlockState, start: int, end: int, _silent: bool) -> bool:
    """Parse a heading that is underlined with ``=`` or ``-``."""
    line, underline = _text_end(state, start + 1, end, _UNDERLINE_MARKS)
    if underline:
        state.line = line + 1
        details = _UNDERLINE_MARKS.index(underline) + 1, state.text_of(start, line), "", True
        state.build(state.tree.leaf, "heading", start, state.line, details)
    # The rule for paragraphs, which is tried next, would read the same lines.
    state.text_read = start, end, line
    return bool(underline)


def paragraph(state: BlockState, start: int, _end: int, _silent: bool) -> bool:
    """Parse a paragraph, up to the beginning of another block. Always matches."""
    first, end, line = state.text_read
    # Text may continue lazily after the end of a quote, a heading may not.
    if first != start or end != state.lineMax:
        line, _ = _text_end(state, start + 1, state.lineMax, "")
    state.line = line
    details = (0, state.text_of(start, line), "", True) if state.level else NO_DETAILS
    state.build(state.tree.leaf, "paragraph", start, line, details)
    return True


def _text_end(state: BlockState, line: int, end: int, underlines: str) -> tuple[int, str]:
    """Return the first line after a paragraph's text, and the mark of its underline, or "".

    The search begins at ``line``. A line of one of the characters in ``underlines`` turns the text
    into a heading.
    """
    src, indent = state.src, state.blkIndent
    starts, ends, shifts, columns = state.bMarks, state.eMarks, state.tShift, state.sCount
    rules_at: Dispatch = state.chains.ends_paragraph
    other = rules_at[""]
    state.parentType = "paragraph"
    while line < end:
        at = starts[line] + shifts[line]
        if at >= ends[line]:
            break
        depth = columns[line] - indent
        # A line indented as code continues the paragraph, whatever it is.
        if depth <= 3:
            mark = src[at]
            if mark in underlines and depth >= 0 and _UNDERLINE.match(src, at):
                return line, mark
            # The quote has already checked lines that continue its text lazily.
            if columns[line] >= 0:
                for rule in rules_at.get(mark, other):
                    if rule(state, line, end, True):
                        return line, ""
        line += 1
    return line, ""


def table(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse a table: a header, a delimiter row of the same width, and rows of any width."""
    body = start + 2
    if body - 1 not in state.delimiter_rows or body > end:
        return False
    if not 0 <= state.sCount[body - 1] - state.blkIndent < 4:
        return False
    width = count_delimiters(_line(state, body - 1))
    header = _line(state, start).strip(TRIMMED)
    if not width or "|" not in header or count_cells(header) != width:
        return False
    if silent:
        return True
    parent, state.parentType = state.parentType, "table"
    state.line = _rows_end(state, body, end, width)
    state.build(state.tree.leaf, "table", start, state.line)
    state.parentType = parent
    return True


def _rows_end(state: BlockState, line: int, end: int, width: int) -> int:
    """Return the line after a table's rows, which begin at ``line``.

    ``width`` is the number of columns.
    """
    filled = 0
    while line < end and 0 <= state.sCount[line] - state.blkIndent < 4:
        row = _line(state, line).strip(TRIMMED)
        if not row or state.is_interrupted(line, end):
            break
        filled += width - count_cells(row)
        if filled > _MAX_FILLED_CELLS:
            break
        line += 1
    return line


def _line(state: BlockState, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
