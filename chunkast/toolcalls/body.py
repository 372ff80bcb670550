"""The common base of all kinds of call bodies: JSON, Python, XML elements and tagged parameters.

Each kind has a subclass of :class:`Reading`, which finds the ends of calls while text arrives, and
functions that split a text into calls, parse their arguments and repair their bodies.
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
    """The part of a text from position ``start`` to ``end``, kept as fragments.

    Line breaks are added before and after the whole text, so that the first and last lines need no
    special case. ``stop`` is ``end``, plus 1 after the second line break has been added.
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
        """Return all text that is kept, and the position of its first character."""
        if self._new:
            skipped = max(0, self.start - 2 - self._base)
            self._joined = "".join((self._joined[skipped:], *self._new))
            self._base += skipped
            self._new = []
        return self._joined, self._base

    def since(self, position: int) -> tuple[str, int]:
        """Return the text from ``position`` or earlier to the end, and the position of its start.

        This is fast if ``position`` is near the end.
        """
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
    """Text at ``[start, end)`` that may begin a call.

    name: the tool's name, or "" if the opener does not contain it.
    id: the call's id, or ``None`` if the opener does not contain it.
    body: the position at which the call's body begins.
    is_fenced: whether the opener begins with a fence that must contain only the call.
    reading: the reading that looks for the end of the call.
    key: the start of the value that is being read, or ``None`` if that value has ended.
    begin: the start of the call's first value.
    stop: the end of the call so far.
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
        """True if all text read since the opener certainly belongs to the call."""
        return self.key is not None and self.reading.fallback(self.key) is None


@dataclass(slots=True)
class Reading:
    """The base class for all kinds of bodies: reads the text after an opener to find a call's end.

    A reading continues as text arrives. It records the ends of all openers that it passes. If its
    first opener turns out to be text, the ends of the others are looked up, and nothing is read
    again. Only brackets inside strings need a second reading, which ignores the quotes (Python,
    with its two kinds of quotes, needs a third). So reading takes linear time.

    text: the text.
    pattern: matches the marks of the body, such as tags, quotes and brackets.
    position: the position up to which the text has been read.
    protocol: the protocol of the call.
    ends: the end of each opener whose end is known, by the opener's position.
    closers: the tags that close the call.
    """

    text: KeptText
    pattern: re.Pattern[str]
    position: int
    protocol: Protocol
    ends: dict[int, int] = field(default_factory=dict)
    closers: tuple[str, ...] = ()

    def end(self, key: int, limit: int, *, over: bool) -> int | None:
        """Read the text before ``limit``, and return the end of the value at ``key``.

        Returns -1 if the value turns out to be text, and ``None`` if its end is not known yet. If
        ``over`` is true, no text after ``limit`` belongs to the value.
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
        """Record the values that begin or end with ``mark``, which is at ``[start, end)``."""
        raise NotImplementedError

    def known(self, key: int) -> int | None:
        """Return the end of the value at ``key``, -1 if it is text, or ``None`` if unknown."""
        return self.ends.get(key)

    def fallback(self, _key: int) -> int | None:
        """Return the end to assume for a value if its closing tag never comes, or ``None``."""
        return None

    def last_end(self, _key: int) -> int | None:
        """Return the end to assume for a value if the text ends inside it, or ``None``."""
        return None

    def complete(self, _key: int) -> int:
        """Return the end of the last complete call in the list at a key; 0 if there is none."""
        return 0

    def contains(self, key: int) -> bool:
        """Return whether this reading has continued beyond the opener at ``key``."""
        return self.position > key


def _whole(opener: Opener, text: str, _names: Collection[str]) -> list[Source]:
    return [(len(text), text[opener.body - opener.start :], opener.name)]


def _body(opener: Opener, _text: str, at: int) -> tuple[str, int]:
    return opener.name, max(opener.body, at)


class Kind(NamedTuple):
    """The functions of one kind of body. A row is one form of calls in ``protocols.toml``.

    reading: makes a reading, from the text, the pattern of marks, a position and a row.
    marks: returns the pattern of the tags, quotes, brackets and ``Protocol.sign`` in a body, from a
        row, a pattern of tool names, and all rows. Its group ``cut`` matches the end of a text that
        may be the beginning of a mark. Rows with the same pattern share their readings.
    key: returns the position at which reading begins, from an opener and its text, or ``None`` if
        the opener is the whole call.
    read: returns the arguments in the source of a call; raises ``BodyError`` if the source is
        invalid.
    pipeline: returns the repairs of bodies.
    calls: returns the calls in a text, from its opener, the text and the names of the tools.
    beginning: returns the name of a call, or "" if it is not known yet, and the position of its
        arguments, from an opener, a text and the position of the text.
    closed: returns the end of the arguments at a position, or ``None`` if they are not closed.
    stop: returns the end of the arguments of a complete call, as an index into its text.
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
    """Return a pattern of alternatives, with a named group for each pattern that is not empty."""
    return "|".join(f"(?P<{name}>{text})" for name, text in patterns.items() if text)


def signs(rows: Sequence[Protocol]) -> str:
    """Return a pattern that matches the signs in ``rows`` that occur only in calls."""
    return "|".join(dict.fromkeys(f"\\{row.sign}" for row in rows if row.is_token))
