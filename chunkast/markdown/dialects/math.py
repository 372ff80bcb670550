r"""Parse LaTeX: headings such as ``\section{Title}`` on lines of their own, and math.

Blocks of math are ``$$ ... $$``, ``\begin{name} ... \end{name}`` and ``\[ ... \]``.

Formulas in prose are ``$...$``, ``$$...$$``, ``\(...\)`` and ``\[...\]``. Markdown reads ``\(`` and
``\[`` as escaped brackets, so the last two must contain a sign of TeX.

The plugins search the rest of the document for the closing delimiter of every opener, which takes
quadratic time if openers are never closed. Here, math never contains a blank line, and the closing
line is remembered for all openers above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from operator import eq, methodcaller
from typing import Final

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from chunkast.markdown.lines import add_leaf, find_line, line_text
from chunkast.markdown.scanner import Scanner

__all__ = ("MAY_HEAD", "formula", "math_block", "section_line", "title")

_BEGIN = re.compile(r"\\begin\{([A-Za-z]{1,64}\*?)\}")
# At the end of a stripped line; a label or Quarto's id may follow.
_DOLLARS = re.compile(r"\$\$(?:[ \t]{0,8}(?:\([^()$]{0,200}\)|\{#[^{}$]{0,200}\}))?$")
_IN_TITLE = re.compile(
    r"\$\$(?:[^$\\]|\\.)+\$\$(?!\$)|\$(?![\s$])(?:[^$\\]|\\.)*(?<!\s)\$(?![\d$])", re.DOTALL
)
# The beginning of a heading, and all of it; a label may follow.
MAY_HEAD: Final = re.compile(r"\\(part|chapter|(?:sub){0,2}section)\*?(?:\[[^\[\]]*\])?\{")
_HEADING = re.compile(rf"{MAY_HEAD.pattern}(.+?)\}}(?:[ \t]*\\label\{{[^{{}}]*\}})?")
_LEVELS: Final = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}
_RUN = re.compile(r"\$+")
_ESCAPED = re.compile(r"\\[^\r\n]")
# The lines that open and close a block in brackets.
_OPENER, _CLOSER = r"\[", r"\]"
_OPENERS: Final = {r"\)": r"\(", _CLOSER: _OPENER}
# A sign of TeX; markup that formulas do not have, but text in escaped brackets may; a variable.
_TEX = re.compile(r"\\[A-Za-z]|[={]|(?<!\\)[_^]")
_NO_TEX = re.compile(r"\]\(|`|://|</")
_VARIABLE = re.compile(r"\(\s*[^\W\d_]\s*")


def math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a block of math, as a block rule for markdown-it."""
    line = line_text(state, start)
    if state.is_code_block(start):
        return False
    opener, inside = line[:2], line[2:]
    closes: Callable[[str], object] = _DOLLARS.search
    if line == _OPENER:
        closes = partial(eq, _CLOSER)
    elif match := _BEGIN.match(line):
        opener, closes = match[0], methodcaller("endswith", f"\\end{{{match[1]}}}")
    elif opener != "$$" or ("$$" in inside and not closes(inside)):
        return False  # "$$a$$ and more" is a paragraph
    last = start
    if not closes(inside):
        last = find_line(state, start, end, opener, lambda text: not text or closes(text))
    after = last + 1 if last >= 0 and line_text(state, last) else 0
    return add_leaf(state, "math_block", start, after, silent=silent)


def section_line(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Parse a heading of LaTeX on a line of its own."""
    found = _HEADING.fullmatch(line_text(state, start))
    if found is None or state.is_code_block(start):
        return False
    if not silent:
        tag = f"h{_LEVELS[found[1]]}"
        state.push("heading_open", tag, 1).map = [start, start + 1]
        state.push("inline", "", 0).content = found[2].strip()
        state.push("heading_close", tag, -1)
        state.line = start + 1
    return True


def formula(scanner: Scanner, pos: int) -> int:
    """Return the end of the formula that begins at ``pos`` inside prose.

    Without a formula, return the end of the run of dollars there, or -1 if there is none.
    """
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
