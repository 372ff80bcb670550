"""The frames of divided blocks: header rows, opening fence lines, and open HTML tags."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from chunkast.markdown.dialects.text_tables import text_rows
from chunkast.markdown.fence_lines import around_code
from chunkast.markdown.html_tables import HtmlTables, tags_around
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.pipe_tables import cell_spans, padding_at
from chunkast.model import Block
from chunkast.text.source_map import line_starts

__all__ = ("Frame", "frames_of")

# The number of characters in a header that is repeated before parts of rows. Each of them has a
# prefix of its own, so without a limit the total would not be linear.
_LONGEST_HEADER: Final = 4_096


@dataclass(frozen=True, slots=True)
class Frame:
    """The text to add around a part of a divided block to make the part self-contained.

    ``prefix`` is added before a part that begins inside ``(start, end)``, and ``suffix`` after a
    part that ends there. ``bare`` is a shorter prefix, used if ``prefix`` does not fit.
    """

    start: int
    end: int
    prefix: str
    suffix: str = ""
    bare: str = ""


def frames_of(text: str, leaf: Block, tables: HtmlTables, cuts: Sequence[int]) -> Iterator[Frame]:
    """Yield the frames of a fence or table that is divided at the sorted ``cuts``."""
    starts = line_starts(text, leaf.start, leaf.end)
    row = CONSTRUCTS[leaf.kind]
    if row.fenced and len(starts) > 2:
        last = starts[-2] if leaf.closed else leaf.end
        opening, closing = around_code(text, leaf, last)
        yield Frame(leaf.start, last, opening + "\n", "\n" + closing)
    elif row.shape == "table" and len(starts) > 3:
        yield from _table_frames(text, leaf.end, starts, cuts)
    elif row.shape == "text-table":
        header, _ = text_rows(text, leaf)
        if header > leaf.start:
            yield Frame(header - 1, leaf.end, text[leaf.start : header])
    elif row.shape == "html-table":
        inside = (pos for pos in cuts if pos < leaf.end)
        around = list(tags_around(text, tables, inside))
        ends = [*(pos for pos, *_ in around[1:]), leaf.end - 1]
        # The table may be cut only at its end: then there are no tags.
        for (pos, prefix, bare, suffix), end in zip(around, ends, strict=False):
            yield Frame(pos - 1, end, prefix, suffix, bare)


def _table_frames(
    text: str, end: int, starts: Sequence[int], cuts: Sequence[int]
) -> Iterator[Frame]:
    """Yield the frames of a pipe table up to ``end``, whose lines begin at ``starts``.

    A part that begins inside a row is padded with empty cells, or has no frame.
    """
    header, edge, whole = text[starts[0] : starts[2]], starts[2] - 1, set(starts)
    columns = sum(1 for _ in cell_spans(text, starts[1], starts[2]))
    inside = [pos for pos in cuts if edge < pos < end and pos not in whole]
    for number, parts in groupby(inside, lambda pos: bisect_right(starts, pos)):
        row = starts[number - 1], starts[number]
        yield Frame(edge, row[0] + 1, header)
        edge = row[1] - 1
        if len(header) <= _LONGEST_HEADER:
            for pos, padding in padding_at(text, row, parts, columns):
                yield Frame(pos - 1, pos + 1, header + padding)
    yield Frame(edge, end, header)
