"""Rules for blocks without blocks inside: paragraphs, headings, fences, thematic breaks.

Each rule matches the same text as markdown-it's rule of the same name, including its quirks. A rule
is only tried on lines that begin with one of its characters and are not indented as code.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it import rules_block
from markdown_it.common.html_re import attribute, close_tag
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block.html_block import HTML_SEQUENCES

from chunkast.markdown.fast.state import TRIMMED, BlockState, Dispatch

__all__ = (
    "fence",
    "heading",
    "hr",
    "html_block",
    "lheading",
    "lheading_or_paragraph",
    "paragraph",
    "reference",
)

_HEADING = re.compile(r"#{1,6}(?=[ \t\n]|\Z)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*(?=\n|\Z)")
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
# tag, takes 160 bytes a character, and quadratic time if a value has white space beyond ASCII; here
# an attribute is matched without backtracking.
_HTML_KINDS: Final = (
    *HTML_SEQUENCES[:-1],
    (
        re.compile(
            rf"(?:<[A-Za-z][A-Za-z0-9\-]*(?:(?=(?P<a>{attribute}))(?P=a))*\s*/?>|{close_tag})\s*$"
        ),
        *HTML_SEQUENCES[-1][1:],
    ),
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
    state.add_heading(marks.end() - at, start, start + 1, text.strip(TRIMMED))
    return True


def hr(state: BlockState, start: int, _end: int, silent: bool) -> bool:
    """Parse a thematic break: ``***``, ``- - -`` or ``___``."""
    src, end = state.src, state.eMarks[start]
    at = state.bMarks[start] + state.tShift[start]
    marker = src[at]
    # Most list items return here.
    if src[end - 1] not in (marker, " ", "\t"):
        return False
    line = src[at:end]
    if line.strip(f"{marker} \t"):
        return False
    if line.count(marker) < 3:
        return False
    if silent:
        return True
    state.line = start + 1
    state.build(state.tree.leaf, "hr", start, start + 1)
    return True


def fence(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse a fenced code block, up to its closing line or the end of its container."""
    at = state.bMarks[start] + state.tShift[start]
    opening = state.src[at : state.eMarks[start]]
    marker = opening[0]
    info = opening.lstrip(marker)
    length = len(opening) - len(info)
    if length < 3 or (marker == "`" and "`" in info):
        return False
    if silent:
        return True
    line, closed = _fence_end(state, start, end, opening[:length])
    state.line = line + closed
    details = (0, "", info.strip(), closed)
    state.build(state.tree.leaf, "fence", start, state.line, details)
    return True


def _fence_end(state: BlockState, start: int, end: int, markup: str) -> tuple[int, bool]:
    """Return the line after a fence's code, and whether it is the closing line."""
    src, starts, ends, shifts = state.src, state.bMarks, state.eMarks, state.tShift
    columns, indent = state.sCount, state.blkIndent
    marker, length = markup[0], len(markup)
    for line in range(start + 1, end):
        at = starts[line] + shifts[line]
        if at >= ends[line]:
            if at == len(src):
                return line, False  # as in the stock rule; a line less, at the end of a quote
        elif columns[line] < indent:
            return line, False
        elif src[at] == marker and columns[line] - indent < 4:
            closing = src[at : ends[line]].rstrip(" \t")
            if len(closing) >= length and not closing.strip(marker):
                return line, True
    return end, False


def html_block(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse an HTML block, up to the end marker for its kind or a blank line."""
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
    state.build(state.tree.html, start, line)
    return True


def reference(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse ``[label]: destination``, with the stock rule unless the definition is simple."""
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
        _add_underlined(state, start, line, underline)
    return bool(underline)


def paragraph(state: BlockState, start: int, _end: int, _silent: bool) -> bool:
    """Parse a paragraph, up to the beginning of another block. Always matches."""
    # Text may continue lazily after the end of a quote, a heading may not.
    line, _ = _text_end(state, start + 1, state.lineMax, "")
    state.line = line
    state.add_paragraph(start, line)
    return True


def lheading_or_paragraph(state: BlockState, start: int, end: int, _silent: bool) -> bool:
    """Parse an underlined heading or a paragraph, reading the text only once."""
    line, underline = _text_end(state, start + 1, end, _UNDERLINE_MARKS)
    if underline:
        _add_underlined(state, start, line, underline)
        return True
    if end != state.lineMax:
        return paragraph(state, start, end, _silent)
    state.line = line
    state.add_paragraph(start, line)
    return True


def _add_underlined(state: BlockState, start: int, line: int, underline: str) -> None:
    state.line = line + 1
    depth = 1 if underline == "=" else 2
    state.add_heading(depth, start, line + 1, state.text_of(start, line))


def _text_end(state: BlockState, line: int, end: int, underlines: str) -> tuple[int, str]:
    """Return the first line after a paragraph's text, and the mark of its underline, or "".

    The search begins at ``line``. A line of one of the characters in ``underlines`` turns the text
    into a heading.
    """
    src, indent = state.src, state.blkIndent
    starts, ends, shifts, columns = state.bMarks, state.eMarks, state.tShift, state.sCount
    rules_at: Dispatch = state.ends_paragraph
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
