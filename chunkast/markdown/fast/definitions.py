"""The rule for definition lists: what the plugin ``deflist`` does, quirks included.

Made from tokens alone, a list of thousands of definitions takes 300 bytes a byte.
"""

from __future__ import annotations

import re

from chunkast.markdown.fast.containers import column_after, hide_paragraphs
from chunkast.markdown.fast.state import BlockState, closing_token, new_token

__all__ = ("deflist",)

# A definition's mark, and the space between it and its text.
_MARK = re.compile(r"[:~]([ \t]+)(?=[^ \t\n])")


def deflist(state: BlockState, start: int, end: int, silent: bool) -> bool:
    """Terms, each a line, with definitions after ``:`` or ``~``."""
    if silent:
        # Only in a definition does another one end a paragraph.
        return state.ddIndent >= 0 and _mark(state, start) is not None
    line = _definition_line(state, start, end)
    if line < 0:
        return False
    lines = [start, 0]
    first = len(state.tokens)
    _open(state, "dl", "definition-list", lines)
    tight = _push_terms(state, start, line, end)
    lines[1] = state.line
    _close(state, "dl", "definition-list")
    if tight and state.tree is None:
        hide_paragraphs(state, first)
    return True


def _mark(state: BlockState, line: int) -> re.Match[str] | None:
    return _MARK.match(state.src, state.bMarks[line] + state.tShift[line])


def _definition_line(state: BlockState, term: int, end: int) -> int:
    """The line of the first definition of the term on the line ``term``, or -1."""
    line = term + 1
    if line < end and state.isEmpty(line):
        line += 1
    inside = line < end and state.sCount[line] >= state.blkIndent
    return line if inside and _mark(state, line) else -1


def _push_terms(state: BlockState, term: int, line: int, end: int) -> bool:
    """The terms from the line ``term`` on, the first's definition at ``line``; whether tight."""
    tight = True
    begin = line
    while True:
        _push_term(state, term)
        blank_after = False
        while True:
            tight_inside = _push_definition(state, line, begin, end)
            tight = tight and tight_inside and not blank_after
            begin = state.line
            blank_after = begin - line > 1 and state.isEmpty(begin - 1)
            if begin >= end or state.sCount[begin] < state.blkIndent:
                return tight
            if _mark(state, begin) is None:
                break
            line = begin
        term = begin
        line = -1 if state.isEmpty(term) else _definition_line(state, term, end)
        if line < 0:
            return tight


def _push_term(state: BlockState, line: int) -> None:
    if state.tree is not None:
        state.build(state.tree.leaf, "term", line, line + 1)
        return
    level = state.level
    text = state.getLines(line, line + 1, state.blkIndent, keepLastLF=False).strip()
    state.tokens += (
        new_token("dt_open", "dt", 1, level, [line, line]),
        new_token("inline", "", 0, level + 1, [line, line], text, "", []),
        closing_token("dt_close", "dt", level),
    )


def _push_definition(state: BlockState, line: int, begin: int, end: int) -> bool:
    """Parse the definition at ``line``; whether it is tight. Its token begins at ``begin``."""
    found = _mark(state, line)
    assert found is not None
    lines = [begin, 0]
    _open(state, "dd", "definition", lines)
    shift, columns = state.tShift[line], state.sCount[line]
    before = state.tight, state.ddIndent, state.blkIndent, state.parentType
    state.blkIndent = state.ddIndent = columns + 2
    state.tShift[line] = found.end() - state.bMarks[line]
    state.sCount[line] = column_after(found[1], columns + 1, 0)
    state.tight = True
    state.parentType = "deflist"
    state.md.block.tokenize(state, line, end)
    tight = state.tight
    state.tShift[line], state.sCount[line] = shift, columns
    state.tight, state.ddIndent, state.blkIndent, state.parentType = before
    lines[1] = state.line
    _close(state, "dd", "definition")
    return tight


def _open(state: BlockState, tag: str, kind: str, lines: list[int]) -> None:
    if state.tree is not None:
        state.build(state.tree.open, kind, lines)
    else:
        state.tokens.append(new_token(f"{tag}_open", tag, 1, state.level, lines))
    state.level += 1


def _close(state: BlockState, tag: str, kind: str) -> None:
    state.level -= 1
    if state.tree is not None:
        state.build(state.tree.close, kind)
    else:
        state.tokens.append(closing_token(f"{tag}_close", tag, state.level))
