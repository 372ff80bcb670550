"""The heading path at each position, and the sections of a span."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from chunkast.model import Heading
from chunkast.text.source_map import make_array

__all__ = ("Headings", "titled_path")


def titled_path(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """Return a heading path below the document's title, without empty titles."""
    titles = tuple(filter(None, path))
    return (title, *titles) if title and title not in titles else titles


class Headings:
    """The headings that open sections, by position.

    ``path`` is the heading path before the first of them.
    """

    def __init__(self, text: str, headings: Sequence[Heading], path: tuple[str, ...]) -> None:
        self.all = headings
        self.first_path = path
        self._starts = make_array((heading.start for heading in headings), len(text))

    def at(self, pos: int) -> tuple[tuple[str, ...], Heading | None]:
        """Return the heading path at ``pos`` and its last heading, which may begin at ``pos``."""
        slot = bisect_right(self._starts, pos) - 1
        return (self.all[slot].path, self.all[slot]) if slot >= 0 else (self.first_path, None)

    def sections(self, start: int, end: int, title: str) -> list[tuple[int, tuple[str, ...]]]:
        """Return the start of each section in ``[start, end)``, and its path from ``title`` down.

        Text before the first heading is only in a section if the document has a title.
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

    def begins(self, pos: int) -> bool:
        """Return whether a heading begins at ``pos``."""
        heading = self.at(pos)[1]
        return heading is not None and heading.start == pos
