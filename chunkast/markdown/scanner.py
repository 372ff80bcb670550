"""The state of a scan for inline constructs, shared by CommonMark's rules and the dialects'."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import Any, Final, TypeAlias, TypeVar

from chunkast.text.spans import InlineSpan

__all__ = ("BACKTICKS", "Finder", "InlineRule", "Scanner")

State = TypeVar("State")

BACKTICKS: Final = re.compile(r"`+")


class Finder:
    """A substring search that remembers the next position of each search string."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next: dict[str, int] = {}

    def find(self, needle: str, start: int) -> int:
        """Return the next index of ``needle`` at or after ``start``, or -1.

        The time is linear if ``start`` never decreases from call to call.
        """
        known = self._next.get(needle)
        if known is None or (known != -1 and known < start):
            known = self._next[needle] = self._text.find(needle, start)
        return known


def _code_spans(text: str) -> dict[int, int]:
    """Return a map from each run of backticks that opens a code span to the end of the span."""
    runs = [match.span() for match in BACKTICKS.finditer(text)]
    closers: dict[int, int] = {}
    ends: dict[int, int] = {}
    for start, end in reversed(runs):
        length = end - start
        if length in closers:
            ends[start] = closers[length]
        if text[start - 1 : start] == "\\" and length - 1 in closers:
            # After an escaped backtick, the rest of the run may open a code span.
            ends[start + 1] = closers[length - 1]
        closers[length] = end
    return ends


class Scanner:
    """The state of one scan, which the rules read and update.

    ``found`` has the constructs found so far; inner constructs come before those around them.
    """

    def __init__(self, text: str, references: Container[str], *, footnotes: bool) -> None:
        self.text = text
        self.references = references
        self.footnotes = footnotes
        self.found: list[InlineSpan] = []
        self.finder = Finder(text)
        self.code_ends = _code_spans(text)
        self._states: dict[object, Any] = {}
        # The position of each open bracket, and True for an image's. Links contain no links:
        # brackets below ``inactive`` have a link after them.
        self.brackets: list[tuple[int, bool]] = []
        self.inactive = 0

    def state(self, of: Callable[[str], State]) -> State:
        """Return ``of(text)``, which is computed once per scan and shared by a dialect's rules."""
        if of not in self._states:
            self._states[of] = of(self.text)
        found: State = self._states[of]
        return found

    def take(self, start: int, end: int, kind: str) -> int:
        """Add a construct unless ``end`` is -1, and return ``end``."""
        if end >= 0:
            self.found.append(InlineSpan(start, end, kind))
        return end


# Returns the end of a construct that begins at the position, or -1.
InlineRule: TypeAlias = Callable[[Scanner, int], int]
