"""Parse code between Liquid tags (``{% highlight bash %}``) and Hugo shortcodes."""

from __future__ import annotations

import re
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.lines import add_leaf, find_line

__all__ = ("MAY_HIGHLIGHT", "highlight_block")

_NAMES: Final = "highlight|codeblock|code-toggle|code"
# Matches in any text with such tags.
MAY_HIGHLIGHT: Final = re.compile(rf"\{{(?:%-?|\{{[<%])[ \t]*(?:{_NAMES})[ \t]")
# A tag on a line of its own. A fence in it has a language of its own.
_OPENER = re.compile(
    rf"\{{(?:%-?|\{{[<%])[ \t]*(?P<name>{_NAMES})(?P<info>(?:[ \t][^{{}}\n]*)?)"
    r"(?<!/)(?:%|[>%]\})\}[ \t]*\n(?![ \t>]*(?:```|~~~))"
)
# By the second character of the tag.
_CLOSERS: Final = {
    "%": r"\{%-?[ \t]*endname[ \t]*-?%\}\Z",
    "{": r"\{\{[<%][ \t]*/[ \t]*name[ \t]*[>%]\}\}\Z",
}


def highlight_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the lines from a tag to its closing tag in the same container, as a fence."""
    opener = _OPENER.match(state.src, state.bMarks[start] + state.tShift[start])
    if opener is None or state.is_code_block(start):
        return False
    closer = _CLOSERS[opener[0][1]].replace("name", opener["name"])
    last = find_line(state, start, end, closer, re.compile(closer).match)
    info = opener["info"].rstrip(" \t-")
    return add_leaf(state, "fence", start, last + 1, silent=silent, info=info)
