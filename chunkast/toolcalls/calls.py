"""Finds the calls in a text that arrives in fragments.

A call begins with an opener ``<name>`` that is not inside an earlier call, and ends with the
matching closer: the first one up to which there are as many closers as openers of that name.
It is at most ``max_call_size`` characters long, tags included. An opener without such a
closer is text, and the text after it is read like any other.

The result does not depend on how the text is divided. The time is linear in its length: the
match of every opener inside an open call is noted when it is read, so that an opener that
turns out to be text does not change the matches after it, and nothing is read again. Only
the text from an open call on is kept, which ``max_call_size`` bounds.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chunkast.toolcalls.tags import Tag, TagReader

__all__ = ("CallFinder", "Segment", "Stray")


@dataclass(frozen=True, slots=True)
class Segment:
    """A call of ``name``, or text between calls (``name`` is None); segments tile the text."""

    name: str | None
    text: str
    start: int
    end: int

    @property
    def body(self) -> str:
        """The text between a call's tags."""
        assert self.name is not None
        opener = len(self.name) + 2
        # A closer contains no other "<"; an empty tag has no closer.
        return self.text[opener : max(opener, self.text.rfind("</"))]


@dataclass(frozen=True, slots=True)
class Stray:
    """An opener that begins no call, and the reason."""

    name: str
    start: int
    why: str


@dataclass(slots=True)
class _Opener:
    """An opener that may begin a call; ``end`` is where that call ends, once it is known."""

    name: str
    start: int
    end: int | None


class CallFinder:
    """Finds calls of at most ``max_call_size`` characters; ``None``: of any size."""

    __slots__ = ("_kept", "_max", "_openers", "_reader", "_unmatched")

    def __init__(self, names: Iterable[str], max_call_size: int | None) -> None:
        self._reader = TagReader(names)
        self._max = math.inf if max_call_size is None else max_call_size
        self._kept = _Kept()
        # Every opener that may still be text or a call, in order, and those of each name that
        # are not matched yet: the last one is matched first.
        self._openers: deque[_Opener] = deque()
        self._unmatched: dict[str, deque[_Opener]] = {}

    def read(self, fragment: str, *, last: bool) -> Iterator[Segment | Stray]:
        """Yield the segments that are complete after ``fragment``, and stray openers.

        With ``last`` the text ends after ``fragment``, and all of the rest is returned.
        """
        reader, kept = self._reader, self._kept
        kept.add(fragment)
        for tag in reader.read(fragment):
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

    def _settle(self, position: int, *, last: bool) -> Iterator[Segment | Stray]:
        """Yield the calls and strays that are certain once the text is read up to ``position``."""
        while self._openers:
            opener = self._openers[0]
            if opener.end is None and not last and position - opener.start < self._max:
                return
            self._remove_first()
            if opener.end is None or opener.end - opener.start > self._max:
                long = opener.end is not None or position - opener.start >= self._max
                why = f"is longer than {self._max:,} characters" if long else "is never closed"
                yield Stray(opener.name, opener.start, why)
                continue
            yield from self._kept.take(opener.start)
            yield from self._kept.take(opener.end, opener.name)
            while self._openers and self._openers[0].start < opener.end:
                self._remove_first()

    def _remove_first(self) -> None:
        opener = self._openers.popleft()
        if opener.end is None:
            # Earlier openers of the same name were removed before.
            self._unmatched[opener.name].popleft()


class _Kept:
    """The text that was not returned yet, as the fragments that arrived."""

    __slots__ = ("_fragments", "_skip", "_start")

    def __init__(self) -> None:
        self._fragments: deque[str] = deque()
        # The length of the returned part of the first fragment, and the position of the rest.
        self._skip = 0
        self._start = 0

    def add(self, fragment: str) -> None:
        if fragment:
            self._fragments.append(fragment)

    def take(self, end: int, name: str | None = None) -> Iterator[Segment]:
        """Yield the text up to ``end`` as a segment, if there is any."""
        start = self._start
        if end == start:
            return
        parts: list[str] = []
        while self._start < end:
            fragment = self._fragments[0]
            stop = min(len(fragment), self._skip + end - self._start)
            parts.append(fragment[self._skip : stop])
            self._start += stop - self._skip
            self._skip = stop
            if stop == len(fragment):
                self._fragments.popleft()
                self._skip = 0
        yield Segment(name, "".join(parts), start, end)
