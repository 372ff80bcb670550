"""The block tree of a document as plain text, with one line for each block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final

from chunkast.markdown import CONSTRUCTS
from chunkast.model import Analysis, Block
from chunkast.output.view.visible import shorten, visible
from chunkast.text.source_map import line_starts

__all__ = ("render_tree",)

_TITLES: Final = ("lines", "characters", "tokens", "block")
# The maximum lengths of a block's text and of a fence's or container's info.
_WORDS: Final = 50
_INFO: Final = 30


def render_tree(analysis: Analysis, count: Callable[[str], int]) -> Iterator[str]:
    """Yield a header line, a line for each block of ``analysis``, and a line for each note.

    Blocks are indented by depth, and parents precede their children. Line numbers start at 1, and
    the last line is included. Character indices start at 0, and the end is excluded. ``count``
    returns the token count of a text. Every line ends with a line feed and has no other control
    characters.
    """
    text = analysis.text
    starts = line_starts(text)
    last = bisect_right(starts, max(len(text) - 1, 0))
    most = (f"{last}-{last}", f"{len(text)}-{len(text)}", str(count(text)))
    widths = [max(map(len, pair)) for pair in zip(_TITLES, most, strict=False)]
    yield _row(widths, _TITLES)
    stack = [(analysis.blocks, 0)]
    while stack:
        block, depth = stack.pop()
        first = bisect_right(starts, block.start)
        final = bisect_right(starts, max(block.end - 1, block.start))
        tokens = count(text[block.start : block.end])
        places = (f"{first}-{final}", f"{block.start}-{block.end}", str(tokens))
        yield _row(widths, (*places, "  " * depth + _described(text, block)))
        stack.extend((child, depth + 1) for child in reversed(block.children))
    for note in analysis.notes:
        yield f"note: {_one_line(note)}\n"


def _row(widths: list[int], cells: tuple[str, ...]) -> str:
    *places, block = cells
    aligned = (f"{place:>{width}}" for place, width in zip(places, widths, strict=True))
    return f"{'  '.join(aligned)}  {block}\n"


def _described(text: str, block: Block) -> str:
    level = f" {block.level}" if CONSTRUCTS[block.kind].leveled else ""
    info = f" [{shorten(_one_line(block.info), _INFO)}]" if block.info else ""
    unclosed = "" if block.closed else " (not closed)"
    # Enough for the words, and for the white space before and between them.
    words = "" if block.children else _one_line(text[block.start : block.end][: 4 * _WORDS])
    return f"{block.kind}{level}{info}{unclosed}{': ' if words else ''}{shorten(words, _WORDS)}"


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())
