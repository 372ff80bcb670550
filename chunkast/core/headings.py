"""The heading path in force at each position."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from chunkast.model import Heading

__all__ = ("Headings",)


class Headings:
    """The headings that open sections, by position.

    ``path`` is the heading path before the first of them.
    """

    def __init__(self, headings: Sequence[Heading], path: tuple[str, ...] = ()) -> None:
        self.all = headings
        self.first_path = path
        self._starts = [heading.start for heading in headings]

    def path(self, pos: int) -> tuple[str, ...]:
        """Return the titles in force at ``pos``, including a heading that begins there."""
        slot = bisect_right(self._starts, pos) - 1
        return self.all[slot].path if slot >= 0 else self.first_path

    def at(self, pos: int) -> Heading | None:
        """Return the heading that begins at ``pos``."""
        slot = bisect_left(self._starts, pos)
        found = slot < len(self._starts) and self._starts[slot] == pos
        return self.all[slot] if found else None
