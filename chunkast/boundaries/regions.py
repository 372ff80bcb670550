"""Protected regions: the blocks that are not cut while they fit the budget."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block, ProtectedRegion
from chunkast.text.source_map import line_starts

__all__ = ("fence_lines", "find_regions")

_FENCE_RUN = re.compile(r"`{3,}|~{3,}")


def fence_lines(text: str, fence: Block) -> tuple[str, bool]:
    """A fence's opening line without its indentation or container prefix; whether it closes."""
    lines = line_starts(text[fence.start : fence.end])
    first = text[fence.start : fence.start + lines[1]]
    opening = _FENCE_RUN.search(first)
    if opening is None:
        return "", True
    last = text[fence.start + lines[-2] : fence.end].rstrip()
    run = opening.group()
    body = last.rstrip(run[0])
    closed = len(lines) > 2 and len(last) - len(body) >= len(run) and not body.strip(" \t>")
    return first[opening.start() :].rstrip(), closed


def find_regions(
    text: str, tree: Block, tags: Iterable[tuple[int, int]] = ()
) -> list[ProtectedRegion]:
    """The protected blocks of ``tree`` and the blocks between ``tags``, by start.

    A region ends with the last character of the block's last line; a fence that is
    never closed reaches to the end of the text. Of regions that begin together the
    longer one comes first.
    """
    regions = [
        ProtectedRegion(block.start, _region_end(text, block), block.kind)
        for block in tree.walk()
        if CONSTRUCTS[block.kind].protected
    ]
    regions.extend(ProtectedRegion(start, _line_end(text, end), "tag") for start, end in tags)
    kept = (region for region in regions if region.start < region.end)
    return sorted(kept, key=lambda region: (region.start, -region.end))


def _region_end(text: str, block: Block) -> int:
    at_end = block.kind == "fence" and block.end == len(text)
    if at_end and not fence_lines(text, block)[1]:
        return block.end
    return _line_end(text, block.end)


def _line_end(text: str, end: int) -> int:
    """``end`` without the line end before it."""
    if text.endswith("\n", 0, end):
        end -= 1
    if text.endswith("\r", 0, end):
        end -= 1
    return end
