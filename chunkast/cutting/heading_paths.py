"""The heading path at each position, and the sections of a span."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from chunkast.model import Heading
from chunkast.text.source_map import make_array

__all__ = ("Headings", "titled_path")


def titled_path(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """Return a heading path with the document's title in front and without empty titles.

    The title is not added if it is already in the path.
    """
    titles = tuple(filter(None, path))
    return (title, *titles) if title and title not in titles else titles


class Headings:
    """The headings that open sections, which are looked up by position.

    ``path`` is the heading path of the text before the first heading.
    """

    def __init__(self, text: str, headings: Sequence[Heading], path: tuple[str, ...]) -> None:
        self.all = headings
        self.first_path = path
        self._starts = make_array((heading.start for heading in headings), len(text))

    def at(self, pos: int) -> tuple[tuple[str, ...], Heading | None]:
        """Return the heading path at ``pos`` and the heading whose section contains ``pos``.

        The heading is None for text before the first heading.
        """
        slot = bisect_right(self._starts, pos) - 1
        return (self.all[slot].path, self.all[slot]) if slot >= 0 else (self.first_path, None)

    def sections(self, start: int, end: int, title: str) -> list[tuple[int, tuple[str, ...]]]:
        """Return the start and heading path of each section in ``[start, end)``.

        Every path begins with ``title``, if there is one. Text before the first heading counts as a
        section only if its path is not empty.
        """
        first = bisect_right(self._starts, start) - 1
        found: list[tuple[int, tuple[str, ...]]] = []
        for slot in range(first, bisect_left(self._starts, end)):
            heading = self.all[slot] if slot >= 0 else None
            path = titled_path(heading.path if heading else self.first_path, title)
            # In code, the text after a definition has a heading without a title.
            again = heading and not heading.title and found and found[-1][1] == path
            if path and not again:
                found.append((max(start, heading.start) if heading else start, path))
        return found
