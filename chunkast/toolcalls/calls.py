"""Find calls in text that arrives in fragments.

A call begins with an opening tag ``<name>`` that is not inside an earlier call. It ends with the
matching closing tag: the first at which there are as many closing as opening tags of that name.
A call is at most ``max_call_size`` characters long, including its tags. An opening tag without
such a closing tag is text, and the text after it is read like any other text.

The result does not depend on how the text is divided. The running time is linear in the length of
the text: the match of every opening tag inside an open call is recorded when it is read. If an
opening tag turns out to be text, the matches after it stay the same, and nothing is read again.
Only the text from the start of an open call is kept, and ``max_call_size`` limits its length.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chunkast.toolcalls.call_tags import Tag, TagReader

__all__ = ("CallFinder", "Segment", "Stray")


@dataclass(frozen=True, slots=True)
class Segment:
    """A call of the tool ``name``, or the text between two calls if ``name`` is ``None``.

    Together, the segments cover the whole text without gaps or overlaps.
    """

    name: str | None
    text: str
    start: int
    end: int

    @property
    def body(self) -> str:
        """The text between the tags of a call."""
        assert self.name is not None
        opener = len(self.name) + 2
        # A closer contains no other "<"; an empty tag has no closer.
        return self.text[opener : max(opener, self.text.rfind("</"))]


@dataclass(frozen=True, slots=True)
class Stray:
    """An opening tag that does not begin a call, and the reason (``why``)."""

    name: str
    start: int
    why: str


@dataclass(slots=True)
class _Opener:
    """An opening tag that may begin a call.

    ``end`` is the position at which that call ends, or ``None`` until the position is known.
    """

    name: str
    start: int
    end: int | None


class CallFinder:
    """Finds calls of at most ``max_call_size`` characters, or of any size if it is ``None``."""

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
        """Yield the segments that are complete after ``fragment``, and the stray opening tags.

        If ``last`` is true, ``fragment`` ends the text, and the rest of the text is yielded too.
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
        """Yield the segments and stray tags that are certain after reading up to ``position``."""
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
    """The text that has not been returned yet, stored as the fragments in which it arrived."""

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
        """Remove the text before ``end`` and yield it as a segment, unless it is empty."""
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
