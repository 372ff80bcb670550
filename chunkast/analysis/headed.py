"""Find the text right below headings, so that no cut separates a heading from its text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block
from chunkast.text.html import TAG
from chunkast.text.source_map import line_starts
from chunkast.text.white_space import WHITE_SPACE, is_blank

__all__ = ("Headed", "HeadedLeaves", "is_label")

# The first word of a text, with the marks before it.
_FIRST_WORD = re.compile(rf"(?:[^\w{WHITE_SPACE}]*[{WHITE_SPACE}])*[^{WHITE_SPACE}]+")


class Headed(NamedTuple):
    """A leaf of text right below headings.

    headings: the starts of the headings, in order. Only labels may be between them.
    start: the start of the leaf.
    word_end: the end of the leaf's first word.
    """

    headings: Sequence[int]
    start: int
    word_end: int


class HeadedLeaves:
    """Looks up, by position, the leaves right below a document's headings.

    ``text`` is the text that the parser read.
    """

    def __init__(self, text: str, leaves: Iterable[Block]) -> None:
        self._headed: list[Headed] = []
        above: list[int] = []
        for leaf in leaves:
            # Like a heading, a target never ends a chunk.
            if CONSTRUCTS[leaf.kind].section or leaf.kind == "target":
                above.append(leaf.start)
            elif above and not is_label(text, leaf) and not is_blank(text[leaf.start : leaf.end]):
                self._headed.append(Headed(above, leaf.start, _word_end(text, leaf)))
                above = []
        self._starts = [each.start for each in self._headed]

    def at(self, pos: int) -> Headed | None:
        """Return the first headed leaf at or after ``pos``.

        Returns None unless a heading above the leaf begins before ``pos``.
        """
        slot = bisect_left(self._starts, pos)
        headed = self._headed[slot] if slot < len(self._headed) else None
        return headed if headed and headed.headings[0] < pos else None

    def number(self, pos: int) -> int:
        """Return the number of headings that a cut at ``pos`` separates from the text below them."""
        headed = self.at(pos)
        return bisect_left(headed.headings, pos) if headed else 0


def is_label(text: str, leaf: Block) -> bool:
    """Return whether a leaf is a label without visible text, such as an anchor or a comment."""
    if not CONSTRUCTS[leaf.kind].labels:
        return False
    content = text[leaf.start : leaf.end]
    if not content.lstrip().startswith("<") or "<!--" in content:
        return True
    return is_blank(TAG.sub("", content))


def _word_end(text: str, leaf: Block) -> int:
    """Return the end of a leaf's first word; the opening line of a fence has none."""
    start = leaf.start
    if CONSTRUCTS[leaf.kind].fenced:
        start = line_starts(text, start, leaf.end)[1]
    word = _FIRST_WORD.match(text, start, leaf.end)
    return word.end() if word else leaf.end
