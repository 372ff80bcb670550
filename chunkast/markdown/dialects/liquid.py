"""Code between tags of Liquid (``{% highlight bash %}``) and shortcodes of Hugo."""

from __future__ import annotations

import re
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.dialects.containers import line_text

__all__ = ("highlight_block", "may_highlight")

_NAMES: Final = "highlight|codeblock|code-toggle|code"
_MAY_OPEN = re.compile(rf"\{{(?:%-?|\{{[<%])[ \t]*(?:{_NAMES})[ \t]")
# A tag on a line of its own. A fence in it has a language of its own.
_OPENER = re.compile(
    rf"\{{(?:%-?|\{{[<%])[ \t]*(?P<name>{_NAMES})(?P<info>(?:[ \t][^{{}}\n]*)?)"
    r"(?<!/)(?:%|[>%]\})\}[ \t]*\n(?![ \t>]*(?:```|~~~))"
)
_CLOSER = re.compile(
    rf"\{{(?:%-?[ \t]*end|\{{[<%][ \t]*/[ \t]*)(?P<name>{_NAMES})[ \t]*(?:-?%|[>%]\}})\}}"
)
_KEY: Final = "chunkast_highlights"


def may_highlight(text: str) -> bool:
    """Return whether ``text`` may have such tags."""
    return _MAY_OPEN.search(text) is not None


def highlight_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the lines from a tag to the one that closes it in the same container, as a fence."""
    opener = _OPENER.match(state.src, state.bMarks[start] + state.tShift[start])
    if opener is None or state.is_code_block(start):
        return False
    # By level and tag: the line before which no tag is closed, so that open tags take linear time.
    searched: dict[tuple[int, str], int] = state.env.setdefault(_KEY, {})
    tag, line = opener[0][1] + opener["name"], start + 1
    if start < searched.get((state.level, tag), 0):
        return False
    while line < end:
        text = line_text(state, line)
        if text and state.sCount[line] < state.blkIndent:
            break
        closer = _CLOSER.fullmatch(text)
        if closer and text[1] + closer["name"] == tag:
            if not silent:
                token = state.push("fence", "code", 0)
                token.info, token.map = opener["info"].rstrip(" \t-"), [start, line + 1]
                state.line = line + 1
            return True
        line += 1
    searched[state.level, tag] = line
    return False
