"""Emit a call's name and pieces of its arguments as they arrive.

Three kinds of calls are emitted only when complete: calls inside an unfinished call, all but the
first call in a list, and calls that do not begin with their name. Calls inside an unfinished call
wait so that no text is emitted twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from chunkast.toolcalls.body import Opener
from chunkast.toolcalls.call_model import (
    ArgumentsDelta,
    Event,
    Part,
    Text,
    ToolCall,
    ToolCallFailed,
    ToolCallStart,
)
from chunkast.toolcalls.finder import KINDS, LONGEST, CallFinder

__all__ = ("Deltas",)


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
        """Yield new events of the call that is still open, after the finder has read a fragment."""
        opener, text = self._finder.opener, self._finder.text
        if opener is None or opener is self._over or not opener.is_certain:
            return
        limit = opener.reading.position
        if opener is not self._call:
            kind, written = KINDS[opener.protocol.kind], text.between(opener.body, limit)
            name, start = kind.beginning(opener, written, opener.body)
            if name not in self._names:
                # A name at the beginning of a call ends before the maximum length of openers.
                if name or limit - opener.body >= LONGEST:
                    self._over = opener
                return
            self._call, self._name = opener, name
            self._start = self._emitted = start
            yield ToolCallStart(name, opener.start, opener.protocol.kind)
        end = KINDS[opener.protocol.kind].closed(opener, self._start)
        if end is not None:
            limit, self._over = end, opener
        if limit > self._emitted:
            yield ArgumentsDelta(text.between(self._emitted, limit), self._emitted, limit)
            self._emitted = limit

    def text(self, text: Text) -> Iterator[Event | Part]:
        """Yield ``text``, after a :class:`ToolCallFailed` if a call had started in it."""
        if self._call is not None and self._call.start < text.end_index:
            yield ToolCallFailed(self._name, self._call.start)
            self._call = None
        yield text

    def calls(self, opener: Opener, parts: Iterable[Part]) -> Iterator[Event | Part]:
        """Yield the ``parts`` found at ``opener``, each after its remaining events."""
        started, self._call = self._call is not None, None
        for part in parts:
            if started and not (isinstance(part, ToolCall) and part.name == self._name):
                yield ToolCallFailed(self._name, opener.start)
                started = False
            if isinstance(part, ToolCall):
                kind, at = KINDS[opener.protocol.kind], part.start_index
                _, start = kind.beginning(opener, part.raw, at)
                end = kind.closed(opener, start)
                end = at + kind.stop(opener, part.raw, at) if end is None else end
                if not started:
                    yield ToolCallStart(part.name, at, opener.protocol.kind)
                start = max(start, self._emitted if started else 0)
                if start < end:
                    yield ArgumentsDelta(part.raw[start - at : end - at], start, end)
            yield part
            started = False
