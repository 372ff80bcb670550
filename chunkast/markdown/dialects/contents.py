"""Tables of contents: lines with dot leaders and a page number.

Converters write them as paragraphs or, if the text is large or bold, as headings. Tables of
contents that are only separated by blank lines are joined into one block.
"""

from __future__ import annotations

import re
from typing import Final

from chunkast.markdown.blocks import Signs, new_block, relabelled
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block

__all__ = ("arrange_contents",)

_DOTS: Final = ".…·"
_LEADERS = re.compile(rf"[{_DOTS}][{_DOTS} \t_*]{{4,}}")
_LEAST: Final = 5
_PAGE = re.compile(r"(?:\d{1,5}|[ivxlcIVXLC]{1,8})(?!\w)")
# Fewer dots, at the end of a line that the title nearly fills.
_FEW = re.compile(r"(?:[ \t]\.){2,}[ \t_*]*\d{1,5}[ \t_*]*$")
_TAIL: Final = 40
# Matches in any line that may lead to a page; most texts have none. Each pattern begins with a
# literal, which is fast to search for.
_MAY_LEAD = tuple(
    (
        dot,
        re.compile(
            rf"{re.escape(dot)}(?=[ \t_*{_DOTS}])"
            rf"(?:(?:[ \t_*]*[{_DOTS}]){{{_LEAST - 1}}}|[ \t]\.[ \t_*]*\d)"
        ),
    )
    for dot in _DOTS
)
_LINE_END = re.compile(r"\r\n?|\n")


def arrange_contents(text: str, tree: Block, _signs: Signs) -> tuple[Block, list[tuple[int, int]]]:
    """Turn each table of contents at the top level into a "contents" leaf."""
    may_lead = [each for dot, each in _MAY_LEAD if dot in text and each.search(text)]
    if not may_lead:
        return tree, []
    children: list[Block] = []
    last = -1  # the index of the last table of contents, if only blank lines follow it
    for child in tree.children:
        construct = CONSTRUCTS[child.kind]
        if (
            (construct.plain or construct.section)
            and any(each.search(text, child.start, child.end) for each in may_lead)
            and _is_contents(text, child)
        ):
            if last >= 0:
                start = children[last].start
                del children[last:]
                child = new_block("contents", start, child.end)  # noqa: PLW2901
            last = len(children)
            children.append(relabelled("contents", child))
        else:
            last = last if construct.blank else -1
            children.append(child)
    return relabelled(tree.kind, tree, tuple(children)), []


def _is_contents(text: str, block: Block) -> bool:
    """Return whether at least half of a block's lines have dot leaders and a page number."""
    lines = [line for line in _LINE_END.split(text[block.start : block.end]) if line.strip()]
    return 2 * sum(map(_leads_to_page, lines)) >= len(lines) > 0


def _leads_to_page(line: str) -> bool:
    if _FEW.search(line.rstrip()[-_TAIL:]):
        return True
    return any(
        _PAGE.match(line, found.end()) and sum(map(found[0].count, _DOTS)) >= _LEAST
        for found in _LEADERS.finditer(line)
    )
