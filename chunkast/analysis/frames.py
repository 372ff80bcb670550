"""Compute the frames of divided blocks: repeated header rows, fence lines and HTML tags."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from chunkast.analysis.syntax import code_of
from chunkast.markdown.fence_lines import around_code
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.tables import Tables
from chunkast.model import Block
from chunkast.text.source_map import line_starts

__all__ = ("Frame", "frames_of")


@dataclass(frozen=True, slots=True)
class Frame:
    """The text to add around a part of a divided block to make the part self-contained.

    The first of the ``prefixes`` that fits is added before a part that begins strictly inside
    ``(start, end)``. The ``suffix`` is added after a part that ends in ``(start, end]``.
    """

    start: int
    end: int
    prefixes: tuple[str, ...]
    suffix: str = ""


def frames_of(text: str, leaf: Block, tables: Tables, cuts: Sequence[int]) -> Iterator[Frame]:
    """Yield the frames of a fence or table that is divided at the sorted ``cuts``."""
    starts = line_starts(text, leaf.start, leaf.end)
    if CONSTRUCTS[leaf.kind].fenced and len(starts) > 2:
        last = starts[-2] if leaf.closed else leaf.end
        opening, closing = around_code(text, leaf, last)
        positions, content = code_of(text, leaf)
        edge, bare, said, suffix = leaf.start, opening + "\n", "", "\n" + closing
        # Each frame repeats the opening line, so with a very long one there is only one frame.
        for cut in cuts if len(opening) < 4_096 else ():
            opener = content.opener(bisect_right(positions, cut) - 1)
            if opener != said:
                yield Frame(edge, cut, (bare + said, bare), suffix)
                edge, said = cut - 1, opener
        yield Frame(edge, last, (bare + said, bare), suffix)
    # Neighbours with the same text around them share a frame.
    around = groupby(tables.around(text, (pos for pos in cuts if pos < leaf.end)), itemgetter(1, 2))
    frames = [(next(parts)[0], *shared) for shared, parts in around]
    ends = [*(pos for pos, *_ in frames[1:]), leaf.end - 1]
    # The table may be cut only at its end: then there is no frame.
    for (pos, prefixes, suffix), end in zip(frames, ends, strict=False):
        if prefixes:
            yield Frame(pos - 1, end, prefixes, suffix)
