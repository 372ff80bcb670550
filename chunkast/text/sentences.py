"""Sentences, by sentencex: where they begin inside one paragraph of text.

sentencex is quadratic beyond a few thousand characters of one paragraph (8,000
characters take 14 ms, 128,000 take 1.8 s), so a longer text is handed to it in windows
cut at a line end or behind the last terminator in the window.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from chunkast.text.inline import InlineSpan
from chunkast.text.source_map import without_surrogates
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("SENTENCE_WINDOW", "sentence_starts")

SENTENCE_WINDOW = 8_000
_NOT_SPACE = re.compile(f"[^{WHITE_SPACE}]")
_WINDOW_END = re.compile(r"\r\n?|\n|[。！？｡．।॥؟۔]|[.!?…][ \t]+")
# A line of ASCII with a terminator at its very end at most: of many short texts it is clear
# that they are one sentence. (On further lines sentencex finds lists.)
_WITHOUT_TERMINATOR = re.compile(r"[\"-\-/->@-~][\t \"-\-/->@-~]*")
_END = re.compile(r"[.!?]?[\t\n\r ]*")
# What may follow a terminator directly and still belong to the sentence it ends.
_CLOSERS = frozenset("*_~`)]}\"'”’»）】》」』")


def sentence_starts(text: str, spans: Sequence[InlineSpan] = ()) -> list[int]:
    """Where the sentences of ``text`` begin, in order; the first (0) is left out.

    Beginnings inside one of the ``spans`` (sorted, not overlapping) are dropped, and so
    are those that would part a closing mark from its sentence.
    """
    # One expression would try all ways to share white space among its parts.
    begun = _WITHOUT_TERMINATOR.match(text)
    if begun and _END.fullmatch(text, begun.end()):
        return []
    starts: list[int] = []
    edges = [span.start for span in spans]
    for first, last in _windows(text):
        window = without_surrogates(text[first:last])  # sentencex takes valid Unicode only
        for start in _boundaries(window):
            at = first + start
            if starts and at <= starts[-1]:
                continue  # inside the white space before that start
            if text[at] in WHITE_SPACE:  # a window's edge
                match = _NOT_SPACE.search(text, at)
                if match is None:
                    return starts
                at = match.start()
            if at == 0 or (text[at] in _CLOSERS and not text[at - 1].isspace()):
                continue
            slot = bisect_right(edges, at) - 1
            if slot >= 0 and spans[slot].start < at < spans[slot].end:
                continue
            starts.append(at)
    return starts


@lru_cache(maxsize=2)
def _boundaries(window: str) -> tuple[int, ...]:
    """Of one text it is asked whether it has sentences at all, and soon where."""
    from sentencex import get_sentence_boundaries

    return tuple(boundary["start_index"] for boundary in get_sentence_boundaries("en", window))


def _windows(text: str) -> list[tuple[int, int]]:
    """Consecutive spans of ``text``, none longer than SENTENCE_WINDOW."""
    windows: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > SENTENCE_WINDOW:
        limit = start + SENTENCE_WINDOW
        end = limit
        for match in _WINDOW_END.finditer(text, start + SENTENCE_WINDOW // 2, limit - 1):
            end = match.end()
        windows.append((start, end))
        start = end
    windows.append((start, len(text)))
    return windows
