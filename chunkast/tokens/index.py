r"""Token counts of any span of one document, from one pass over it.

Counts of neighbouring pieces add up to the count of the whole only where the encoding
splits the text in any case. Such positions are called *safe* here. A position is safe
when no match of the splitting pattern spans it, whatever text surrounds it: then the
text left of it and the text right of it are split as if they stood alone.

Proof for the patterns of cl100k_base and o200k_base (o200k_harmony has the latter's).
Their alternatives are: a word (letters, with at most one leading character that is no
letter, digit or line end; o200k also takes marks as letters, and a contraction that
begins with an apostrophe at the end); up to three digits; punctuation with at most one
leading space and trailing line ends (o200k: and slashes); white space up to a line end;
white space before white space or before the end; white space.

1. *The start of a line that is not blank* (o200k: and does not begin with a slash).
   A match over it would hold a line end followed by something else. In the
   punctuation alternative only line ends (o200k: slashes) follow a line end. In
   "white space up to a line end" the greedy match ends behind the last line end of
   the white space, which is this position or before it, for the rest of the line's
   indentation holds none. The remaining white space alternatives are tried only where
   no line end is left ahead in the white space. Cut off here, the white space before it
   ends the text, is matched whole by "white space before the end", and is the same piece.
2. *Before a space that follows something that is not white space.* No alternative has
   a space, or any white space that is no line end, behind a character that is none.
3. *Between a letter or digit and ASCII or CJK punctuation* other than an apostrophe.
   Behind letters only letters, marks and the apostrophe of a contraction can follow in
   a match, behind digits only digits.
4. *Between an ASCII letter and an ASCII digit*: for the same reason.
5. *Between a letter or digit and a line end*: likewise.

What Python calls white space or a letter may differ from what tiktoken's regular
expressions do in one direction only: Python's white space also holds U+001C to U+001F
(so more is taken as unsafe), and a character that is a letter or digit in Python's
Unicode version stays one in later versions. Lone surrogates change what is encoded, so a
document that has any is counted without these shortcuts, and so is every other counter.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise

from chunkast.tokens.counter import Counter

__all__ = ("TokenIndex",)

_PUNCTUATION = r"!\"#$%&()*+,\-.:;<=>?@\[\\\]^`{|}~、。，！？；：（）「」『』《》"
_SAFE = re.compile(rf"(?<=\S)(?= )|(?<=[^\W_])(?=[{_PUNCTUATION}\r\n])|(?<=[A-Za-z])(?=[0-9])")
_NOT_BLANK = re.compile(r"[^\S\r\n]*\S")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Anchors inside long blocks, so that no count has to walk far.
_ANCHOR_DISTANCE = 1_024
_ANCHOR_GAP = 2 * _ANCHOR_DISTANCE
_NEAR = 64


class TokenIndex:
    """Exact token counts of spans of ``text``, and cheap estimates of positions.

    ``positions`` are starts of lines, sorted: where chunks are likely to begin. Counting a span between two of them costs two bisections.
    """

    __slots__ = ("_anchors", "_counter", "_lengths", "_prefix", "_proven", "_slash", "text")

    def __init__(self, text: str, counter: Counter, positions: Iterable[int]) -> None:
        self.text = text
        self._counter = counter
        self._proven = counter.proven and (text.isascii() or not _SURROGATE.search(text))
        self._slash = counter.name.startswith("o200k")
        self._lengths: dict[str, int] = {}
        self._anchors = self._place_anchors(positions)
        count = counter.count
        self._prefix = [0]
        for start, end in pairwise(self._anchors):
            self._prefix.append(self._prefix[-1] + count(text[start:end]))

    @property
    def additive(self) -> bool:
        """Whether estimates are sums of exact counts, off by a few tokens at the most."""
        return self._proven

    def _place_anchors(self, positions: Iterable[int]) -> list[int]:
        text = self.text
        anchors = [0]
        for position in [*positions, len(text)]:
            if position <= anchors[-1] or not self._begins_safely(position):
                continue
            while position - anchors[-1] > _ANCHOR_GAP:
                inner = self._inner_anchor(anchors[-1] + _ANCHOR_DISTANCE, position)
                if inner >= position:
                    break
                anchors.append(inner)
            anchors.append(position)
        if anchors[-1] != len(text):
            anchors.append(len(text))
        return anchors

    def _begins_safely(self, position: int) -> bool:
        """Rule 1: whether the line that begins at ``position`` is not blank."""
        if self._slash and self.text.startswith("/", position):
            return False
        return position == len(self.text) or _NOT_BLANK.match(self.text, position) is not None

    def _inner_anchor(self, start: int, end: int) -> int:
        if not self._proven:
            return start
        match = _SAFE.search(self.text, start, end)
        return match.start() if match else end

    def estimate(self, position: int) -> int:
        """About how many tokens lie before ``position``; exact at a safe position.

        Never decreases from one position to a later one.
        """
        slot = bisect_right(self._anchors, position) - 1
        start = self._anchors[slot]
        if start == position or slot + 1 == len(self._anchors):
            return self._prefix[slot]
        end = self._anchors[slot + 1]
        tokens = self._prefix[slot + 1] - self._prefix[slot]
        return self._prefix[slot] + tokens * (position - start) // (end - start)

    def is_anchor(self, position: int) -> bool:
        """Whether :meth:`estimate` is exact at ``position`` without counting."""
        slot = bisect_left(self._anchors, position)
        return slot < len(self._anchors) and self._anchors[slot] == position

    def count(self, start: int, end: int) -> int:
        """Exactly how many tokens ``text[start:end]`` has."""
        if start >= end:
            return 0
        if not self._proven or end - start <= _NEAR:
            return self._counter.count(self.text[start:end])
        slot = bisect_left(self._anchors, start)
        first = self._anchors[slot] if slot < len(self._anchors) else end
        if first >= end:
            return self._counter.count(self.text[start:end])
        head = self._counter.count(self.text[start:first]) if start < first else 0
        return head + self._up_to(end) - self._prefix[slot]

    def _up_to(self, end: int) -> int:
        """The count of ``text[:end]``, from the nearest anchor."""
        text = self.text
        slot = bisect_left(self._anchors, end)
        right = self._anchors[slot]
        if right == end:
            return self._prefix[slot]
        if right - end <= _NEAR:
            # From the anchor behind: less what follows the last safe place before the
            # end, plus what is left of it up to the end. Usually white space, a full stop.
            safe = self._safe_before(end, max(self._anchors[slot - 1], end - _NEAR))
            if safe >= 0:
                return (
                    self._prefix[slot]
                    - self._length(text[safe:right])
                    + self._length(text[safe:end])
                )
        return self._prefix[slot - 1] + self._counter.count(text[self._anchors[slot - 1] : end])

    def _safe_before(self, end: int, start: int) -> int:
        """The last safe position in ``[start, end]``, or -1; found by rules 2 to 5."""
        text = self.text
        if self._is_safe(end):
            return end
        last = -1
        for match in _SAFE.finditer(text, start, end):
            last = match.start()
        return last

    def _is_safe(self, position: int) -> bool:
        return _SAFE.match(self.text, position) is not None

    def _length(self, piece: str) -> int:
        """The count of a short piece, remembered: the same few end most paragraphs."""
        known = self._lengths.get(piece)
        if known is None:
            known = self._lengths[piece] = self._counter.count(piece)
        return known
