"""Where the calls are in a text that comes in pieces.

A call begins with an opener ``<name>`` that no call before it covers, and ends with the
closer that matches it: the first one up to which as many closers as openers of that name
have come. It is no longer than ``max_call_size`` characters, tags included. An opener
without such a closer is text, and the text behind it is looked at like any other.

That does not depend on how the text is cut. It takes time in proportion to its length, as
the match of every opener inside an open call is noted when it comes: an opener that turns
out to be text leaves the matches behind it as they are, and nothing is read again. Only
the text from an open call on is kept, which ``max_call_size`` bounds.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chunkast.toolcalls.tags import Tag, TagReader

__all__ = ("CallFinder", "Segment")


@dataclass(frozen=True, slots=True)
class Segment:
    """A call of ``name``, or text between calls where there is none; segments tile the text."""

    name: str | None
    text: str
    start: int
    end: int

    @property
    def body(self) -> str:
        """What stands between a call's tags."""
        assert self.name is not None
        opener = len(self.name) + 2
        # A closer holds no "<" behind its own; an empty tag has none.
        return self.text[opener : max(opener, self.text.rfind("</"))]


@dataclass(slots=True)
class _Opener:
    """An opener that may begin a call; ``end`` is where that call ends, once it is known."""

    name: str
    start: int
    end: int | None


class CallFinder:
    """Finds calls. ``max_call_size=None`` is without a bound."""

    __slots__ = ("_kept", "_max", "_openers", "_reader", "_unmatched")

    def __init__(self, names: Iterable[str], max_call_size: int | None) -> None:
        self._reader = TagReader(names)
        self._max = math.inf if max_call_size is None else max_call_size
        self._kept = _Kept()
        # Every opener of which it is not known yet whether it is text, in order, and those
        # of each name that are not matched yet: the last one is matched first.
        self._openers: deque[_Opener] = deque()
        self._unmatched: dict[str, deque[_Opener]] = {}

    def read(self, piece: str, *, last: bool) -> Iterator[Segment]:
        """What is known after ``piece``: calls with their end, text that begins no call.

        With ``last`` the text ends behind ``piece``, and all of the rest is known.
        """
        reader, kept = self._reader, self._kept
        kept.add(piece)
        for tag in reader.read(piece):
            self._note(tag)
            yield from self._settle(tag.end, last=False)
        if self._openers:
            yield from self._settle(reader.position, last=last)
        if self._openers:
            yield from kept.take(self._openers[0].start)
        else:
            yield from kept.take(reader.position if last else reader.opener_start)

    def _note(self, tag: Tag) -> None:
        if tag.kind == "close":
            if self._unmatched.get(tag.name):
                self._unmatched[tag.name].pop().end = tag.end
            return
        opener = _Opener(tag.name, tag.start, tag.end if tag.kind == "empty" else None)
        self._openers.append(opener)
        if opener.end is None:
            self._unmatched.setdefault(tag.name, deque()).append(opener)

    def _settle(self, position: int, *, last: bool) -> Iterator[Segment]:
        """The calls that are certain once the text is read up to ``position``."""
        while self._openers:
            opener = self._openers[0]
            if opener.end is None and not last and position - opener.start < self._max:
                return
            self._forget_first()
            if opener.end is None or opener.end - opener.start > self._max:
                continue
            yield from self._kept.take(opener.start)
            yield from self._kept.take(opener.end, opener.name)
            while self._openers and self._openers[0].start < opener.end:
                self._forget_first()

    def _forget_first(self) -> None:
        opener = self._openers.popleft()
        if opener.end is None:
            # Those of its name before it are forgotten already.
            self._unmatched[opener.name].popleft()


class _Kept:
    """The text that was not given out yet, in the pieces in which it came."""

    __slots__ = ("_pieces", "_skip", "_start")

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        # How much of the first piece was given out, and where the rest of it begins.
        self._skip = 0
        self._start = 0

    def add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)

    def take(self, end: int, name: str | None = None) -> Iterator[Segment]:
        """The text up to ``end`` as a segment, if there is any."""
        start = self._start
        if end == start:
            return
        parts: list[str] = []
        while self._start < end:
            piece = self._pieces[0]
            stop = min(len(piece), self._skip + end - self._start)
            parts.append(piece[self._skip : stop])
            self._start += stop - self._skip
            self._skip = stop
            if stop == len(piece):
                self._pieces.popleft()
                self._skip = 0
        yield Segment(name, "".join(parts), start, end)
