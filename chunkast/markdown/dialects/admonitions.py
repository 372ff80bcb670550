"""MkDocs admonitions and content tabs: an opening line, and the indented text below it.

    !!! note "Title"            ??? note, ???+ note            === "Tab"
        Four columns in.

The plugin of the same name ends a block at any two blank lines, even inside Python code. Here, a
block ends at text that is indented by less than four columns.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.containers import line_text, push_container

__all__ = ("admonition",)

_OPENER = re.compile(r"(?P<mark>!!!|\?\?\?\+?)[ \t]*(?P<about>\S.*)")
# An opener that needs no indented text after it: words, and a title in quotes.
_PLAIN = re.compile(r"(?:[\w-]+(?: +[\w-]+)*)?(?: *\"[^\"]*\")?")
_TAB = re.compile(r"(?P<mark>===[!+]{0,2})[ \t]+(?P<about>\"[^\"]+\")")
_INDENTATION: Final = 4


def admonition(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Parse an admonition or a content tab; a block rule for markdown-it."""
    line = line_text(state, start_line)
    found = _TAB.fullmatch(line) or _OPENER.fullmatch(line)
    if found is None or state.is_code_block(start_line):
        return False
    indent = state.blkIndent + _INDENTATION
    following = start_line + 1
    if not (
        found.re is _TAB
        or _PLAIN.fullmatch(found["about"])
        or (
            following < end_line
            and not state.isEmpty(following)
            and state.sCount[following] >= indent
        )
    ):
        return False
    if silent:
        return True
    last = _last_line(state, following, end_line, indent)
    info = f"tab {found['about']}" if found.re is _TAB else found["about"]
    push_container(state, start_line, last, found["mark"], info, "admonition", _INDENTATION)
    state.line = last
    return True


def _last_line(state: StateBlock, line: int, end_line: int, indent: int) -> int:
    """Return the line after the last line that is sufficiently indented and not blank."""
    last = line
    while line < end_line:
        if not state.isEmpty(line):
            if state.sCount[line] < indent:
                break
            last = line + 1
        line += 1
    return last
