"""Compute the embedded text of chunks in which spans are replaced."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from chunkast.model import Replacement
from chunkast.text.spans import content_end, trim_span
from chunkast.text.white_space import WHITE_SPACE, is_blank

__all__ = ("Replaced",)

_CONTENT = re.compile(f"[^{WHITE_SPACE}]")


class Replaced:
    """The spans of a document that are replaced in ``embed_text``.

    any: true if the document has such spans.
    """

    def __init__(self, replacements: Sequence[Replacement], text: str, *, trim: bool) -> None:
        """Keep the sorted ``replacements``, except those that overlap an earlier one."""
        self._text = text
        self._trim = trim
        self._spans: list[Replacement] = []
        # The start and end of each without white space, which may be trimmed off a chunk.
        self._starts: list[int] = []
        self._ends: list[int] = []
        for span in replacements:
            if not self._spans or self._spans[-1].end <= span.start:
                content = _CONTENT.search(text, span.start, span.end)
                end = content_end(text, span.start, span.end)
                self._spans.append(span)
                self._starts.append(content.start() if content else span.start)
                self._ends.append(end if content else span.end)
        self.any = bool(self._spans)

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """Return the numbers of the first replacement in a span and of the first one after it.

        White space at the edges of a replacement may be outside the span.
        """
        first = bisect_left(self._starts, start)
        return first, max(bisect_right(self._ends, end, first), first)

    def text_of(self, start: int, end: int) -> str | None:
        """Return the text to embed for ``text[start:end]``, or None if it is embedded unchanged.

        This is the case if no replaced span (without white space at its ends) is inside, or if only
        white space would remain.
        """
        first, last = self.inside(start, end)
        if first == last:
            return None
        parts: list[str] = []
        at = start
        for span in self._spans[first:last]:
            parts += (self._text[at : span.start], span.text)
            at = span.end
        # The last span may end in white space after ``end``.
        shown = "".join((*parts, self._text[at:end]))
        if is_blank(shown):
            return None
        return shown[slice(*trim_span(shown, 0, len(shown)))] if self._trim else shown
