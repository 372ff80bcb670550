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
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise

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
_VERY_NEAR = 6


class TokenIndex:
    """Exact token counts of spans of ``text``, and cheap estimates of positions.

    ``positions`` are starts of lines, sorted: where chunks are likely to begin. The text
    is encoded once; between safe positions a count is two bisections.
    """

    __slots__ = ("_anchors", "_bytes", "_counter", "_ends", "_lengths", "_prefix", "_slash", "text")

    def __init__(self, text: str, counter: Counter, positions: Iterable[int]) -> None:
        self.text = text
        self._counter = counter
        self._slash = counter.name.startswith("o200k")
        self._lengths: dict[str, int] = {}
        ascii_only = text.isascii()
        self._ends: array[int] | None = None
        if counter.token_ends is not None and (ascii_only or not _SURROGATE.search(text)):
            self._ends = counter.token_ends(text)
        self._anchors = self._place_anchors(positions)
        # Where each anchor lies in UTF-8; nothing where that is the same.
        self._bytes: list[int] = []
        if self._ends is not None and not ascii_only:
            pieces = (len(text[start:end].encode()) for start, end in pairwise(self._anchors))
            self._bytes = list(accumulate(pieces, initial=0))
        self._prefix = self._prefix_sums()

    def _prefix_sums(self) -> list[int]:
        """How many tokens lie before each anchor."""
        ends = self._ends
        if ends is not None:
            return [bisect_right(ends, place) for place in self._bytes or self._anchors]
        count = self._counter.count
        pieces = (count(self.text[start:end]) for start, end in pairwise(self._anchors))
        return list(accumulate(pieces, initial=0))

    @property
    def additive(self) -> bool:
        """Whether estimates are sums of exact counts, off by a few tokens at the most."""
        return self._ends is not None

    def adds_up_behind_line_end(self, position: int) -> bool:
        """Whether nothing joins the text from ``position`` on to a line end put before it.

        Then a text that ends with one, and this text behind it, have the tokens of both
        (rule 1).
        """
        return self._ends is not None and self._begins_safely(position)

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
        if self._ends is None:
            return end
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
        text = self.text
        if self._ends is None:
            return self._counter.count(text[start:end])
        first = start if self._is_safe(start) else self._safe_behind(start, end)
        if first >= end:
            return self._length(text[start:end])
        last = end if self._is_safe(end) else self._safe_before(end, first)
        tokens = self._before(last) - self._before(first)
        if start < first:
            tokens += self._length(text[start:first])
        if last < end:
            tokens += self._length(text[last:end])
        return tokens

    def _before(self, position: int) -> int:
        """How many tokens lie before a safe position."""
        place = position
        if self._bytes:
            slot = bisect_right(self._anchors, position) - 1
            place = self._bytes[slot]
            if self._anchors[slot] < position:
                place += len(self.text[self._anchors[slot] : position].encode())
        assert self._ends is not None, "asked only where tokens have offsets"
        return bisect_right(self._ends, place)

    def _is_safe(self, position: int) -> bool:
        text = self.text
        if position in (0, len(text)) or _SAFE.match(text, position):
            return True
        return text[position - 1] in "\r\n" and self._begins_safely(position)

    def _safe_behind(self, start: int, end: int) -> int:
        """The first safe position in ``(start, end)`` that is found by rules 2 to 5, or an anchor."""
        slot = bisect_right(self._anchors, start)
        anchor = self._anchors[slot] if slot < len(self._anchors) else end
        match = _SAFE.search(self.text, start + 1, min(anchor, end))
        return match.start() if match else min(anchor, end)

    def _safe_before(self, end: int, start: int) -> int:
        """The last safe position in ``[start, end)`` by rules 2 to 5, or the last anchor there."""
        for position in range(end - 1, max(start, end - _VERY_NEAR), -1):
            if _SAFE.match(self.text, position):
                return position  # a full stop behind a word, nearly always
        anchor = max(start, self._anchors[bisect_left(self._anchors, end) - 1])
        near = max(anchor, end - _NEAR)
        last = anchor
        for match in _SAFE.finditer(self.text, near, end):
            last = match.start()
        return last

    def _length(self, piece: str) -> int:
        """The count of a piece; of a short one remembered: the same few end most paragraphs."""
        if len(piece) > _NEAR:
            return self._counter.count(piece)
        known = self._lengths.get(piece)
        if known is None:
            known = self._lengths[piece] = self._counter.count(piece)
        return known
