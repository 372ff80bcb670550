"""Parse definition lists, without mistaking other text for them.

The plugin reads every line after ``:`` and a space as a definition of the line above it, even after
a blank line. Here, a list begins only if its first ``:`` is on the line right after the term, or
has three spaces after it. A line that begins with ``:`` above a table is the table's caption.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from mdit_py_plugins.deflist import deflist_plugin

from chunkast.markdown.lines import line_text
from chunkast.markdown.pipe_tables import count_delimiters

__all__ = ("MAY_DEFINE", "add_definitions")

# Matches in any text with a definition.
MAY_DEFINE: Final = re.compile(r"\n[ \t>]*:[ \t]")
_NEXT_LINE = re.compile(r":[ \t]+\S")
_AFTER_BLANK = re.compile(r":(?: {3}|\t)[ \t]*\S")
_RULE: Final = "deflist"


def add_definitions(md: MarkdownIt) -> None:
    """Add the plugin with a stricter rule, unless the parser already has the plugin."""
    if _RULE in md.block.ruler.get_all_rules():
        return
    deflist_plugin(md)
    rules = dict(zip(md.block.ruler.get_active_rules(), md.block.ruler.getRules(""), strict=True))
    plugin = rules[_RULE]

    def rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return (silent or _begins(state, start, end)) and plugin(state, start, end, silent)

    md.block.ruler.at(_RULE, rule, {"alt": ["paragraph", "reference", "blockquote"]})


def _begins(state: StateBlock, term: int, end: int) -> bool:
    """Return whether the line ``term`` is a term with a definition below it."""
    line = _next_line(state, term, end)
    pattern = _NEXT_LINE if line == term + 1 else _AFTER_BLANK
    if (
        line == end
        or not 0 <= state.sCount[line] - state.blkIndent < 4
        or not pattern.match(line_text(state, line))
        or line_text(state, term).startswith(":")
    ):
        return False
    after = _next_line(state, line, end)
    table = [line_text(state, number) for number in range(after, min(after + 2, end))]
    return not any(row[:6].lower() == "<table" or count_delimiters(row) for row in table)


def _next_line(state: StateBlock, line: int, end: int) -> int:
    """Return the line after ``line``, or the one after that if it is blank, or ``end``."""
    after = line + 1
    return min(after + (after < end and state.isEmpty(after)), end)
