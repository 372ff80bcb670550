"""The context that ``embed_text`` puts around a chunk: its heading path and its frame."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, islice, product
from typing import Final

from chunkast.cutting.document import Document
from chunkast.cutting.frames import Frames
from chunkast.text.front_matter import front_matter_value

__all__ = ("Context",)

_SEPARATOR: Final = " > "
# The token count of a joined context and text differs from the sum of theirs by less than this.
_JOINED: Final = 8


class Context:
    """The heading path or title before a chunk, and the frame of a divided table or fence.

    The title in the front matter is the root of every path. Context takes up at most half the
    budget. To make it shorter, front matter values are removed first, then headings from the
    outermost inwards, and the root last.
    """

    def __init__(self, document: Document, frames: Frames) -> None:
        config = document.config
        self._document = document
        self._frames = frames
        self._half = config.budget // 2
        count = document.counter.count
        # An empty context costs nothing, even if special tokens are counted.
        self.count = cache(lambda text: count(text) if text else 0)
        self._matter = "".join(
            f"{key}: {value}\n"
            for key in config.front_matter_keys
            if (value := front_matter_value(document.analysis.front_matter, key))
        )
        headings = document.headings
        stated = document.title
        top = (heading.title for heading in headings.all if heading.level == 1)
        self._title = stated or next(filter(None, chain(top, headings.first_path)), "")
        # A title that is too long is left out, so that the headings have room.
        self._root = stated if self.count(stated) <= self._half else ""
        self._longest: dict[tuple[tuple[str, ...], bool, str, str], str] = {}
        suffixes = {frame.suffix for frame in frames}
        self.most_suffix_tokens = max(map(self._suffix_cost, suffixes), default=0)

    def tokens(self, pos: int) -> int:
        """Return the token count of the context for a chunk that begins at ``pos``."""
        return self.count(next(self._before(pos, pos)))

    def frame_tokens(self, pos: int) -> int:
        """Return the token count of the frame's prefix for a chunk that begins at ``pos``."""
        frame = self._frames.around(pos)
        return self.count(frame.prefix) if frame is not None else 0

    def suffix_tokens(self, pos: int) -> int:
        """Return the maximum number of tokens that a suffix adds to a chunk ending at ``pos``."""
        return self._suffix_cost(self._frames.suffix(pos))

    def _suffix_cost(self, suffix: str) -> int:
        # One token more than the suffix has, since its line end may merge with the text before it.
        return self.count(suffix) + 1 if suffix else 0

    def around(
        self, text: str, tokens: int, start: int, own: int, cut: int, *, verbatim: bool
    ) -> tuple[str, str, int]:
        """Return the context before and after a chunk's text, and the token count of the whole.

        The context is as long as the budget allows. ``text`` has ``tokens`` tokens and begins at
        ``start``; its overlap ends at ``own``, and the next chunk begins at ``cut``. If
        ``verbatim`` is false, some spans of ``text`` were replaced.
        """
        budget = self._document.config.budget
        inside, suffix = self._frames.around(start) is not None, self._frames.suffix(cut)
        # Either both fence lines are added or neither is.
        for closing in (suffix,) if inside else dict.fromkeys((suffix, "")):
            for before in self._before(start, own):
                if not before and (inside or not closing):
                    break  # the text alone has been counted
                if tokens + self.count(before) > budget + _JOINED:
                    continue
                count = self._count(before, text, tokens, start, closing, verbatim=verbatim)
                if count <= budget:
                    return before, closing, count
        return "", "", tokens

    def _count(
        self, before: str, text: str, tokens: int, start: int, closing: str, *, verbatim: bool
    ) -> int:
        index = self._document.index
        if closing or not verbatim:
            return self._document.counter.count(before + text + closing)
        if before.endswith("\n") and index.adds_up_after_line_end(start):
            return self.count(before) + tokens
        return index.count_after(before, start, start + len(text))

    def _before(self, start: int, own: int) -> Iterator[str]:
        """Yield the possible contexts of a chunk, from longest to shortest.

        A heading at the start of the chunk is not repeated in its context.
        """
        frame = self._frames.around(start)
        path, heading = self._document.headings.at(own)
        # The text after a definition in code has no title of its own.
        begins = heading is not None and heading.start == own and bool(heading.title)
        key = path, begins, frame.prefix if frame else "", frame.bare if frame else ""
        if key not in self._longest:
            self._longest[key] = next(self._allow(*key))
        yield self._longest[key]
        yield from islice(self._allow(*key), 1, None)

    def _allow(self, path: tuple[str, ...], begins: bool, frame: str, bare: str) -> Iterator[str]:
        for before in self._shorter(self._titles(path, begins), frame):
            if self.count(before) <= self._half:
                yield before
        if bare != frame:
            yield bare
        if frame:
            yield ""

    def _shorter(self, path: tuple[str, ...], frame: str) -> Iterator[str]:
        root = path[:1] if path[:1] == (self._root,) else ()
        shorter = [root + path[first:] for first in range(len(root), len(path) + 1)]
        # Front matter belongs to the whole document, and is left out first.
        for matter, titles in dict.fromkeys([(self._matter, path), *product([""], [*shorter, ()])]):
            above = matter + _SEPARATOR.join(titles)
            before = (above.rstrip("\n") + "\n\n" if above else "") + frame
            # A long path is not counted as a whole when its titles alone are too much.
            if len(before) <= self._half or sum(map(self.count, titles)) <= self._half:
                yield before

    def _titles(self, path: tuple[str, ...], begins: bool) -> tuple[str, ...]:
        """Return the titles from ``path`` to show in the context.

        If ``begins`` is true, the chunk begins with the last heading of the path.
        """
        context = self._document.config.context
        if context == "none":
            return ()
        if context == "headings":
            shown = tuple(filter(None, path[:-1] if begins else path))
            return shown if not self._root or self._root in path else (self._root, *shown)
        if not self._title or (begins and path[-1] == self._title):
            return ()
        return (self._title,)
