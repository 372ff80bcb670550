"""Keep the state of a scan for inline constructs, for the rules of CommonMark and the dialects."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import Final, TypeAlias

from chunkast.text.spans import InlineSpan

__all__ = ("BACKTICKS", "Finder", "InlineRule", "Scanner")

# The characters that may be searched in vain for ends, per character of a paragraph.
_ALLOWANCE: Final = 8
BACKTICKS: Final = re.compile(r"`+")


class Finder:
    """A substring search that caches the next position of each search string."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next: dict[str, int] = {}

    def find(self, needle: str, start: int) -> int:
        """Return the next index of ``needle`` at or after ``start``, or -1 if there is none.

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

    ``spans`` are the constructs found so far; inner constructs come before outer ones.
    """

    def __init__(self, text: str, references: Container[str], *, footnotes: bool) -> None:
        self.text = text
        self.references = references
        self.footnotes = footnotes
        self.spans: list[InlineSpan] = []
        self.finder = Finder(text)
        self.code_ends = _code_spans(text)
        # The ends of formulas by their starts, once they are known.
        self.formula_ends: dict[int, int] | None = None
        # The number of characters that unsuccessful searches for tags of JSX may still read.
        self.allowance = _ALLOWANCE * (len(text) + 500)
        # The position of each open bracket, and True for an image's. Links contain no links:
        # brackets below ``inactive`` have a link after them.
        self.brackets: list[tuple[int, bool]] = []
        self.inactive = 0

    def take(self, start: int, end: int, kind: str) -> int:
        """Add a construct unless ``end`` is -1, and return ``end``."""
        if end >= 0:
            self.spans.append(InlineSpan(start, end, kind))
        return end


# Returns the end of a construct that begins at the position, or -1.
InlineRule: TypeAlias = Callable[[Scanner, int], int]
