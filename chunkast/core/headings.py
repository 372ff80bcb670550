"""The heading path in force at each position."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from chunkast.model import Heading
from chunkast.text.source_map import make_array

__all__ = ("Headings",)


class Headings:
    """The headings that open sections, by position.

    ``path`` is the heading path before the first of them.
    """

    def __init__(self, text: str, headings: Sequence[Heading], path: tuple[str, ...]) -> None:
        self.all = headings
        self.first_path = path
        self._starts = make_array((heading.start for heading in headings), len(text))

    def at(self, pos: int) -> tuple[tuple[str, ...], Heading | None]:
        """Return the heading path at ``pos``, and its last heading; that may begin at ``pos``."""
        slot = bisect_right(self._starts, pos) - 1
        return (self.all[slot].path, self.all[slot]) if slot >= 0 else (self.first_path, None)

    def begins(self, pos: int) -> bool:
        """Return whether a heading begins at ``pos``."""
        heading = self.at(pos)[1]
        return heading is not None and heading.start == pos
