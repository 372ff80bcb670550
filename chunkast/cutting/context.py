"""The context that ``embed_text`` puts around a chunk: its heading path and its frame."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from chunkast.analysis import Frame, Structure
from chunkast.config import ChunkConfig

__all__ = ("Context",)

_SEPARATOR: Final = " > "
# The number of contexts that are remembered: those of nearby chunks.
_REMEMBERED: Final = 512
_NO_FRAME: Final = Frame(0, 0, "")


class Context:
    """The heading path or title before a chunk, and the frame of a divided table or fence.

    The title in the front matter is the root of every path. Context takes up at most half the
    budget. To make it shorter, front matter values are removed first, then headings from the
    outermost inwards, and the root last. ``count(text)`` returns the token count of a text.
    """

    def __init__(
        self, structure: Structure, config: ChunkConfig, count: Callable[[str], int]
    ) -> None:
        # A byte order mark before the first block is trimmed off.
        self._mark = int(structure.text.startswith("\ufeff"))
        self._headings = headings = structure.headings
        self._mode = config.context
        self._half = config.budget // 2
        self._count = count
        self._frames: list[Frame] = []
        self._frame_starts: list[int] = []
        self.most_suffix_tokens = 0
        self._matter = "".join(
            f"{key}: {value}\n"
            for key in config.front_matter_keys
            if (value := structure.front_matter_value(key))
        )
        stated = structure.title
        top = (heading.title for heading in headings.all if heading.level == 1)
        self._title = stated or next(filter(None, chain(top, headings.first_path)), "")
        # A title that is too long is left out, so that the headings have room.
        self._root = stated if count(stated) <= self._half else ""
        # By the titles to show: the longest context, and its tokens without a frame.
        self._longest = lru_cache(_REMEMBERED)(lambda *key: next(self._allowed(*key)))
        self._tokens = lru_cache(_REMEMBERED)(
            lambda titles: count(self._longest(titles, _NO_FRAME))
        )

    def add_frames(self, frames: Iterable[Frame]) -> None:
        """Add the frames of a block; frames that take more than half the budget are shortened."""
        for frame in frames:
            closing = self._suffix_cost(frame.suffix)
            for prefix in dict.fromkeys((frame.prefix, frame.bare or frame.prefix)):
                if self._count(prefix) + closing <= self._half:
                    slot = bisect_left(self._frame_starts, frame.start)
                    self._frames.insert(slot, replace(frame, prefix=prefix))
                    self._frame_starts.insert(slot, frame.start)
                    self.most_suffix_tokens = max(self.most_suffix_tokens, closing)
                    break

    def tokens(self, pos: int) -> int:
        """Return the token count of the context for a chunk that begins at ``pos``."""
        titles = self._titles(pos)
        frame = self.frame_at(pos)
        return self._tokens(titles) if frame is None else self._count(self._longest(titles, frame))

    def frame_at(self, pos: int) -> Frame | None:
        """Return the frame for text that begins at ``pos``, or None if there is none."""
        frame = self._frame_before(pos)
        return frame if frame is not None and pos < frame.end else None

    def frame_tokens(self, pos: int) -> int:
        """Return the token count of the frame's prefix for a chunk that begins at ``pos``."""
        frame = self.frame_at(pos)
        return self._count(frame.prefix) if frame is not None else 0

    def suffix_tokens(self, pos: int) -> int:
        """Return the maximum number of tokens that a suffix adds to a chunk ending at ``pos``."""
        return self._suffix_cost(self.suffix(pos))

    def suffix(self, pos: int) -> str:
        """Return the suffix for text that ends at ``pos``, or "" if there is no frame."""
        frame = self._frame_before(pos)
        return frame.suffix if frame is not None and pos <= frame.end else ""

    def _suffix_cost(self, suffix: str) -> int:
        # One token more than the suffix has, since its line end may merge with the text before it.
        return self._count(suffix) + 1 if suffix else 0

    def _frame_before(self, pos: int) -> Frame | None:
        if not self._frames:
            return None
        slot = bisect_left(self._frame_starts, pos) - 1
        return self._frames[slot] if slot >= 0 else None

    def before(self, start: int, own: int) -> Iterator[str]:
        """Yield the possible contexts before a chunk, from longest to shortest.

        The chunk begins at ``start``, and its text after the overlap at ``own``. A heading at the
        start of that text is not repeated in the context.
        """
        key = self._titles(own), self.frame_at(start) or _NO_FRAME
        yield self._longest(*key)
        yield from islice(self._allowed(*key), 1, None)

    def _allowed(self, titles: tuple[str, ...], frame: Frame) -> Iterator[str]:
        for before in self._shorter(titles, frame.prefix):
            if self._count(before) <= self._half:
                yield before
        if frame.bare != frame.prefix:
            yield frame.bare
        if frame.prefix:
            yield ""

    def _shorter(self, path: tuple[str, ...], frame: str) -> Iterator[str]:
        for matter, titles in self._parts(path):
            above = matter + _SEPARATOR.join(titles)
            before = (above.rstrip("\n") + "\n\n" if above else "") + frame
            # A long path is not counted as a whole when its titles alone are too much.
            if len(before) <= self._half or sum(map(self._count, titles)) <= self._half:
                yield before

    def _parts(self, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield front matter and titles to show, from all to none."""
        yield self._matter, path
        # Front matter belongs to the whole document, and is left out first.
        if self._matter:
            yield "", path
        root = path[:1] if path[:1] == (self._root,) else ()
        for first in range(len(root) + 1, len(path) + 1):
            yield "", root + path[first:]
        if root:
            yield "", ()

    def _titles(self, pos: int) -> tuple[str, ...]:
        """Return the titles to show in the context of text that begins at ``pos``.

        The title of a heading at ``pos`` is not among them.
        """
        number = self._headings.number_at(pos)
        path, begins = self._headings.path(number), False
        if number >= 0:
            heading = self._headings.all[number]
            # The text after a definition in code has no title of its own.
            begins = heading.title != "" and heading.start == (pos if pos > self._mark else 0)
        if self._mode == "none":
            return ()
        if self._mode == "headings":
            shown = tuple(filter(None, path[:-1] if begins else path))
            return shown if not self._root or self._root in path else (self._root, *shown)
        if not self._title or (begins and path[-1] == self._title):
            return ()
        return (self._title,)
