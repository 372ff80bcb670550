r"""Token counts of any span of one document, from one pass over it.

The tokens are counted between *checkpoints*: safe positions where blocks begin, and others
inside long ones.

Counts of neighbouring spans add up to the count of the whole only where the encoding
always splits the text. Such positions are called *safe* here. A position is safe
when no match of the splitting pattern spans it, whatever text surrounds it: then the
text left of it and the text right of it are split as if they stood alone.

Proof for the patterns of cl100k_base and o200k_base (o200k_harmony has the latter's).
Their alternatives are: a word (letters, with at most one leading character that is no
letter, digit or line end; o200k also takes marks as letters, and a contraction that
begins with an apostrophe at the end); up to three digits; punctuation with at most one
leading space and trailing line ends (o200k: and slashes); white space up to a line end;
white space before white space or before the end; white space.

1. *The start of a line that is not blank* (o200k: and does not begin with a slash).
   A match over it would contain a line end followed by something else. In the
   punctuation alternative only line ends (o200k: slashes) follow a line end. In
   "white space up to a line end" the greedy match ends after the last line end of
   the white space, which is this position or before it, for the rest of the line's
   indentation contains none. The remaining white space alternatives are tried only where
   no line end is left ahead in the white space. Cut off here, the white space before it
   ends the text, is matched whole by "white space before the end", and is the same pre-token.
2. *Before a space that follows something that is not white space.* No alternative has
   a space, or any white space that is not a line end, after a character that is none.
3. *Between a letter or digit and ASCII or CJK punctuation* other than an apostrophe.
   After letters only letters, marks and the apostrophe of a contraction can follow in
   a match, after digits only digits.
4. *Between an ASCII letter and an ASCII digit*: for the same reason.
5. *Between a letter or digit and a line end*: likewise.

What Python calls white space or a letter may differ from what tiktoken's regular
expressions do in one direction only: Python's white space also contains U+001C to U+001F
(so more is taken as unsafe), and a character that is a letter or digit in Python's
Unicode version stays one in later versions. Lone surrogates are encoded as U+FFFD is. A
document with surrogates in pairs is counted without these shortcuts, and so is every
document by another counter.
"""

from __future__ import annotations

import math
import re
import string
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import sub
from typing import Final

from chunkast.text.source_map import has_surrogates, make_array, without_surrogates
from chunkast.tokens.counter import Counter
from chunkast.tokens.spans import NOT_EXACT, Exact, SpanCounts, remember

__all__ = ("TokenIndex",)

_ASCII_PUNCTUATION = frozenset(string.punctuation) - frozenset("'/_")
_PUNCTUATION = r"!\"#$%&()*+,\-.:;<=>?@\[\\\]^`{|}~、。，！？；：（）「」『』《》"
_SAFE = re.compile(rf"(?<=\S)(?= )|(?<=[^\W_])(?=[{_PUNCTUATION}\r\n])|(?<=[A-Za-z])(?=[0-9])")
# The last position of the kind in a text.
_LAST_SAFE = re.compile(
    rf".*(?:\S(?= )|[^\W_](?=[{_PUNCTUATION}\r\n])|[A-Za-z](?=[0-9]))", re.DOTALL
)
_SAFE_FIRST_CHARACTERS = frozenset(string.ascii_letters + string.digits + "#*-`|<>[")
_NOT_BLANK = re.compile(r"[^\S\r\n]*\S")
# Checkpoints inside long blocks, so that no count has to walk far.
_CHECKPOINT_DISTANCE = 1_024
_CHECKPOINT_GAP = 2 * _CHECKPOINT_DISTANCE
# What is between a position and a checkpoint is counted directly up to this many characters,
# and the count remembered; a span up to that many without a look at where it stands.
_NEAR_DISTANCE = 64
_SHORT = 16
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# The most positions, and the most short spans, whose counts are remembered.
_MAX_REMEMBERED: Final = 16_384
# Offsets in texts with fewer characters than this fit in four bytes.
_UNSIGNED_INT_LIMIT = 2**32


class TokenIndex(SpanCounts):
    """Exact token counts of spans of ``text``, and cheap estimates of positions.

    ``positions`` are starts of lines, sorted, each once: where chunks are likely to begin. Between
    checkpoints a count is two bisections.
    """

    __slots__ = (
        "_checkpoints",
        "_counter",
        "_inner",
        "_lengths",
        "_none_safe",
        "_prefix",
        "_released",
        "_remembered",
        "_slash",
        "_unsafe",
    )

    def __init__(self, text: str, counter: Counter, positions: Sequence[int]) -> None:
        self.estimated = False
        self.additive = counter.token_ends is not None
        if self.additive and not text.isascii() and has_surrogates(text):
            # tiktoken takes a lone surrogate for U+FFFD, but two that are a pair for one
            # character, which a span may end inside of.
            self.additive = _SURROGATE_PAIR.search(text) is None
            text = without_surrogates(text) if self.additive else text
        self.text = text
        self._counter = counter
        self._slash = counter.name.startswith("o200k")
        self._lengths: dict[str, int] = {}
        # By a checkpoint's number: where the tokens between the previous checkpoint and it end,
        # filled in when it is first needed.
        self._inner: dict[int, Sequence[int]] = {}
        self._released = 0
        # How many tokens a character may have: no token of an encoding is empty.
        self.most_per_character = (1 if text.isascii() else 4) if self.additive else math.inf
        self._checkpoints = self._place_checkpoints(positions)
        tokens = accumulate(counter.each(text, self._checkpoints), initial=0)
        self._prefix = make_array(tokens, len(text))
        self.exact = Exact(self._checkpoints, self._prefix)
        # The tokens before other positions counted so far; None for a position that is not safe.
        self._remembered: dict[int, int | None] = {}
        # By a checkpoint's number: a span before it, inside of which no position is safe.
        self._none_safe: dict[int, tuple[int, int]] = {}
        # The tokens of the text up to positions that are not safe.
        self._unsafe: dict[int, int] = {}

    def adds_up_after_line_end(self, position: int) -> bool:
        """Whether nothing joins the text from ``position`` on to a line end put before it.

        Then a text that ends with one, and this text after it, have the tokens of both
        (rule 1).
        """
        return self.additive and self._begins_safely(position)

    def _place_checkpoints(self, positions: Sequence[int]) -> Sequence[int]:
        """The text's ends, the safe ``positions``, and inner checkpoints where these are far apart."""
        text = self.text
        # Most begin with a letter or a mark, and need no further check.
        found = (
            position
            for position in positions
            if text[position] in _SAFE_FIRST_CHARACTERS or self._begins_safely(position)
        )
        safe = make_array(found, len(text))
        if not safe or safe[0]:
            safe.insert(0, 0)
        if text:
            safe.append(len(text))
        if max(map(sub, safe[1:], safe), default=0) <= _CHECKPOINT_GAP:
            return safe
        checkpoints = safe[:1]
        for last, position in pairwise(safe):
            inner = last
            while position - inner > _CHECKPOINT_GAP:
                inner = self._inner_checkpoint(inner + _CHECKPOINT_DISTANCE, position)
                if inner < position:
                    checkpoints.append(inner)
            checkpoints.append(position)
        return checkpoints

    def _begins_safely(self, position: int) -> bool:
        """Rule 1: whether the line that begins at ``position`` is not blank."""
        first = self.text[position : position + 1]
        if first.isspace():
            return _NOT_BLANK.match(self.text, position) is not None
        return not (self._slash and first == "/")

    def _inner_checkpoint(self, start: int, end: int) -> int:
        if not self.additive:
            return end
        match = _SAFE.search(self.text, start, end)
        return match.start() if match else end

    def estimate(self, position: int) -> int:
        """About how many tokens lie before ``position``; exact at a safe position.

        Never decreases from one position to a later one.
        """
        slot = bisect_right(self._checkpoints, position) - 1
        start = self._checkpoints[slot]
        if start == position:
            return self._prefix[slot]
        end = self._checkpoints[slot + 1]
        tokens = self._prefix[slot + 1] - self._prefix[slot]
        return self._prefix[slot] + tokens * (position - start) // (end - start)

    def count(self, start: int, end: int) -> int:
        """Exactly how many tokens ``text[start:end]`` has."""
        if start >= end:
            return 0
        if not self.additive:
            return self._counter.count(self.text[start:end])
        if end - start <= _SHORT:
            return self._length(self.text[start:end])
        first, before = start, self._tokens_at(start)
        if before is None:
            first = self._safe_after(start, end)
            if first >= end:
                return self._length(self.text[start:end])
            before = self._before_safe(first)
        tokens = self.upto(end, first) - before
        return tokens + self._length(self.text[start:first]) if start < first else tokens

    def count_after(self, before: str, start: int, end: int) -> int:
        """How many tokens ``before + text[start:end]`` has."""
        return self._counter.count(before + self.text[start:end])

    def base(self, start: int, end: int) -> int:  # noqa: ARG002 - for every end
        """The tokens before ``start`` where these are exact."""
        return self.exact.get(start) if self.additive else NOT_EXACT

    def upto(self, end: int, start: int = 0) -> int:
        """How many tokens ``text[:end]`` has, for an encoding that is :attr:`additive`.

        Less those before a safe position, it is what ``text[position:end]`` has. No text
        before the safe position ``start`` is looked at.
        """
        tokens = self._tokens_at(end)
        if tokens is None:
            tokens = self._unsafe.get(end)
        if tokens is None:
            last = self._safe_before(end, start)
            tokens = self._before_safe(last) + self._length(self.text[last:end])
            remember(self._unsafe, end, tokens, _MAX_REMEMBERED)
        return tokens

    def release(self, position: int) -> None:
        """Free the token ends before ``position``; counts there take longer afterwards.

        Kept, they take up to a byte for every character of long paragraphs: on 2 million
        characters of them 1.5 MB at the peak, of 5.
        """
        if self._inner:
            before = bisect_right(self._checkpoints, position)
            for slot in range(self._released, before):
                self._inner.pop(slot, None)
            self._released = before

    def _tokens_at(self, position: int) -> int | None:
        """How many tokens lie before ``position``, if it is safe; remembered."""
        # The same as ``exact.get``, without a call: this is the most frequent case.
        slot = bisect_left(self._checkpoints, position)
        if self._checkpoints[slot] == position:
            return self._prefix[slot]
        if position in self._remembered:
            return self._remembered[position]
        tokens = self._before_safe(position) if self._is_safe(position) else None
        remember(self._remembered, position, tokens, _MAX_REMEMBERED)
        return tokens

    def _before_safe(self, position: int) -> int:
        """How many tokens lie before a safe position: those before a checkpoint near it, and between."""
        slot = bisect_left(self._checkpoints, position)
        checkpoint = self._checkpoints[slot]
        if checkpoint == position:
            return self._prefix[slot]
        if checkpoint - position <= _NEAR_DISTANCE:
            return self._prefix[slot] - self._length(self.text[position:checkpoint])
        inner = self._inner.get(slot)
        if inner is None:
            inner = self._inner[slot] = self._token_ends(slot)
        return self._prefix[slot - 1] + bisect_right(inner, position)

    def _token_ends(self, slot: int) -> Sequence[int]:
        """Where the tokens end between a checkpoint, by its number, and the one before."""
        start, end = self._checkpoints[slot - 1], self._checkpoints[slot]
        token_ends = self._counter.token_ends
        assert token_ends is not None, "called only where counts add up"
        kind = "I" if len(self.text) < _UNSIGNED_INT_LIMIT else "Q"
        return array(kind, token_ends(self.text[start:end], start))

    def _is_safe(self, position: int) -> bool:
        text = self.text
        if position in (0, len(text)):
            return True
        previous = text[position - 1]
        if previous in "\r\n":
            return self._begins_safely(position)
        if text[position] in "\r\n" and previous.isalnum():
            return True  # by far the most common, by rule 5
        return _SAFE.match(text, position) is not None

    def _safe_after(self, start: int, end: int) -> int:
        """The first safe position in ``(start, end)`` that is found by rules 2 to 5, or a checkpoint."""
        slot = bisect_right(self._checkpoints, start)
        if slot == len(self._checkpoints):
            return end
        checkpoint = self._checkpoints[slot]
        first, after = self._none_safe.get(slot, (checkpoint, checkpoint))
        if start >= after:
            first = after = checkpoint
        if start < first:
            # No further than to what is known already.
            match = _SAFE.search(self.text, start + 1, first + 1)
            after = match.start() if match else after
            remember(self._none_safe, slot, (start, after), _MAX_REMEMBERED)
        return min(after, end)

    def _safe_before(self, end: int, start: int) -> int:
        """The last safe position before ``end`` by rules 2 to 5, a line's start, or a checkpoint.

        At least ``start``, which is safe.
        """
        checkpoint = max(start, self._checkpoints[bisect_left(self._checkpoints, end) - 1])
        near = max(checkpoint, end - _NEAR_DISTANCE)
        text = self.text
        if text[end - 1] in _ASCII_PUNCTUATION and text[end - 2].isalnum():
            return end - 1  # most sentences end like that; rule 3
        match = _LAST_SAFE.match(self.text, near, end)
        if match:
            return match.end()
        # A paragraph may have thousands of lines in which no other rule finds anything.
        line = max(self.text.rfind("\n", near, end - 1), self.text.rfind("\r", near, end - 1)) + 1
        return line if line > near and self._begins_safely(line) else checkpoint

    def _length(self, span: str) -> int:
        """The count of a span; that of a short one is remembered: the same few end most paragraphs."""
        if len(span) > _NEAR_DISTANCE:
            return self._counter.count(span)
        known = self._lengths.get(span)
        if known is None:
            known = self._counter.count(span)
            remember(self._lengths, span, known, _MAX_REMEMBERED)
        return known
