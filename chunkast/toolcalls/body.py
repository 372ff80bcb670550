"""The parts that all kinds of bodies have in common.

A kind of body has a class whose objects read the text of calls as it arrives, to find where the
calls end, and functions that divide that text into calls, read their arguments and repair them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chunkast.toolcalls.call_model import Text
from chunkast.toolcalls.json_schema import Schema
from chunkast.toolcalls.protocols import Protocol
from chunkast.toolcalls.repairs import ToolPipeline
from chunkast.toolcalls.xml_body import Body

__all__ = ("KeptText", "Kind", "Opener", "Reading", "Source", "groups", "signs")

# The end of a call in the text of an opener, its source and the name of its tool.
Source = tuple[int, str, str]


class KeptText:
    """Text in the fragments in which it came, from position ``start`` to ``end``.

    Line breaks are before the whole text, and one after it, so that all lines are alike. ``stop``
    is the position after the latter.
    """

    def __init__(self) -> None:
        self.start = self.end = self.stop = 0
        # The joined part, with two characters before it, and the fragments that came since.
        self._joined, self._base = "\n\n", -2
        self._new: list[str] = []

    def add(self, fragment: str, *, last: bool) -> None:
        self.end += len(fragment)
        self.stop = self.end + last
        self._new.append(fragment + "\n" * last)

    def whole(self) -> tuple[str, int]:
        """Return a text with all that is kept, and the position of its first character."""
        if self._new:
            skipped = max(0, self.start - 2 - self._base)
            self._joined = "".join((self._joined[skipped:], *self._new))
            self._base += skipped
            self._new = []
        return self._joined, self._base

    def since(self, position: int) -> tuple[str, int]:
        """Return a text with all that follows ``position``; fast if it is near the end."""
        if not self._new:
            return self._joined, self._base
        start, pieces = self.stop, deque[str]()
        for fragment in reversed(self._new):
            if start <= position:
                break
            pieces.appendleft(fragment)
            start -= len(fragment)
        if start > position:
            pieces.appendleft(self._joined[position - self._base :])
            start = position
        return "".join(pieces), start

    def take(self, end: int) -> Iterator[Text]:
        """Remove the text before ``end`` and yield it, unless it is empty."""
        if end > self.start:
            text, base = self.whole()
            yield Text(text[self.start - base : end - base], self.start, end)
            self.start = end

    def between(self, start: int, end: int) -> str:
        text, base = self.since(start)
        return text[start - base : end - base]


@dataclass(slots=True)
class Opener:
    """Text at ``[start, end)`` that may begin a call, whose body begins at ``body``.

    ``name`` is the tool's name, and ``id`` the call's, if the opener contains them. ``is_fenced``
    is true if it begins with a fence that may contain only the call. ``reading`` reads the value at
    ``key``, or ``None`` if that has ended; the first one was at ``begin``. ``stop`` is the end of
    the call so far.
    """

    protocol: Protocol
    name: str
    id: str | None
    start: int
    end: int
    body: int
    is_fenced: bool
    reading: Any = None
    key: int | None = None
    begin: int = 0
    stop: int = 0

    @property
    def is_certain(self) -> bool:
        """True if all that has been read since its beginning belongs to the call."""
        return self.key is not None and self.reading.fallback(self.key) is None


@dataclass(slots=True)
class Reading:
    """The ``text`` that is read from one opener on: the base of all kinds of bodies.

    A reading goes on while text arrives. It remembers the ends of all openers inside, and which are
    open: if the first one turns out to be text, the others are looked up, and nothing is read
    again. Only brackets inside strings need a second reading, which takes them to be outside (in
    Python, a third, as there are two quotes). So reading takes linear time.

    ``pattern`` matches the marks of the body. ``position`` is the number of characters read.
    ``ends`` maps the position of each opener whose end is known to that end. ``closers`` are the
    tags that close the call to be read.
    """

    text: KeptText
    pattern: re.Pattern[str]
    position: int
    protocol: Protocol
    ends: dict[int, int] = field(default_factory=dict)
    closers: tuple[str, ...] = ()

    def end(self, key: int, limit: int, *, over: bool) -> int | None:
        """Return the end of what begins at ``key``, if the text before ``limit`` has it.

        Return -1 if it turned out to be text, and ``None`` if its end is not known. If ``over`` is
        true, nothing after ``limit`` counts.
        """
        end = self.known(key)
        if end is None and self.position < limit:
            source, base = self.text.since(self.position)
            start, self.position = self.position - base, limit
            for mark in self.pattern.finditer(source, start, limit - base):
                if mark.lastgroup == "cut":
                    self.position = base + mark.start()
                    break
                self.note(mark, base + mark.start(), base + mark.end())
                end = self.known(key)
                if end is not None:
                    self.position = base + mark.end()
                    break
        if end is None and over:
            end = self.fallback(key)
            # The text has ended if the line break after it has been read.
            if end is None and limit > self.text.end:
                end = self.last_end(key)
        return end

    def note(self, mark: re.Match[str], start: int, end: int) -> None:
        """Record what ``mark``, at ``[start, end)``, begins and ends."""
        raise NotImplementedError

    def known(self, key: int) -> int | None:
        """Return the end of what begins at ``key``, -1 if it is text, or ``None`` if not known."""
        return self.ends.get(key)

    def fallback(self, _key: int) -> int | None:
        """Return the end of what begins at a key if nothing else comes: a closer is missing."""
        return None

    def last_end(self, _key: int) -> int | None:
        """Return the end of what begins at a key if the text ends with it."""
        return None

    def complete(self, _key: int) -> int:
        """Return the end of the last complete call in a list that begins at a key, or 0."""
        return 0

    def contains(self, key: int) -> bool:
        """Return whether what begins at ``key`` has been read as an opener."""
        return self.position > key


def _whole(opener: Opener, text: str, _names: Collection[str]) -> list[Source]:
    return [(len(text), text[opener.body - opener.start :], opener.name)]


def _body(opener: Opener, _text: str, at: int) -> tuple[str, int]:
    return opener.name, max(opener.body, at)


class Kind(NamedTuple):
    """A kind of body.

    reading: makes a reading of a text, from its marks, a position and a row.
    marks: returns a pattern for the tags, quotes, brackets and signs of calls in a body, from a row,
        a pattern for the names of tools, and all rows. Its group ``cut`` matches text at the end
        that may be part of one. Rows with the same pattern share their readings.
    key: returns where the reading of an opener with this text begins, or ``None`` if it is all of
        the call.
    read: returns the arguments in a source; raises ``BodyError`` if they cannot be read.
    pipeline: returns the repairs of bodies.
    calls: returns the calls in a text that begins with an opener, from the names of the tools.
    beginning: returns the name of the call in the text at a position, or "" if that is not known
        yet, and where its arguments begin.
    closed: returns the end of the arguments that begin at a position, if their bracket is closed.
    stop: returns where the arguments of a complete call end in its text, which is at a position.
    """

    reading: Callable[[KeptText, re.Pattern[str], int, Protocol], Reading]
    marks: Callable[[Protocol, str, Sequence[Protocol]], str]
    key: Callable[[Opener, str], int | None]
    read: Callable[[str, Schema, Opener], Body]
    pipeline: Callable[[Protocol], ToolPipeline]
    calls: Callable[[Opener, str, Collection[str]], list[Source]] = _whole
    beginning: Callable[[Opener, str, int], tuple[str, int]] = _body
    closed: Callable[[Opener, int], int | None] = lambda _opener, _start: None
    stop: Callable[[Opener, str, int], int] = lambda _opener, raw, _at: len(raw)


def groups(**patterns: str) -> str:
    """Return a pattern with a group for each pattern that is not empty, in order."""
    return "|".join(f"(?P<{name}>{text})" for name, text in patterns.items() if text)


def signs(rows: Sequence[Protocol]) -> str:
    """Return a pattern for the signs of other calls in a body."""
    return "|".join(dict.fromkeys(f"\\{row.sign}" for row in rows if row.is_token))
