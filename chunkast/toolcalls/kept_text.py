"""The text of a stream that has not been returned yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from chunkast.toolcalls.call_model import Text

__all__ = ("KeptText",)


class KeptText:
    """Text in the fragments in which it came, from position ``start`` to ``end``.

    Line breaks are before the whole text, and one after it, so that all lines are alike. ``stop``
    is the position after the latter.
    """

    def __init__(self) -> None:
        self.start = self.end = self.stop = 0
        # The joined part, with two characters before it, and the fragments that came since.
        self._joined, self._base = "\n\n", -2
        self._new: list[str] = []

    def add(self, fragment: str, *, last: bool) -> None:
        self.end += len(fragment)
        ending = "\n" * last
        self.stop = self.end + len(ending)
        self._new.append(fragment + ending)

    def whole(self) -> tuple[str, int]:
        """Return a text with all that is kept, and the position of its first character."""
        if self._new:
            skipped = max(0, self.start - 2 - self._base)
            self._joined = "".join((self._joined[skipped:], *self._new))
            self._base += skipped
            self._new = []
        return self._joined, self._base

    def since(self, position: int) -> tuple[str, int]:
        """Return a text with all that follows ``position``; fast if it is near the end."""
        if not self._new:
            return self._joined, self._base
        start, pieces = self.stop, deque[str]()
        for fragment in reversed(self._new):
            if start <= position:
                break
            pieces.appendleft(fragment)
            start -= len(fragment)
        if start > position:
            pieces.appendleft(self._joined[position - self._base :])
            start = position
        return "".join(pieces), start

    def take(self, end: int) -> Iterator[Text]:
        """Remove the text before ``end`` and yield it, unless it is empty."""
        if end > self.start:
            text, base = self.whole()
            yield Text(text[self.start - base : end - base], self.start, end)
            self.start = end

    def between(self, start: int, end: int) -> str:
        text, base = self.since(start)
        return text[start - base : end - base]
