r"""Math: blocks ``$$ ... $$``, ``\begin{name} ... \end{name}``, ``\[ ... \]``, and formulas in prose.

In prose, formulas are ``$...$``, ``$$...$$``, ``\(...\)`` and ``\[...\]``. Markdown reads ``\(`` and
``\[`` as escaped brackets, so the last two need a sign of TeX inside.

The plugins search the rest of the document for the closing delimiter of every opener, which takes
quadratic time if openers are never closed. Here, the lines that can close a block are collected
once per document, and an opener finds its closer by bisection. Math never contains a blank line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from chunkast.markdown.dialects.containers import line_text
from chunkast.markdown.lines import add_leaf
from chunkast.markdown.scanner import Scanner

__all__ = ("formula", "math_block", "title")

_BEGIN = re.compile(r"\\begin\{([A-Za-z]{1,64}\*?)\}")
_END = re.compile(r"\\end\{([A-Za-z]{1,64}\*?)\}$")
# At the end of a stripped line; a label or Quarto's id may follow.
_DOLLARS = re.compile(r"\$\$(?:[ \t]{0,8}(?:\([^()$]{0,200}\)|\{#[^{}$]{0,200}\}))?$")
_IN_TITLE = re.compile(
    r"\$\$(?:[^$\\]|\\.)+\$\$(?!\$)|\$(?![\s$])(?:[^$\\]|\\.)*(?<!\s)\$(?![\d$])", re.DOTALL
)
_RUN = re.compile(r"\$+")
_ESCAPED = re.compile(r"\\[^\r\n]")
# The lines that open and close a block in brackets.
_OPENER, _CLOSER = r"\[", r"\]"
_OPENERS: Final = {r"\)": r"\(", _CLOSER: _OPENER}
# A sign of TeX; markup that formulas do not have, but text in escaped brackets may; a variable.
_TEX = re.compile(r"\\[A-Za-z]|[={]|(?<!\\)[_^]")
_NO_TEX = re.compile(r"\]\(|`|://|</")
_VARIABLE = re.compile(r"\(\s*[^\W\d_]\s*")
_KEY: Final = "chunkast_math_closers"
# Keeps the check of a block's indentation linear.
_MAX_LINES = 1_000


def _closers(state: StateBlock) -> Mapping[str, list[int]]:
    """Return the numbers of the lines that end a block, by environment, and of blank lines (``""``)."""
    closers = defaultdict[str, list[int]](list)
    for line, (start, end) in enumerate(zip(state.bMarks, state.eMarks, strict=True)):
        text = state.src[start:end].rstrip()
        if not text:
            closers[""].append(line)
        elif "$$" in text and _DOLLARS.search(text):
            closers["$$"].append(line)
        elif text.endswith(_CLOSER) and text.lstrip(" \t>") == _CLOSER:
            closers[_OPENER].append(line)
        elif "\\end{" in text and (match := _END.search(text)):
            closers[match.group(1)].append(line)
    return closers


def math_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Parse a block of math; a block rule for markdown-it."""
    line = line_text(state, start_line)
    if state.is_code_block(start_line):
        return False
    if line.startswith("$$"):
        name, inside = "$$", line[2:]
        closes_here = bool(_DOLLARS.search(inside))
        if inside.find("$$") >= 0 and not closes_here:
            return False  # "$$a$$ and more" is a paragraph
    elif line == _OPENER:
        name, closes_here = line, False
    elif match := _BEGIN.match(line):
        name = match.group(1)
        closing = _END.search(line)
        closes_here = closing is not None and closing.group(1) == name
    else:
        return False
    last = start_line if closes_here else _closing_line(state, name, start_line + 1, end_line)
    return add_leaf(state, "math_block", start_line, last + 1, silent=silent)


def _closing_line(state: StateBlock, name: str, first: int, end_line: int) -> int:
    """Return the line that closes the math environment ``name``, or -1 if it is not closed.

    The closing line must come before the next blank line and before the end of the container.
    """
    if _KEY not in state.env:
        state.env[_KEY] = _closers(state)
    end = min(end_line, first + _MAX_LINES)
    last, blank = (_from(state.env[_KEY][key], first, end) for key in (name, ""))
    if last == end or blank < last:
        return -1
    # A line indented less than the container's content ends the container.
    if any(state.sCount[line] < state.blkIndent for line in range(first, last + 1)):
        return -1
    return last


def _from(lines: Sequence[int], first: int, end: int) -> int:
    """Return the first of the sorted ``lines`` in ``[first, end)``, or ``end``."""
    slot = bisect_left(lines, first)
    return min(lines[slot], end) if slot < len(lines) else end


def formula(scanner: Scanner, pos: int) -> int:
    """Match a formula inside prose; return its end, or the end of the run of dollars."""
    if scanner.formula_ends is None:
        scanner.formula_ends = _dollar_ends(scanner.text) | _bracket_ends(scanner.text)
    end = scanner.formula_ends.get(pos, -1)
    if end >= 0:
        return scanner.take(pos, end, "math")
    run = _RUN.match(scanner.text, pos)
    return run.end() if run else -1


def _bracket_ends(text: str) -> dict[int, int]:
    """Return a map from the start of each formula in brackets to its end."""
    ends: dict[int, int] = {}
    open_at: dict[str, int] = {}
    for match in _ESCAPED.finditer(text):
        opener = _OPENERS.get(match[0])
        if opener is None:
            open_at[match[0]] = match.start()
        elif opener in open_at:
            start = open_at.pop(opener)
            inside = text[start + 1 : match.start()]
            # In "file\(s\)", the letter is the end of a word.
            if (_VARIABLE.fullmatch(inside) and not text[max(start - 1, 0) : start].isalnum()) or (
                _TEX.search(inside, 1) and not _NO_TEX.search(inside)
            ):
                ends[start] = match.end()
    return ends


def _dollar_ends(text: str) -> dict[int, int]:
    """Return a map from the start of each formula to its end.

    By Pandoc's rule, there is no space inside the delimiters and no digit after the closing one.
    """
    ends: dict[int, int] = {}
    open_at: dict[int, int] = {}
    for match in _RUN.finditer(text):
        start, end = match.span()
        length = end - start
        if length > 2 or text[max(start - 1, 0) : start] == "\\":
            continue
        before, after = text[start - 1 : start], text[end : end + 1]
        closes = length == 2 or not (before.isspace() or after.isdecimal())
        if closes and length in open_at:
            ends[open_at[length]] = end
            open_at.clear()
        elif length == 2 or (after and not after.isspace()):
            open_at[length] = start
    return ends


def title(state: StateInline, silent: bool) -> bool:
    """Keep math in a title unchanged."""
    match = _IN_TITLE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.pending += match[0]
    state.pos = match.end()
    return True
