"""Emit a call while it arrives: its name, and the text of its arguments as it is written.

Only a call that is not inside an unfinished one is emitted in pieces, so that no text is emitted
twice; of several calls in one list, only the first one. The others are emitted when they are
complete. If the name of a call is not at its beginning, the call is emitted when it is complete.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from chunkast.toolcalls.call_model import (
    ArgumentsDelta,
    Event,
    Part,
    Text,
    ToolCall,
    ToolCallFailed,
    ToolCallStart,
)
from chunkast.toolcalls.finder import CallFinder, Opener
from chunkast.toolcalls.json_body import ARGUMENT_KEYS, NAME, split_tail
from chunkast.toolcalls.python_body import CALL

__all__ = ("Deltas",)

# A name is at the beginning of a call if it ends before this number of characters.
_LONGEST: Final = 2048
# The key of an object that has the arguments of a call in JSON, or is them, and the maximum number
# of brackets before the arguments.
_KEY: Final = re.compile(rf"[\"'](function|{'|'.join(ARGUMENT_KEYS)})[\"']\s{{0,40}}:\s{{0,40}}\Z")
_BRACKETS: Final = 40


class Deltas:
    """Emits events for the calls that ``finder`` finds."""

    def __init__(self, finder: CallFinder, names: Collection[str]) -> None:
        self._finder, self._names = finder, names
        # The call that has started, where its arguments begin, and the end of what was emitted.
        self._call: Opener | None = None
        self._name, self._start, self._emitted = "", 0, 0
        # The last call that is not emitted before it is complete, or whose arguments are over.
        self._over: Opener | None = None

    def read(self) -> Iterator[Event]:
        """Yield the events of the call that is open after the finder has read a fragment."""
        opener, text = self._finder.opener, self._finder.text
        if opener is None or opener is self._over or not opener.is_certain:
            return
        limit = opener.reading.position
        if opener is not self._call:
            name, start = _beginning(opener, text.between(opener.body, limit), opener.body)
            if name not in self._names:
                if name or limit - opener.body >= _LONGEST:
                    self._over = opener
                return
            self._call, self._name = opener, name
            self._start = self._emitted = start
            yield ToolCallStart(name, opener.start, opener.protocol.kind)
        end = _end(opener, self._start, -1)
        if end >= 0:
            limit, self._over = end, opener
        if limit > self._emitted:
            yield ArgumentsDelta(text.between(self._emitted, limit), self._emitted, limit)
            self._emitted = limit

    def text(self, text: Text) -> Iterator[Event | Part]:
        """Yield ``text``; if a call had started in it, first yield that this call failed."""
        if self._call is not None and self._call.start < text.end_index:
            yield ToolCallFailed(self._name, self._call.start)
            self._call = None
        yield text

    def calls(self, opener: Opener, parts: Iterable[Part]) -> Iterator[Event | Part]:
        """Yield the ``parts`` that begin with ``opener``, and the events that are still missing."""
        started, self._call = self._call is not None, None
        for part in parts:
            if started and not (isinstance(part, ToolCall) and part.name == self._name):
                yield ToolCallFailed(self._name, opener.start)
                started = False
            if isinstance(part, ToolCall):
                start, end = _span(opener, part.raw, part.start_index)
                if started:
                    start = max(start, self._emitted)
                else:
                    yield ToolCallStart(part.name, part.start_index, opener.protocol.kind)
                if start < end:
                    raw = part.raw[start - part.start_index : end - part.start_index]
                    yield ArgumentsDelta(raw, start, end)
            yield part
            started = False


def _beginning(opener: Opener, text: str, at: int) -> tuple[str, int]:
    """Return the name of the call whose text begins at ``at``, and where its arguments begin.

    Return "" if that is not known yet.
    """
    kind, end = opener.protocol.kind, at + len(text)
    if kind in ("elements", "tagged") or (opener.name and kind == "json"):
        return opener.name, max(opener.body, at)
    if kind == "python":
        match = CALL.match(text, max(0, opener.body - at))
        return (match[1], at + match.end()) if match else ("", end)
    opened, next_member = opener.reading.opened, at
    first = bisect_left(opened, at)
    for start in opened[first : first + _BRACKETS]:
        if not next_member <= start < end:
            continue
        before = text[: start - at]
        key = _KEY.search(before[-99:])
        if key is None and "{" in before:
            # The value of another member, or another call.
            next_member = opener.reading.ends.get(start, end)
        elif key and key[1] != "function":
            name = NAME.search(before)
            return name[1] if name else "", start
    return "", end


def _end(opener: Opener, start: int, default: int) -> int:
    """Return the end of the arguments that begin at ``start``, if their bracket is closed."""
    is_python = opener.protocol.kind == "python"
    # The parentheses around the arguments of a call in Python do not belong to them.
    end = opener.reading.ends.get(start - is_python) if opener.reading else None
    return default if end is None else end - is_python


def _span(opener: Opener, raw: str, at: int) -> tuple[int, int]:
    """Return the start and the end of the arguments of a call, whose text is at ``at``."""
    _, start = _beginning(opener, raw, at)
    if opener.protocol.kind == "elements":
        return start, at + raw.rfind("</")
    if opener.protocol.kind == "tagged":
        return start, at + raw.rfind("<", 0, opener.reading.ends.get(opener.begin, at) - at)
    end = split_tail(raw) if opener.protocol.kind == "json" else len(raw)
    return start, _end(opener, start, at + end)
