"""Parse Markdown in a fence that contains other fences with the same number of marks.

If a text consists of one ```` ```markdown ```` fence, the Markdown inside is parsed. Only white
space may surround the fence. Inner fences may have no language if they and the outer fence have
closing lines.

In other documents, a line with an info string inside a ```` ```markdown ```` fence opens an inner
fence. The outer fence ends at its closing line if a blank line or the end of the text follows. If
not, it ends as in CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.fence_lines import FENCE, closes
from chunkast.markdown.lines import add_leaf, lines_below

__all__ = ("answer_line", "may_nest", "nesting_fence")

_NOT_SPACE = re.compile(r"\S")
_FENCE = re.compile(rf"^ {{0,3}}{FENCE.pattern}$", re.MULTILINE)
_KEY: Final = "chunkast_answer"
_LANGUAGES: Final = ("markdown", "md")
# With a literal beginning each, which is found fast.
_MARKDOWN = tuple(
    re.compile(rf"{m}[ \t]*[Mm](?:d|arkdown)[ \t\r]*$", re.MULTILINE) for m in ("```", "~~~")
)


def answer_line(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Parse the outer fence's opening or closing line as a block."""
    lines: Mapping[int, str] | None = state.env.get(_KEY)
    if lines is None:
        lines = state.env[_KEY] = _outer_fence(state.src)
    if start not in lines:
        return False
    return add_leaf(state, lines[start], start, start + 1, silent=silent)


def _outer_fence(text: str) -> dict[int, str]:
    """Return the numbers and kinds of the lines of the outer fence, if any."""
    first = _NOT_SPACE.search(text)
    opening = _FENCE.match(text, text.rfind("\n", 0, first.start()) + 1) if first else None
    if opening is None or opening["info"].strip().lower() not in _LANGUAGES:
        return {}
    end = _closing(text, opening)
    if end < 0:
        return {}
    lines = {text.count("\n", 0, opening.start("run")): "answer"}
    if end < len(text):
        lines[text.count("\n", 0, end)] = "answer-end"
    return lines


def _closing(text: str, opening: re.Match[str]) -> int:
    """Return the start of the outer fence's closing line, or -1.

    If the closing line is missing, the result is the end of the text. It is -1 if the outer fence
    ends before the text does. A line with an info string opens an inner fence. A line without an
    info string closes the innermost fence if it is long enough; directly inside the outer fence, it
    opens an inner fence. If an earlier line could have closed the outer fence, the closing line
    must not be missing.
    """
    runs = [opening["run"]]
    end = len(text.rstrip())
    bare = may_be_closed = False
    for line in _FENCE.finditer(text, opening.end()):
        run = line["run"]
        bare_line = not line["info"].strip()
        ends = bare_line and closes(run, runs[-1])
        if ends and len(runs) > 1:
            runs.pop()
            bare = False
        elif ends and line.end() >= end:
            return line.start()
        elif not bare and (not bare_line or len(runs) == 1):
            runs.append(run)
            bare = bare_line
            may_be_closed = may_be_closed or ends
    return -1 if may_be_closed else len(text)


def may_nest(text: str) -> bool:
    """Return whether a fence in ``text`` may contain Markdown."""
    return any(pattern.search(text) for pattern in _MARKDOWN)


def nesting_fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a fence of Markdown that contains other fences."""
    opening = _line_of(state, start)
    info = opening["info"].strip() if opening else ""
    if opening is None or info.lower() not in _LANGUAGES:
        return False
    runs, has_inner = [opening["run"]], False
    for number in lines_below(state, start, end, "chunkast_nesting_left"):
        line = _line_of(state, number)
        if line is None:
            continue
        if line["info"].strip():
            runs.append(line["run"])
            has_inner = True
        elif closes(line["run"], runs[-1]):
            runs.pop()
        if not runs:
            after = number + 1
            if not has_inner or (after < end and not state.isEmpty(after)):
                break
            return add_leaf(state, "fence", start, after, silent=silent, info=info)
    return False


def _line_of(state: StateBlock, number: int) -> re.Match[str] | None:
    """Return the match of a line that opens or closes a fence, or ``None``."""
    if state.is_code_block(number):
        return None
    first = state.bMarks[number] + state.tShift[number]
    return FENCE.match(state.src, first, state.eMarks[number])
