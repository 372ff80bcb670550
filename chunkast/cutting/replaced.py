"""The embedded text of chunks in which some spans are replaced."""

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

    any: true if there are such spans.
    """

    def __init__(self, replacements: Sequence[Replacement], text: str, *, trim: bool) -> None:
        """Keep the sorted ``replacements``, except those that overlap an earlier one."""
        self._text = text
        self._trim = trim
        self._spans: list[Replacement] = []
        # The start and end of each without white space, which may be trimmed off a chunk.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.any = False
        for span in replacements:
            self.add(span)

    def add(self, span: Replacement) -> None:
        """Add a replacement, unless it overlaps one of the others."""
        content = _CONTENT.search(self._text, span.start, span.end)
        start = content.start() if content else span.start
        end = content_end(self._text, span.start, span.end) if content else span.end
        slot = bisect_left(self._starts, start)
        after_last = not slot or self._spans[slot - 1].end <= span.start
        if after_last and (slot == len(self._spans) or span.end <= self._spans[slot].start):
            self._spans.insert(slot, span)
            self._starts.insert(slot, start)
            self._ends.insert(slot, end)
            self.any = True

    def body(self, start: int, end: int) -> str | None:
        """Return the text to embed for ``text[start:end]``, or None if it is unchanged.

        It is unchanged if it contains no replaced span (ignoring white space at the span's ends),
        or if only white space would remain.
        """
        first = bisect_left(self._starts, start)
        last = bisect_right(self._ends, end, first)
        if first >= last:
            return None
        parts: list[str] = []
        at = start
        for span in self._spans[first:last]:
            parts += (self._text[at : span.start], span.text)
            at = span.end
        # The last span may end in white space after ``end``.
        body = "".join((*parts, self._text[at:end]))
        if is_blank(body):
            return None
        return body[slice(*trim_span(body, 0, len(body)))] if self._trim else body
