"""Count the tokens in any span of a document, but read the document only once.

Tokens are counted between *checkpoints*: safe positions (``tokens/safe.py``) at which blocks begin,
and other safe positions inside long blocks.
"""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise
from operator import sub
from typing import Final

from chunkast.text.source_map import has_surrogates, make_array, without_surrogates
from chunkast.tokens.counter import TokenCounter
from chunkast.tokens.safe import CL100K_POSITIONS
from chunkast.tokens.span_counts import NOT_EXACT, Exact, Remembered, SpanCounts, remember

__all__ = ("TokenIndex",)

# The distance of checkpoints inside long blocks, so that no count has to walk far.
_CHECKPOINT_DISTANCE = 1_024
_CHECKPOINT_GAP = 2 * _CHECKPOINT_DISTANCE
# Up to this many characters between a position and a checkpoint are counted directly, and the
# count is remembered. Spans of at most ``_SHORT`` characters are counted wherever they are.
_NEAR_DISTANCE = 64
_SHORT = 16
# A span that is trimmed loses at most this many tokens, unless it has much white space, and it
# never gains as many as ``_TRIMMED``.
_MOST_SPACE: Final = 16
_TRIMMED: Final = 8
# A span is only counted if its estimate is at most four times the limit, and this much more.
_FAR: Final = 64
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# The maximum number of positions, and of short spans, whose counts are remembered.
_MAX_REMEMBERED: Final = 16_384
# Offsets in texts with fewer characters fit in four bytes.
_UNSIGNED_INT_LIMIT = 2**32


class TokenIndex(SpanCounts):
    """Exact token counts of spans of ``text``, and fast estimates of the tokens before a position.

    ``positions`` are the starts of lines at which chunks are likely to begin, sorted and without
    duplicates. Counting the tokens between two checkpoints takes two bisections.
    """

    __slots__ = (
        "_checkpoints",
        "_counter",
        "_inner",
        "_lengths",
        "_most_per_character",
        "_none_safe",
        "_prefix",
        "_released",
        "_remembered",
        "_safe",
    )

    def __init__(self, text: str, counter: TokenCounter, positions: Sequence[int]) -> None:
        self.estimated = False
        self.additive = counter.pretokens is not None
        # Without pre-tokens, these only tell where blocks begin.
        self._safe = counter.pretokens.safe if counter.pretokens else CL100K_POSITIONS
        if self.additive and not text.isascii() and has_surrogates(text):
            # tiktoken reads a lone surrogate as U+FFFD, but a pair as one character, and a span
            # may end inside a pair.
            self.additive = _SURROGATE_PAIR.search(text) is None
            text = without_surrogates(text) if self.additive else text
        self.text = text
        self._counter = counter
        self._lengths = Remembered(counter.count, _MAX_REMEMBERED)
        # By a checkpoint's number: the ends of the tokens between the previous checkpoint and it,
        # stored on first use.
        self._inner: dict[int, Sequence[int]] = {}
        self._released = 0
        # The maximum number of tokens per character: no token is empty.
        self._most_per_character = (1 if text.isascii() else 4) if self.additive else math.inf
        self._checkpoints = self._place_checkpoints(positions)
        tokens = accumulate(counter.each(text, self._checkpoints), initial=0)
        self._prefix = self.collect(tokens)
        self.exact = Exact(self._checkpoints, self._prefix)
        # The tokens before other positions; None for a position that is not safe.
        self._remembered: dict[int, int | None] = {}
        # By a checkpoint's number: a span before it inside which no position is safe.
        self._none_safe: dict[int, tuple[int, int]] = {}

    def adds_up_after_line_end(self, position: int) -> bool:
        """Return whether no token can span ``position`` and a line ending directly before it.

        If so, by rule 1, the token counts of any text that ends with a line ending and of the
        text after ``position`` add up.
        """
        return self.additive and self._safe.at_line_start(self.text, position)

    def _place_checkpoints(self, positions: Sequence[int]) -> Sequence[int]:
        """Return the checkpoints: the text's ends, safe ``positions``, and some between them."""
        text = self.text
        begins = partial(self._safe.at_line_start, text)
        safe = make_array(filter(begins, positions), len(text))
        if not safe or safe[0]:
            safe.insert(0, 0)
        if text:
            safe.append(len(text))
        if max(map(sub, safe[1:], safe), default=0) <= _CHECKPOINT_GAP:
            return safe
        checkpoints = safe[:1]
        for last, position in pairwise(safe):
            inner = last
            while self.additive and position - inner > _CHECKPOINT_GAP:
                match = self._safe.inner.search(text, inner + _CHECKPOINT_DISTANCE, position)
                if not match:
                    break
                inner = match.start()
                checkpoints.append(inner)
            checkpoints.append(position)
        return checkpoints

    def estimate(self, position: int) -> int:
        """Return the estimated number of tokens before ``position``. It is exact at checkpoints."""
        slot = bisect_right(self._checkpoints, position) - 1
        start = self._checkpoints[slot]
        if start == position:
            return self._prefix[slot]
        end = self._checkpoints[slot + 1]
        tokens = self._prefix[slot + 1] - self._prefix[slot]
        return self._prefix[slot] + tokens * (position - start) // (end - start)

    def count(self, start: int, end: int) -> int:
        """Return the exact number of tokens in ``text[start:end]``."""
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
        tokens = self._before(end, first) - before
        return tokens + self._length(self.text[start:first]) if start < first else tokens

    def bounds(self, start: int, end: int) -> tuple[float, float]:
        """Return a lower and an upper bound of the token counts of a span and the trimmed span."""
        if not self.additive:
            # Estimates of a user's own counter are only roughly right.
            return (self.estimate(end) - self.estimate(start) - _FAR) / 4, math.inf
        places, prefix = self._checkpoints, self._prefix
        first, last = bisect_left(places, start), bisect_right(places, end) - 1
        # The checkpoints inside the span; the rest may have a token for each character, or more.
        rest = places[first] - start + end - places[last]
        if not rest:
            tokens = prefix[last] - prefix[first]
            return tokens - _MOST_SPACE, tokens + _TRIMMED
        if first > last:
            return 0, (end - start) * self._most_per_character
        tokens = prefix[last] - prefix[first]
        return tokens - _MOST_SPACE, tokens + rest * self._most_per_character + _TRIMMED

    def may_be_within(self, positions: Sequence[int], step: int, room: int) -> list[bool]:
        """Return, without counting, whether each span may have at most ``room`` tokens."""
        before = list(self.exact.each(positions))
        if not self.additive or NOT_EXACT in before:
            return super().may_be_within(positions, step, room)
        most = room + _MOST_SPACE
        return [last - first <= most for first, last in zip(before, before[step:], strict=False)]

    def count_after(self, before: str, start: int, end: int) -> int:
        """Return the exact number of tokens in ``before + text[start:end]``."""
        return self._counter.count(before + self.text[start:end])

    def _before(self, end: int, start: int) -> int:
        """Return the number of tokens in ``text[:end]`` without reading text before ``start``.

        ``start`` must be safe. To get the token count of ``text[position:end]``, subtract the
        number of tokens before ``position``, which must also be safe.
        """
        tokens = self._tokens_at(end)
        if tokens is not None:
            return tokens
        last = self._safe_before(end, start)
        return self._before_safe(last) + self._length(self.text[last:end])

    def release(self, position: int) -> None:
        """Free the stored token ends before ``position``, which makes counting there slower."""
        if self._inner:
            before = bisect_right(self._checkpoints, position)
            for slot in range(self._released, before):
                self._inner.pop(slot, None)
            self._released = before

    def _tokens_at(self, position: int) -> int | None:
        """Return the number of tokens before ``position``, or None if it is not safe; cached."""
        # The most frequent case; ``exact.get`` inlined.
        slot = bisect_left(self._checkpoints, position)
        if self._checkpoints[slot] == position:
            return self._prefix[slot]
        if position in self._remembered:
            return self._remembered[position]
        tokens = self._before_safe(position) if self._is_safe(position) else None
        remember(self._remembered, position, tokens, _MAX_REMEMBERED)
        return tokens

    def _before_safe(self, position: int) -> int:
        """Return the number of tokens before a safe position, counted from a nearby checkpoint."""
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
        """Return the ends of the tokens between checkpoints ``slot - 1`` and ``slot``."""
        start, end = self._checkpoints[slot - 1], self._checkpoints[slot]
        pretokens = self._counter.pretokens
        assert pretokens is not None, "called only where counts add up"
        kind = "I" if len(self.text) < _UNSIGNED_INT_LIMIT else "Q"
        return array(kind, pretokens.token_ends(self.text[start:end], start))

    def _is_safe(self, position: int) -> bool:
        text = self.text
        if position in (0, len(text)):
            return True
        previous = text[position - 1]
        if previous in "\r\n":
            return self._safe.at_line_start(text, position)
        if text[position] in "\r\n" and previous.isalnum():
            return True  # the most common case, by rule 5
        return self._safe.inner.match(text, position) is not None

    def _safe_after(self, start: int, end: int) -> int:
        """Return the first position after ``start`` that is a checkpoint or safe by rules 2 to 5.

        Returns ``end`` if there is no such position before it.
        """
        slot = bisect_right(self._checkpoints, start)
        if slot == len(self._checkpoints):
            return end
        checkpoint = self._checkpoints[slot]
        first, after = self._none_safe.get(slot, (checkpoint, checkpoint))
        if start >= after:
            first = after = checkpoint
        if start < first:
            # Up to the known span.
            match = self._safe.inner.search(self.text, start + 1, first + 1)
            after = match.start() if match else after
            remember(self._none_safe, slot, (start, after), _MAX_REMEMBERED)
        return min(after, end)

    def _safe_before(self, end: int, start: int) -> int:
        """Return a nearby safe position before ``end``, but not before ``start``, which is safe.

        The position is safe by rules 2 to 5, or is the start of a line or a checkpoint.
        """
        checkpoint = max(start, self._checkpoints[bisect_left(self._checkpoints, end) - 1])
        near = max(checkpoint, end - _NEAR_DISTANCE)
        match = self._safe.last.match(self.text, near, end)
        if match:
            return match.end()
        # A paragraph may have thousands of lines in which no other rule applies.
        line = max(self.text.rfind("\n", near, end - 1), self.text.rfind("\r", near, end - 1)) + 1
        return line if line > near and self._safe.at_line_start(self.text, line) else checkpoint

    def _length(self, span: str) -> int:
        """Return a span's token count; the counts of short spans are cached, because many recur."""
        return self._counter.count(span) if len(span) > _NEAR_DISTANCE else self._lengths[span]
