r"""Find grapheme clusters (``\X`` in the regex package, UAX #29) without scanning the whole text.

Most positions are cluster boundaries, because neither of the adjacent characters can join another.
Only runs of characters that can join are segmented with ``\X``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

__all__ = ("clusters", "joined_spans")

_CLUSTER = regex.compile(r"\X")
# Characters that may join the one before or after them. UAX #29 always allows a break between
# two others. CR is included because it joins LF.
_JOINING = (
    r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=Prepend}"
    r"\p{GCB=L}\p{GCB=V}\p{GCB=T}\p{GCB=Regional_Indicator}\r]"
)
# A fast search for characters that may join. Excluded are ASCII except CR, common punctuation
# and symbols, CJK ideographs and kana (except combining marks), which never do.
_PERHAPS_JOINING = re.compile(
    "[^\x00-\x0c\x0e-\x7f\u2010-\u2027\u2190-\u21ff\u2500-\u257f\u3000-\u3029\u3041-\u3096\u30a1-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff60]"
)
# Many flags, followed by another one: the end is a cluster boundary.
_FLAGS = regex.compile(r"(?:\p{RI}{2}){64}(?=\p{RI})")
_JOINED = regex.compile(rf"{_JOINING}++")


def clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    r"""Yield the spans of the grapheme clusters in ``text[start:end]``, in order.

    The slice is copied, because ``\X`` would otherwise look back beyond ``start``.
    """
    for match in _CLUSTER.finditer(text[start:end]):
        yield start + match.start(), start + match.end()


def _segments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    r"""Split a long run of flags into parts: ``\X`` counts all earlier flags at each flag."""
    for flags in _FLAGS.finditer(text, start, end):
        yield start, flags.end()
        start = flags.end()
    yield start, end


def joined_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of grapheme clusters with several characters in ``text[start:end]``."""
    text, offset = text[start:end], start
    return [
        (offset + first, offset + last)
        for run in _runs(text)
        for segment in _segments(text, *run)
        for first, last in clusters(text, *segment)
        if last - first > 1
    ]


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the runs of joining characters, extended by one character on either side.

    A single pattern is not used, because the regex package fails on millions of repetitions.
    """
    at = first = last = 0
    while candidate := _PERHAPS_JOINING.search(text, at):
        joined = _JOINED.match(text, candidate.start())
        if joined is None:
            at = candidate.start() + 1
            continue
        at = joined.end()
        begin = max(joined.start() - 1, 0)
        if begin >= last:
            if last:
                yield first, last
            first = begin
        last = min(at + 1, len(text))
    if last:
        yield first, last
