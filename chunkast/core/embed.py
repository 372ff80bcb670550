"""What ``embed_text`` puts around a chunk so that it can be understood alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, product

from chunkast.config import ChunkConfig
from chunkast.core.divide import Frame
from chunkast.model import Heading
from chunkast.text.front_matter import front_matter_value

__all__ = ("Context",)

_SEPARATOR = " > "


class Context:
    """The heading path or title before a chunk, and the frame of a divided table or fence.

    The title that front matter states is the root of every path. All of it takes at most half of
    the budget: values of front matter are left out, the path is shortened from the outermost
    heading inwards, its root last, and a frame that alone takes more is left out.
    """

    def __init__(
        self,
        config: ChunkConfig,
        headings: Sequence[Heading],
        frames: Sequence[Frame],
        front_matter: str,
        *,
        path: tuple[str, ...] = (),
        count: Callable[[str], int],
        count_after: Callable[[str, int, int], int],
        adds_up: Callable[[int], bool],
    ) -> None:
        """``path`` is the heading path before the first of ``headings``; ``count(text)`` counts tokens.

        ``count_after(before, start, end)`` counts those of a span of the document after a text.

        ``adds_up(pos)`` says whether a text that ends with a line end, and the text from
        ``pos`` on put after it, have the tokens of both.
        """
        self._config = config
        self._count = count
        self._count_after = count_after
        self._adds_up = adds_up
        self._headings = headings
        self._heading_starts = [heading.start for heading in headings]
        self._path = path
        self._matter = "".join(
            f"{key}: {value}\n"
            for key in config.front_matter_keys
            if (value := front_matter_value(front_matter, key))
        )
        self._lengths: dict[str, int] = {"": 0}
        self._half = config.budget // 2
        stated = front_matter_value(front_matter, "title")
        top = (heading.title for heading in headings if heading.level == 1)
        self._title = stated or next(filter(None, chain(top, path)), "")
        # One that is too long leaves its room to the headings.
        self._root = stated if self._tokens(stated) <= self._half else ""
        # The titles to show by the first heading that is not before a chunk's own text, and
        # whether that begins there.
        self._shown: dict[tuple[int, bool], tuple[str, ...]] = {}
        # By the heading path to show and the frame's prefix.
        self._known: dict[tuple[tuple[str, ...], str, str], tuple[str, ...]] = {}
        affordable = [frame for frame in map(self._affordable, frames) if frame is not None]
        self._frames = sorted(affordable, key=lambda frame: frame.start)
        self._frame_starts = [frame.start for frame in self._frames]
        suffixes = {frame.suffix for frame in self._frames}
        self.most_suffix_tokens = max(map(self._suffix_cost, suffixes), default=0)

    def path(self, pos: int) -> tuple[str, ...]:
        """The heading path in force at ``pos``, inclusive of a heading that begins there."""
        slot = bisect_right(self._heading_starts, pos) - 1
        return self._headings[slot].path if slot >= 0 else self._path

    def is_heading(self, pos: int) -> bool:
        """Whether a heading that opens a section begins at ``pos``."""
        slot = bisect_left(self._heading_starts, pos)
        return slot < len(self._heading_starts) and self._heading_starts[slot] == pos

    def tokens(self, pos: int) -> int:
        """What the context before a chunk that begins at ``pos`` costs."""
        return self._tokens(self._before(pos, pos)[0])

    def frame_tokens(self, pos: int) -> int:
        """What the frame before a chunk that begins at ``pos`` costs."""
        frame = self._frame_around(pos)
        return self._tokens(frame.prefix) if frame is not None else 0

    def suffix_tokens(self, pos: int) -> int:
        """What is to be put after a chunk that is cut off at ``pos`` costs.

        One token more than it has: its line end may join with what stands before it.
        """
        return self._suffix_cost(self._suffix(pos))

    def _suffix_cost(self, suffix: str) -> int:
        return self._tokens(suffix) + 1 if suffix else 0

    def around(
        self, text: str, tokens: int, start: int, own: int, cut: int, *, verbatim: bool = True
    ) -> tuple[str, str, int]:
        """What to embed before a chunk's text and after it, and the tokens of all three.

        That is as much context as the budget allows. ``text`` has ``tokens`` tokens and
        begins at ``start``, its own part at ``own``; ``cut`` is where the chunk after it
        begins. Unless it is ``verbatim``, spans of it are replaced.
        """
        budget = self._config.budget
        suffix = self._suffix(cut)
        # What is opened here is closed here, or neither.
        inside = self._frame_around(start) is not None
        for closing in (suffix,) if inside else dict.fromkeys((suffix, "")):
            for before in self._before(start, own):
                if not before and (inside or not closing):
                    break  # the text has been counted
                if tokens + self._tokens(before) > budget + 8:
                    continue  # too much by far; the sum is exact but for a token or two
                if closing or not verbatim:
                    count = self._count(before + text + closing)
                elif before.endswith("\n") and self._adds_up(start):
                    count = self._tokens(before) + tokens
                else:
                    count = self._count_after(before, start, start + len(text))
                if count <= budget:
                    return before, closing, count
        return "", "", tokens

    def _before(self, start: int, own: int) -> tuple[str, ...]:
        """What may stand before a chunk, from the most that is allowed to nothing."""
        frame = self._frame_around(start)
        key = (self._shown_path(own), frame.prefix if frame else "", frame.bare if frame else "")
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self._allowed(*key))
        return known

    def _allowed(self, path: tuple[str, ...], frame: str, bare: str) -> Iterator[str]:
        root = path[:1] if path[:1] == (self._root,) else ()
        shorter = [root + path[first:] for first in range(len(root), len(path) + 1)]
        # What front matter says is of the whole document, and is left out first.
        for matter, titles in dict.fromkeys([(self._matter, path), *product([""], [*shorter, ()])]):
            above = matter + _SEPARATOR.join(titles)
            before = (above.rstrip("\n") + "\n\n" if above else "") + frame
            # A long path is not counted as a whole when its titles alone are too much.
            if len(before) > self._half and sum(map(self._tokens, titles)) > self._half:
                continue
            if self._tokens(before) <= self._half:
                yield before
        if bare != frame:
            yield bare
        if frame:
            yield ""

    def _shown_path(self, pos: int) -> tuple[str, ...]:
        """The titles to show before a chunk whose own text begins at ``pos``.

        A heading that the chunk begins with is not shown twice.
        """
        if self._config.context == "none":
            return ()
        slot = bisect_left(self._heading_starts, pos)
        begins = slot < len(self._heading_starts) and self._heading_starts[slot] == pos
        shown = self._shown.get((slot, begins))
        if shown is None:
            # What stands after a definition has no title of its own.
            titled = begins and bool(self._headings[slot].title)
            shown = self._shown[slot, begins] = self._titles(self.path(pos), titled)
        return shown

    def _titles(self, path: tuple[str, ...], begins: bool) -> tuple[str, ...]:
        """The titles to show of a path; ``begins``: the chunk begins with its last."""
        if self._config.context == "headings":
            shown = tuple(filter(None, path[:-1] if begins else path))
            return shown if not self._root or self._root in path else (self._root, *shown)
        if not self._title or (begins and path[-1] == self._title):
            return ()
        return (self._title,)

    def _suffix(self, pos: int) -> str:
        frame = self._frame_before(pos)
        return frame.suffix if frame is not None and pos <= frame.end else ""

    def _frame_around(self, pos: int) -> Frame | None:
        """The frame that a text which begins at ``pos`` begins inside."""
        frame = self._frame_before(pos)
        return frame if frame is not None and pos < frame.end else None

    def _frame_before(self, pos: int) -> Frame | None:
        """The last frame that starts before ``pos``."""
        slot = bisect_left(self._frame_starts, pos) - 1
        return self._frames[slot] if slot >= 0 else None

    def _affordable(self, frame: Frame) -> Frame | None:
        """The frame, or with less around it, if that takes at most half of the budget."""
        closing = self._tokens(frame.suffix) + bool(frame.suffix)
        for prefix in dict.fromkeys((frame.prefix, frame.bare or frame.prefix)):
            if self._tokens(prefix) + closing <= self._half:
                return replace(frame, prefix=prefix)
        return None

    def _tokens(self, text: str) -> int:
        known = self._lengths.get(text)
        if known is None:
            known = self._lengths[text] = self._count(text)
        return known
