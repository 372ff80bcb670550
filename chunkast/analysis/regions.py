"""Protected regions: the blocks that are not cut if they fit the budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from chunkast.markdown.kinds import kinds_where
from chunkast.model import Block, ProtectedRegion
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("find_regions", "opening_column", "opening_line")

_PROTECTED: Final = kinds_where("protected")
# The first run of a fence's opening line, and the rest of that line.
_OPENING = re.compile(r"[^\r\n]*?((?:`{3,}|~{3,})[^\r\n]*)")


def opening_line(text: str, fence: Block) -> str:
    """Return a fence's opening line without its indentation or container prefix."""
    opening = _OPENING.match(text, fence.start, fence.end)
    return opening[1].rstrip(WHITE_SPACE) if opening else ""


def opening_column(text: str, fence: Block) -> int:
    """Return the number of characters before the fence marker on a fence's opening line."""
    opening = _OPENING.match(text, fence.start, fence.end)
    return opening.start(1) - fence.start if opening else 0


def find_regions(
    text: str, tree: Block, tags: Sequence[tuple[int, int]] = ()
) -> list[ProtectedRegion]:
    """Return a region for each protected block of ``tree`` and each span in ``tags``, sorted.

    A region ends with the last character of the block's last line. A fence that is never closed
    extends to the end of the text. If regions begin at the same position, the longest comes first.
    """
    regions: list[ProtectedRegion] = []
    _add_protected(text, tree, regions)
    if tags:
        regions.extend(ProtectedRegion(start, _line_end(text, end), "tag") for start, end in tags)
        regions.sort(key=lambda region: (region.start, -region.end))
    return regions


def _add_protected(text: str, block: Block, regions: list[ProtectedRegion]) -> None:
    for child in block.children:
        if child.kind in _PROTECTED:
            end = _region_end(text, child)
            if child.start < end:
                regions.append(ProtectedRegion(child.start, end, child.kind))
        if child.children:
            _add_protected(text, child, regions)


def _region_end(text: str, block: Block) -> int:
    unclosed = not block.closed and block.end == len(text)
    return block.end if unclosed else _line_end(text, block.end)


def _line_end(text: str, end: int) -> int:
    """Return ``end``, or the start of the line ending if one ends there."""
    if text.endswith("\n", 0, end):
        end -= 1
    if text.endswith("\r", 0, end):
        end -= 1
    return end
