"""Compute the context that ``embed_text`` adds to a chunk: its heading path, openers and frame."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any, Final, NamedTuple

import regex

from chunkast.analysis import Frame, Page, Structure
from chunkast.config import ChunkConfig
from chunkast.text.front_matter import front_matter_value
from chunkast.text.sentences import sentence_starts
from chunkast.tokens import Remembered

__all__ = ("Context",)

_SEPARATOR: Final = " > "
# The maximum number of tokens in an opener; caps of 16 and of 64 are as good for search.
_OPENER_TOKENS: Final = 32
# Also between the characters of a language without spaces.
_WORD_END = regex.compile(r"(?w)\b|\Z")
# The number of contexts that are remembered: those of nearby chunks.
_REMEMBERED: Final = 512


class _Parts(NamedTuple):
    """The parts that may stand before a chunk, from the outermost to the innermost.

    root: the title of the page, if the path begins with it.
    matter: lines with values of the front matter.
    titles: the titles of the heading path, the root included.
    openers: the openers of the open blocks.
    frame: the frame of a divided table or fence, or None.
    """

    root: str
    matter: str
    titles: tuple[str, ...]
    openers: tuple[str, ...]
    frame: Frame | None

    def __str__(self) -> str:
        path = (self.matter + _SEPARATOR.join(self.titles)).rstrip("\n")
        above = "\n".join(filter(None, (path, *self.openers)))
        return (above + "\n\n" if above else "") + (self.frame.prefixes[0] if self.frame else "")

    def shorter(self) -> Iterator[_Parts]:
        """Return these parts, then fewer and fewer of them, always with the whole frame.

        The innermost heading is removed last, and the innermost opener right before it.
        """
        titles, openers = self.titles, self.openers
        first = int(titles[:1] == (self.root,))
        steps: list[dict[str, Any]] = [
            {"matter": ""},
            *({"openers": openers[n:]} for n in range(1, len(openers))),
            *({"titles": titles[:first] + titles[n:]} for n in range(first + 1, len(titles))),
            {"titles": titles[first:][-1:]},
            {"openers": ()},
            {"titles": ()},
        ]
        return accumulate(steps, lambda parts, step: parts._replace(**step), initial=self)


class Context:
    """The heading path or title before a chunk, the openers of the blocks around it, and its frame.

    The title in a page's front matter is the root of its paths. Context takes up at most half the
    budget. A part that exceeds this on its own is omitted. To shorten the context, these are
    removed in order: front matter values; all but the innermost opener, outermost first; all but
    the innermost heading, in the same way; the root; that opener; that heading. ``count(text)``
    returns the token count of a text.
    """

    def __init__(
        self, structure: Structure, config: ChunkConfig, count: Callable[[str], int]
    ) -> None:
        # A byte order mark before the first block is trimmed off.
        self._mark = int(structure.text.startswith("\ufeff"))
        self._structure = structure
        self._headings = headings = structure.headings
        self._mode = config.context
        self._half = config.budget // 2
        self._count = count
        self._frames: list[Frame] = []
        self._frame_starts: list[int] = []
        self.most_suffix_tokens = 0
        self._keys = config.front_matter_keys
        # The first titles of level 1, by page.
        self._tops: dict[int, str] = {}
        for heading in headings.all if self._mode == "title" else ():
            if heading.level == 1 and heading.title:
                self._tops.setdefault(headings.page_at(heading.start).number, heading.title)
        self._tops_of_pages = [*map(self._top, headings.pages)]
        self._shortened = Remembered(self._shorten, _REMEMBERED)
        self._openers = Remembered(self._find_openers, _REMEMBERED)
        # By the parts to show: the longest context, and its tokens.
        self._longest = Remembered(self._find_longest, _REMEMBERED)
        self._tokens = Remembered(self._count_longest, _REMEMBERED)

    def add_frames(self, frames: Iterable[Frame]) -> None:
        """Add the frames of a block, without prefixes that take more than half the budget."""
        for frame in frames:
            closing = self._suffix_cost(frame.suffix)
            fitting = [p for p in frame.prefixes if self._count(p) + closing <= self._half]
            if fitting:
                slot = bisect_left(self._frame_starts, frame.start)
                self._frames.insert(slot, replace(frame, prefixes=tuple(fitting)))
                self._frame_starts.insert(slot, frame.start)
                self.most_suffix_tokens = max(self.most_suffix_tokens, closing)

    def tokens(self, start: int, own: int | None = None) -> int:
        """Return the token count of the context for a chunk that begins at ``start``.

        The chunk's text after the overlap begins at ``own``, by default at ``start``.
        """
        return self._tokens[self._parts(start, start if own is None else own)]

    def _parts(self, start: int, own: int) -> _Parts:
        return _Parts(*self._above(own), self._openers[start], self.frame_at(start))

    def _find_longest(self, parts: _Parts) -> str:
        return next(self._allowed(parts))

    def _count_longest(self, parts: _Parts) -> int:
        return self._count(self._longest[parts])

    def _find_openers(self, pos: int) -> tuple[str, ...]:
        openers = self._structure.openers.at(pos) if self._mode == "headings" else ()
        return tuple(map(self._shortened.__getitem__, openers)) if openers else ()

    def _shorten(self, opener: str) -> str:
        """Return an opener that has more tokens than openers may have, up to a sentence or word."""
        if not self._is_long(opener):
            return opener
        ends = [match.start() for match in _WORD_END.finditer(opener)]
        last = bisect_left(ends, True, key=lambda end: self._is_long(opener[:end].rstrip()))
        shorter = opener[: ends[max(last - 1, 0)]].rstrip()
        # Only near the end, so that no number or abbreviation at the beginning counts as a sentence.
        space = opener.rfind(" ", 0, len(shorter) + 1)
        for end in (max(sentence_starts(shorter), default=0), space):
            if 2 * end > len(shorter):
                return shorter[:end].rstrip()
        return shorter

    def _is_long(self, opener: str) -> bool:
        return self._count(opener) > _OPENER_TOKENS

    def frame_at(self, pos: int) -> Frame | None:
        """Return the frame for text that begins at ``pos``, or None if there is none."""
        frame = self._frame_before(pos)
        return frame if frame is not None and pos < frame.end else None

    def inner_tokens(self, pos: int) -> int:
        """Return the token count of the openers and the frame for a chunk that begins at ``pos``."""
        return self._tokens[_Parts("", "", (), self._openers[pos], self.frame_at(pos))]

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

        The chunk begins at ``start``, and its text after the overlap at ``own``. The context does
        not repeat a heading at the start of that text.
        """
        parts = self._parts(start, own)
        yield self._longest[parts]
        yield from islice(self._allowed(parts), 1, None)

    def _allowed(self, parts: _Parts) -> Iterator[str]:
        """Yield what may stand before a chunk with these parts, from longest to shortest."""
        whole = str(parts)
        if self._fits(whole):
            yield whole
        else:
            titles, openers = (tuple(filter(self._fits, each)) for each in parts[2:4])
            parts = parts._replace(titles=titles, openers=openers)
        # Fewer parts never have more tokens.
        shorter = list(map(str, parts.shorter()))
        yield from shorter[bisect_left(shorter, True, key=self._fits) :]
        if parts.frame:
            yield from dict.fromkeys((*parts.frame.prefixes[1:], ""))

    def _fits(self, text: str) -> bool:
        return self._count(text) <= self._half

    def _top(self, page: Page) -> tuple[str, str, str]:
        """Return the title of a page, the root of its paths, and values of its front matter."""
        values = ((key, front_matter_value(page.front_matter, key)) for key in self._keys)
        matter = "".join(f"{key}: {value}\n" for key, value in values if value)
        tops = self._tops.get(page.number, ""), *self._headings.first_path
        title = page.title or next(filter(None, tops), "")
        # A title that is too long is left out, so that the headings have room.
        return title, page.title if self._fits(page.title) else "", matter

    def _above(self, pos: int) -> tuple[str, str, tuple[str, ...]]:
        """Return the root, the front matter and the titles to show for text that begins at ``pos``.

        The title of a heading at ``pos`` is not among the titles.
        """
        title, root, matter = self._tops_of_pages[self._headings.page_at(pos).number]
        number = self._headings.number_at(pos)
        path, begins = self._headings.path(number), False
        if number >= 0:
            heading = self._headings.all[number]
            # The text after a definition in code has no title of its own.
            begins = heading.title != "" and heading.start == (pos if pos > self._mark else 0)
        titles: tuple[str, ...] = ()
        if self._mode == "headings":
            titles = tuple(filter(None, path[:-1] if begins else path))
            if root and path and _words(root) == _words(path[0]):
                root = path[0]
            elif root and root not in path:
                titles = (root, *titles)
        elif self._mode == "title" and title and not (begins and _words(title) == _words(path[-1])):
            titles = (title,)
        return root, matter, titles


@lru_cache(_REMEMBERED)
def _words(title: str) -> str:
    """Return the letters and digits of a title in lower case, or the title if it has none."""
    return "".join(filter(str.isalnum, title)).casefold() or title
