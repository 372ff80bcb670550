"""The heading path at each position, and the sections of a document and of its spans."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Final

from chunkast.model import Heading
from chunkast.text.source_map import make_array

__all__ = ("Headings", "Sections", "titled_path")

# Sections nested deeper than this become siblings. Markdown has six levels, but code and
# heuristics may have any number, and sections are cut recursively.
_DEEPEST: Final = 64


def titled_path(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """Return a heading path with the document's title in front and without empty titles.

    The title is not added if it is already in the path.
    """
    titles = tuple(filter(None, path))
    return (title, *titles) if title and title not in titles else titles


class Headings:
    """The headings that open sections, which are looked up by position.

    ``first_path`` is the heading path of the text before the first heading.
    """

    def __init__(self, text: str, headings: Sequence[Heading], first_path: tuple[str, ...]) -> None:
        self.all = headings
        self.first_path = first_path
        self._starts = make_array((heading.start for heading in headings), len(text))

    def number_at(self, pos: int) -> int:
        """Return the number of the heading whose section contains ``pos``; -1 before the first."""
        return bisect_right(self._starts, pos) - 1

    def path(self, number: int) -> tuple[str, ...]:
        """Return the heading path of the section that heading ``number`` opens."""
        return self.all[number].path if number >= 0 else self.first_path

    def sections(self, start: int, end: int, title: str) -> list[tuple[int, tuple[str, ...]]]:
        """Return the start and heading path of each section in ``[start, end)``.

        Every path begins with ``title``, if there is one. Text before the first heading counts as a
        section only if its path is not empty.
        """
        sections: list[tuple[int, tuple[str, ...]]] = []
        for number in range(self.number_at(start), bisect_left(self._starts, end)):
            heading = self.all[number] if number >= 0 else None
            path = titled_path(self.path(number), title)
            # In code, the text after a definition has a heading without a title.
            again = heading and not heading.title and sections and sections[-1][1] == path
            if path and not again:
                sections.append((max(start, heading.start) if heading else start, path))
        return sections


class Sections:
    """The sections of a document, numbered in order; section 0 is the document itself.

    ``starts`` has the start of each section, and then the end of the text. The section of a heading
    begins at the heading, unless no cut is allowed there.
    """

    def __init__(self, headings: Sequence[Heading], starts: Sequence[int]) -> None:
        count = len(starts) - 1
        self.starts = starts
        # For each section, the number of the next section that is not inside it.
        self._after = make_array(repeat(count, count), starts[-1])
        opened: list[int] = []
        for number, heading in enumerate(headings, 1):
            while opened and (
                len(opened) >= _DEEPEST or headings[opened[-1] - 1].level >= heading.level
            ):
                self._after[opened.pop()] = number
            opened.append(number)

    def end(self, number: int) -> int:
        """Return the position after a section."""
        return self.starts[self._after[number]]

    def last_begun(self, pos: int) -> int:
        """Return the start of the innermost section that contains ``pos``."""
        return self.starts[bisect_right(self.starts, pos) - 1]

    def begins(self, pos: int) -> bool:
        """Return whether a section begins at ``pos``."""
        return self.last_begun(pos) == pos

    def children(self, number: int) -> Iterator[int]:
        """Yield the numbers of the sections directly inside section ``number``."""
        child = number + 1
        while child < self._after[number]:
            yield child
            child = self._after[child]
