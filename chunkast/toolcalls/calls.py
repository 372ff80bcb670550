"""Find calls in text that arrives in fragments.

A call begins with an opener that is not inside an earlier call, and ends where the matcher of its
kind of body finds its end. It is at most ``max_call_size`` characters long, including its tags. An
opener without such an end is text, and the text after it is read like any other text. An opener
inside a fence is text too, except in the protocol ``xml``, and if the fence only contains the call.

The result does not depend on how the text is divided. The running time is linear in the length of
the text: the end of every call is recorded when it is read, inside an open call too. If an opener
turns out to be text, the ends after it stay the same, and nothing is read again. Only the text
from the start of an open call is kept, and ``max_call_size`` limits its length.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex

from chunkast.toolcalls.body_matchers import BracketMatcher, Opener, matcher_of
from chunkast.toolcalls.call_model import Text, ToolProblem
from chunkast.toolcalls.call_tokens import Token, TokenReader
from chunkast.toolcalls.protocols import PROTOCOLS, Protocol

__all__ = ("CallFinder", "Found", "Segment")


@dataclass(frozen=True, slots=True)
class Segment:
    """A call, or several in one list or tag, that begins with ``opener``."""

    opener: Opener
    text: Text

    @property
    def body(self) -> str:
        """The text after the opener; for ``xml``, the text between the tags."""
        inside = self.text.text[self.opener.body - self.text.start_index :]
        # A closer contains no other "<"; an empty tag has no closer.
        stop = inside.rfind("</") if self.opener.protocol.kind == "elements" else len(inside)
        return inside[: max(0, stop)]


# A problem is an opener that does not begin a call, and the reason. The rest covers the whole
# text without gaps or overlaps.
Found = Segment | Text | ToolProblem


class CallFinder:
    """Finds calls of at most ``max_call_size`` characters, or of any size if it is ``None``."""

    def __init__(
        self, names: Iterable[str], protocols: Sequence[Protocol], max_call_size: int | None
    ) -> None:
        self._names = frozenset(names)
        off = [row for rows in PROTOCOLS.values() for row in rows if row not in protocols]
        self._off = {row.name for row in off}
        self._reader = TokenReader(self._names, protocols, off)
        self._max = math.inf if max_call_size is None else max_call_size
        self._kept = _Kept()
        # Every opener that may still be text or a call, in order, and how many may be calls.
        self._openers: deque[Opener] = deque()
        self._live = 0
        shared = {"json": BracketMatcher(), "python": BracketMatcher(is_python=True)}
        self._matchers = {row: shared.get(row.kind) or matcher_of(row) for row in protocols}
        self._each = list(dict.fromkeys(self._matchers.values()))
        self._tails = {row: regex.compile(row.tail) for row in protocols if row.tail}
        # The opener whose body has ended, and its end so far.
        self._tailed: Opener | None = None
        # The end of the last opener that is text.
        self._looked = -1
        # The marks of the fence that is open.
        self._fence = ""

    def read(self, fragment: str, *, last: bool) -> Iterator[Found]:
        """Yield what is complete after ``fragment``.

        If ``last`` is true, ``fragment`` ends the text, and the rest of the text is yielded too.
        """
        reader, kept = self._reader, self._kept
        kept.add(fragment)
        for token in reader.read(fragment, last=last):
            if self._openers:
                inside = reader.inside
                # The openers that this token is too far from.
                yield from self._settle(token.end - 1, last=False)
                if inside != reader.inside and token.kind != "tail":
                    reader.repeat = True
                    continue
            self._note(token)
            yield from self._settle(token.end, last=False)
        yield from self._settle(reader.settled, last=last)
        if self._openers:
            yield from kept.take(self._openers[0].start)
        else:
            yield from kept.take(reader.position if last else reader.kept)

    def open_call(self) -> tuple[Opener, int] | None:
        """Return the opener of the open call, and where the text that certainly belongs to it ends.

        Returns ``None`` if no call is open, or if it must not be emitted in pieces.
        """
        opener = self._openers[0] if self._openers else None
        if opener is None or not opener.is_emitted or opener is self._tailed:
            return None
        return (opener, self._reader.kept) if opener.match.fallback is None else None

    def between(self, start: int, end: int) -> str:
        """Return a piece of the text that has not been returned yet."""
        return self._kept.between(start, end)

    def _note(self, token: Token) -> None:
        """Record what ``token`` begins and ends."""
        if token.kind == "tail":
            self._tail(token)
        elif token.kind == "fence":
            self._fence = _fence_after(self._fence, token.text[1:])
        elif token.kind == "sign":
            if not self._live and not self._fence and token.start != self._looked:
                why = "it stays text, as nothing after it is a call"
                # Any row: only the place is reported.
                row = next(iter(self._matchers))
                self._openers.append(Opener(row, "", token.start, token.end, token.end, why=why))
        elif isinstance(token.kind, Protocol):
            self._begin(token, token.kind)
        else:
            for matcher in self._each:
                ended = matcher.note(token)
                if ended:
                    self._end(ended, token.end)

    def _begin(self, token: Token, row: Protocol) -> None:
        is_fenced = token.text.startswith("\n")
        start = token.start + is_fenced
        opener = Opener(row, token.name, start, token.end, token.body, self._fence, is_fenced)
        self._openers.append(opener)
        is_known = not opener.name or opener.name in self._names
        if row.name in self._off and is_known and token.start != self._looked:
            opener.why = f"it looks like a call in the protocol `{row.name}`, which is not chosen"
            self._off.discard(row.name)
        elif row not in self._matchers or (self._fence and row.name == "json"):
            self._openers.pop()  # reported before, or data
        elif self._fence and row.kind != "elements":
            opener.why = "it stays text, as it is in a fence"
        elif not is_known:
            opener.why = "it stays text, as no tool has this name"
        else:
            if is_fenced:
                self._fence = _fence_after("", token.text[1:].partition("\n")[0])
            opener.is_emitted = not self._live
            self._live += 1
            self._reader.inside = True
            if row.kind == "json" and token.text.endswith(row.closers):
                self._end(opener, token.end)
            else:
                self._matchers[row].begin(opener, token)
            return
        # What follows at once is the body of the same call.
        self._looked = token.end
        for matcher in self._each:
            matcher.note(token)

    def _end(self, opener: Opener, end: int) -> None:
        """End the body of ``opener``; what follows it may belong to the call."""
        tail = self._tails.get(opener.protocol)
        if tail is None or self._tailed is not None or opener.is_bare:
            self._close(opener, end)
        else:
            self._tailed, self._reader.tail = opener, tail

    def _tail(self, token: Token) -> None:
        opener = self._tailed
        assert opener is not None
        self._tailed = None
        matcher = self._matchers[opener.protocol]
        if isinstance(matcher, BracketMatcher) and token.text and token.text[-1] not in "`>":
            matcher.resume(opener)
        elif token.text.endswith(">"):
            self._tailed, self._reader.tail = opener, self._tails[opener.protocol]
        elif opener.is_fenced and not token.text:
            opener.match.is_void = True  # its fence contains more
        else:
            self._close(opener, token.end)

    def _close(self, opener: Opener, end: int) -> None:
        opener.match.end = end
        # What is in a call is not read as Markdown.
        self._fence = opener.fence

    def _settle(self, position: int, *, last: bool) -> Iterator[Found]:
        """Yield what is certain after reading to ``position``."""
        while self._openers:
            opener = self._openers[0]
            match, is_long = opener.match, position - opener.start >= self._max
            end = match.end
            if end is None and not opener.why and not match.is_void:
                if not last and not is_long:
                    return
                end = match.fallback
            self._remove_first()
            if end is None or end - opener.start > self._max:
                is_long = is_long or end is not None
                why = f"is longer than {self._max:,} characters" if is_long else "is never closed"
                if not match.is_void:
                    why = opener.why or f"it stays text, as it {why}"
                    yield ToolProblem(opener.name, "", why, (opener.start, opener.end))
                continue
            yield from self._kept.take(opener.start)
            yield from (Segment(opener, text) for text in self._kept.take(end))
            while self._openers and self._openers[0].start < end:
                self._remove_first()

    def _remove_first(self) -> None:
        opener = self._openers.popleft()
        if opener.why:
            return
        self._matchers[opener.protocol].forget(opener)
        self._live -= 1
        if not self._live:
            self._reader.inside = False
            for matcher in self._each:
                matcher.reset()


def _fence_after(fence: str, line: str) -> str:
    """Return the marks of the open fence after a line of a fence, if ``fence`` was open before."""
    marks = line.strip(" ")
    info = marks.lstrip(marks[0])
    marks = marks[: len(marks) - len(info)]
    if fence:
        return "" if marks.startswith(fence) and not info.strip() else fence
    return "" if "`" in info and marks[0] == "`" else marks


class _Kept:
    """The text that has not been returned yet, in the fragments in which it came."""

    def __init__(self) -> None:
        self._fragments: deque[str] = deque()
        # The position of the first character, also within the first fragment, and of the end.
        self._start = self._at = self._end = 0

    def add(self, fragment: str) -> None:
        self._fragments.append(fragment)
        self._end += len(fragment)

    def take(self, end: int) -> Iterator[Text]:
        """Remove the text before ``end`` and yield it, unless it is empty."""
        start, pieces = self._start, []
        while self._start < end:
            first = self._fragments[0]
            stop = min(len(first), self._at + end - self._start)
            pieces.append(first[self._at : stop])
            self._start, self._at = self._start + stop - self._at, stop
            if stop == len(first):
                self._fragments.popleft()
                self._at = 0
        if pieces:
            yield Text("".join(pieces), start, end)

    def between(self, start: int, end: int) -> str:
        """Return a piece of the text; fast if it is near the end."""
        count, pieces = self._end - start, deque[str]()
        for fragment in reversed(self._fragments):
            if count <= 0:
                break
            pieces.appendleft(fragment[-count:])
            count -= len(fragment)
        return "".join(pieces)[: end - start]
