"""The frames of divided blocks: header rows, opening fence lines, and open HTML tags."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chunkast.analysis.regions import opening_line
from chunkast.markdown.html_rows import HtmlTables, tags_around
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.model import Block
from chunkast.text.source_map import line_starts

__all__ = ("Frame", "Frames", "frames_of")


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
    construct = CONSTRUCTS[leaf.kind]
    if construct.fenced and len(starts) > 2:
        opening = opening_line(text, leaf)
        run = opening[: len(opening) - len(opening.lstrip(opening[:1]))]
        last = starts[-2] if leaf.closed else leaf.end
        yield Frame(leaf.start, last, opening + "\n", "\n" + run)
    elif construct.shape == "table" and len(starts) > 3:
        yield Frame(leaf.start, leaf.end, text[leaf.start : starts[2]])
    elif construct.shape == "html-table":
        inside = (pos for pos in cuts if pos < leaf.end)
        around = list(tags_around(text, leaf.start, leaf.end, tables, inside))
        ends = [*(pos for pos, *_ in around[1:]), leaf.end - 1]
        # The table may be cut only at its end: then there are no tags.
        for (pos, prefix, bare, suffix), end in zip(around, ends, strict=False):
            yield Frame(pos - 1, end, prefix, suffix, bare)


class Frames:
    """The frames of a document, each of at most ``room`` tokens, which are looked up by position.

    A longer frame is shortened or dropped. ``count(text)`` returns the token count of a text.
    """

    def __init__(self, frames: Iterable[Frame], room: int, count: Callable[[str], int]) -> None:
        shortened = (_shortened(frame, room, count) for frame in frames)
        found = (frame for frame in shortened if frame is not None)
        self._frames = sorted(found, key=lambda frame: frame.start)
        self._starts = [frame.start for frame in self._frames]

    def __iter__(self) -> Iterator[Frame]:
        return iter(self._frames)

    def around(self, pos: int) -> Frame | None:
        """Return the frame for text that begins at ``pos``, or None if there is none."""
        frame = self._before(pos)
        return frame if frame is not None and pos < frame.end else None

    def suffix(self, pos: int) -> str:
        """Return the suffix for text that ends at ``pos``, or "" if there is no frame."""
        frame = self._before(pos)
        return frame.suffix if frame is not None and pos <= frame.end else ""

    def _before(self, pos: int) -> Frame | None:
        if not self._frames:
            return None
        slot = bisect_left(self._starts, pos) - 1
        return self._frames[slot] if slot >= 0 else None


def _shortened(frame: Frame, room: int, count: Callable[[str], int]) -> Frame | None:
    closing = count(frame.suffix) + bool(frame.suffix)
    for prefix in dict.fromkeys((frame.prefix, frame.bare or frame.prefix)):
        if count(prefix) + closing <= room:
            return replace(frame, prefix=prefix)
    return None
