r"""Grapheme clusters (``\X`` of the regex package, UAX #29) without walking all of a text.

Most positions are cluster boundaries for a reason that two characters show: neither of
them can join anything. Only runs of characters that can are segmented with ``\X``.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

__all__ = ("clusters", "joined_spans")

_CLUSTER = regex.compile(r"\X")
# Characters that may join the one before or after them: UAX #29 gives no other class a
# rule that forbids a break, CR before LF apart.
_JOINING = (
    r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=Prepend}"
    r"\p{GCB=L}\p{GCB=V}\p{GCB=T}\p{GCB=Regional_Indicator}\r]"
)
# A joining character reaches one character further on either side.
_RUN = regex.compile(rf"(?:.?{_JOINING}++)++.?", regex.DOTALL)


def clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of the grapheme clusters of ``text[start:end]``, in order."""
    for match in _CLUSTER.finditer(text, start, end):
        yield match.span()


def joined_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of those grapheme clusters of ``text[start:end]`` that are longer than one."""
    return [
        (first, last)
        for run in _RUN.finditer(text, start, end)
        for first, last in clusters(text, run.start(), run.end())
        if last - first > 1
    ]
