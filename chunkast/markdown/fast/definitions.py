"""The rule for definition lists, which works like the plugin ``deflist`` but without tokens.

For a list of thousands of definitions, tokens would take 300 bytes per byte of text.
"""

from __future__ import annotations

import re

from chunkast.markdown.fast.containers import column_after
from chunkast.markdown.fast.state import BlockState

__all__ = ("deflist",)

# A definition's mark, and the space between it and its text.
_MARK = re.compile(r"[:~]([ \t]+)(?=[^ \t\n])")


def deflist(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Parse a definition list: terms, one line each, and definitions after ``:`` or ``~``."""
    if silent:
        # Another definition ends a paragraph only inside a definition.
        return state.ddIndent >= 0 and _mark(state, start) is not None
    line = _definition_line(state, start, end)
    if line < 0:
        return False
    lines = state.open("definition-list", start)
    _add_terms(state, start, line, end)
    state.close("definition-list", lines)
    return True


def _mark(state: BlockState, line: int) -> re.Match[str] | None:
    return _MARK.match(state.src, state.bMarks[line] + state.tShift[line])


def _definition_line(state: BlockState, term: int, end: int) -> int:
    """Return the line of the first definition for the term on line ``term``, or -1."""
    line = term + 1
    if line < end and state.isEmpty(line):
        line += 1
    inside = line < end and state.sCount[line] >= state.blkIndent
    return line if inside and _mark(state, line) else -1


def _add_terms(state: BlockState, term: int, line: int, end: int) -> None:
    """Add the terms from line ``term`` on; the first definition is on the line ``line``."""
    begin = line
    while True:
        state.build(state.tree.leaf, "term", term, term + 1)
        while True:
            _add_definition(state, line, begin, end)
            begin = state.line
            if begin >= end or state.sCount[begin] < state.blkIndent:
                return
            if _mark(state, begin) is None:
                break
            line = begin
        term = begin
        line = -1 if state.isEmpty(term) else _definition_line(state, term, end)
        if line < 0:
            return


def _add_definition(state: BlockState, line: int, begin: int, end: int) -> None:
    """Parse the definition at ``line``, whose block begins at line ``begin``."""
    found = _mark(state, line)
    assert found is not None
    lines = state.open("definition", begin)
    shift, columns = state.tShift[line], state.sCount[line]
    before = state.ddIndent, state.blkIndent, state.parentType
    state.blkIndent = state.ddIndent = columns + 2
    state.tShift[line] = found.end() - state.bMarks[line]
    state.sCount[line] = column_after(found[1], columns + 1, 0)
    state.parentType = "deflist"
    state.md.block.tokenize(state, line, end)
    state.tShift[line], state.sCount[line] = shift, columns
    state.ddIndent, state.blkIndent, state.parentType = before
    state.close("definition", lines)
