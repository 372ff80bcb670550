"""The embedded text of chunks in which some spans are replaced."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import attrgetter

from chunkast.cutting.document import Document
from chunkast.model import Replacement
from chunkast.text.spans import content_end, trim_span
from chunkast.text.white_space import WHITE_SPACE, is_blank

__all__ = ("Replaced",)

_CONTENT = re.compile(f"[^{WHITE_SPACE}]")


class Replaced:
    """The spans of a document that are replaced in ``embed_text``."""

    def __init__(self, document: Document, replacements: Iterable[Replacement]) -> None:
        """Keep the ``replacements``, except those that overlap an earlier one."""
        text = self._text = document.text
        self._count = document.counter.count
        self._trim = document.config.trim
        self._spans: list[Replacement] = []
        # The start and end of each without white space, which may be trimmed off a chunk.
        self._starts: list[int] = []
        self._ends: list[int] = []
        for span in sorted(replacements, key=attrgetter("start", "end")):
            if not self._spans or span.start >= self._spans[-1].end:
                found = _CONTENT.search(text, span.start, span.end)
                self._spans.append(span)
                self._starts.append(found.start() if found else span.start)
                self._ends.append(content_end(text, span.start, span.end) if found else span.end)

    def __bool__(self) -> bool:
        return bool(self._spans)

    def body(self, start: int, end: int) -> tuple[str, int] | None:
        """Return the text to embed for ``text[start:end]`` and its token count, or None.

        None means that the text is unchanged: it contains no replaced span (ignoring white space at
        the span's ends), or only white space would remain.
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
        if self._trim:
            body = body[slice(*trim_span(body, 0, len(body)))]
        return body, self._count(body)
