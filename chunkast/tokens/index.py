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

import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise, repeat

from chunkast.tokens.counter import Counter

__all__ = ("TokenIndex",)

_PUNCTUATION = r"!\"#$%&()*+,\-.:;<=>?@\[\\\]^`{|}~、。，！？；：（）「」『』《》"
_SAFE = re.compile(rf"(?<=\S)(?= )|(?<=[^\W_])(?=[{_PUNCTUATION}\r\n])|(?<=[A-Za-z])(?=[0-9])")
# The last position of the kind in a text.
_LAST_SAFE = re.compile(
    rf".*(?:\S(?= )|[^\W_](?=[{_PUNCTUATION}\r\n])|[A-Za-z](?=[0-9]))", re.DOTALL
)
_NOT_BLANK = re.compile(r"[^\S\r\n]*\S")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Anchors inside long blocks, so that no count has to walk far.
_ANCHOR_DISTANCE = 1_024
_ANCHOR_GAP = 2 * _ANCHOR_DISTANCE
_NEAR = 64
# About so many characters are encoded together.
_SEGMENT = 262_144
# Texts shorter than this have offsets of four bytes.
_MANY = 2**32


class TokenIndex:
    """Exact token counts of spans of ``text``, and cheap estimates of positions.

    ``positions`` are starts of lines, sorted: where chunks are likely to begin. The text
    is encoded once; between safe positions a count is two bisections.
    """

    __slots__ = (
        "_anchors",
        "_counter",
        "_ends",
        "_lengths",
        "_prefix",
        "_slash",
        "_widest",
        "text",
    )

    def __init__(self, text: str, counter: Counter, positions: Iterable[int]) -> None:
        self.text = text
        self._counter = counter
        self._slash = counter.name.startswith("o200k")
        self._lengths: dict[str, int] = {}
        # How many tokens a character may have: no token of an encoding is empty.
        self._widest = math.inf
        self._ends: array[int] | None = None
        if counter.token_ends is not None and (text.isascii() or not _SURROGATE.search(text)):
            self._ends = array("I" if len(text) < _MANY else "Q")
            self._widest = 1 if text.isascii() else 4
        self._anchors = self._place_anchors(positions)
        if self._ends is not None and counter.token_ends is not None:
            first = 0
            for last in self._segments():
                self._ends.extend(counter.token_ends(text[first:last], first))
                first = last
        self._prefix = self._prefix_sums()

    def _segments(self) -> Iterator[int]:
        """The ends of the parts of the text that are encoded one by one: safe positions.

        While a text is encoded, its tokens take ten times as much memory as it does.
        """
        first = 0
        for anchor in self._anchors if len(self.text) > _SEGMENT else ():
            if anchor - first >= _SEGMENT:
                yield anchor
                first = anchor
        yield len(self.text)

    def _prefix_sums(self) -> list[int]:
        """How many tokens lie before each anchor."""
        if self._ends is not None:
            return list(map(bisect_right, repeat(self._ends), self._anchors))
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
        """The text's ends, the safe ``positions``, and inner anchors where these are far apart."""
        text = self.text
        safe = [position for position in positions if position and self._begins_safely(position)]
        if not safe or safe[-1] != len(text):
            safe.append(len(text))
        anchors = [0]
        last = 0
        for position in safe:
            while position - last > _ANCHOR_GAP:
                inner = self._inner_anchor(last + _ANCHOR_DISTANCE, position)
                if inner >= position:
                    break
                anchors.append(inner)
                last = inner
            if position > last:
                anchors.append(position)
                last = position
        return anchors

    def _begins_safely(self, position: int) -> bool:
        """Rule 1: whether the line that begins at ``position`` is not blank."""
        first = self.text[position : position + 1]
        if first.isspace():
            return _NOT_BLANK.match(self.text, position) is not None
        return not (self._slash and first == "/")

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

    def exact(self) -> dict[int, int]:
        """The positions at which :meth:`estimate` is exact without counting, and what it says."""
        return dict(zip(self._anchors, self._prefix, strict=True))

    def at_most(self, start: int, end: int) -> float:
        """A bound of ``count(start, end)`` that costs nothing; infinite where there is none."""
        return (end - start) * self._widest

    def count(self, start: int, end: int) -> int:
        """Exactly how many tokens ``text[start:end]`` has."""
        if start >= end:
            return 0
        if self._ends is None:
            return self._counter.count(self.text[start:end])
        first = start if self._is_safe(start) else self._safe_behind(start, end)
        if first >= end:
            return self._length(self.text[start:end])
        tokens = self.before(end, first) - bisect_right(self._ends, first)
        return tokens + self._length(self.text[start:first]) if start < first else tokens

    def before(self, end: int, start: int = 0) -> int:
        """How many tokens ``text[:end]`` has, for an encoding that is :attr:`additive`.

        Less those before a safe position, it is what ``text[position:end]`` has. No text
        before the safe position ``start`` is looked at.
        """
        assert self._ends is not None, "asked only where tokens have offsets"
        behind = self.text[end - 1 : end + 1] if end else ""
        if len(behind) == 2 and behind[1] in "\r\n" and behind[0].isalnum():
            return bisect_right(self._ends, end)  # by far the most common, by rule 5
        last = end if self._is_safe(end) else self._safe_before(end, start)
        tokens = bisect_right(self._ends, last)
        return tokens + self._length(self.text[last:end]) if last < end else tokens

    def _is_safe(self, position: int) -> bool:
        text = self.text
        if position in (0, len(text)):
            return True
        if text[position - 1] in "\r\n":
            return self._begins_safely(position)
        return _SAFE.match(text, position) is not None

    def _safe_behind(self, start: int, end: int) -> int:
        """The first safe position in ``(start, end)`` that is found by rules 2 to 5, or an anchor."""
        slot = bisect_right(self._anchors, start)
        anchor = self._anchors[slot] if slot < len(self._anchors) else end
        match = _SAFE.search(self.text, start + 1, min(anchor, end))
        return match.start() if match else min(anchor, end)

    def _safe_before(self, end: int, start: int) -> int:
        """The last safe position before ``end`` by rules 2 to 5, a line's start, or an anchor.

        At least ``start``, which is safe.
        """
        anchor = max(start, self._anchors[bisect_left(self._anchors, end) - 1])
        near = max(anchor, end - _NEAR)
        match = _LAST_SAFE.match(self.text, near, end)
        if match:
            return match.end()
        # A paragraph may have lines by the thousand that no other rule finds anything in.
        line = max(self.text.rfind("\n", near, end - 1), self.text.rfind("\r", near, end - 1)) + 1
        return line if line > near and self._begins_safely(line) else anchor

    def _length(self, piece: str) -> int:
        """The count of a piece; of a short one remembered: the same few end most paragraphs."""
        if len(piece) > _NEAR:
            return self._counter.count(piece)
        known = self._lengths.get(piece)
        if known is None:
            known = self._lengths[piece] = self._counter.count(piece)
        return known
