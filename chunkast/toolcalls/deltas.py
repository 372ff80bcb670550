"""Emit a call while it arrives: its name, and the text of its arguments as it is written.

Only a call that is not inside an unfinished one is emitted in pieces, so that no text is emitted
twice; of several calls in one list, only the first one. The others are emitted when they are
complete. If the name of a call is not at its beginning, the call is emitted when it is complete.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import regex

from chunkast.toolcalls.body_matchers import Opener
from chunkast.toolcalls.call_model import (
    ArgumentsDelta,
    Event,
    Part,
    Text,
    ToolCall,
    ToolCallFailed,
    ToolCallStart,
)
from chunkast.toolcalls.calls import CallFinder
from chunkast.toolcalls.json_body import ARGUMENT_KEYS, NAME_KEYS, OTHER_KEYS, split_tail
from chunkast.toolcalls.python_body import CALL

__all__ = ("Deltas",)

# A name is at the beginning of a call if it ends before this number of characters.
_LONGEST: Final = 2048
_SPACE: Final = r"\s{0,40}"


def _member(keys: Iterable[str]) -> str:
    return rf"[\"'](?:{'|'.join(keys)})[\"']{_SPACE}:{_SPACE}"


_OTHERS: Final = (
    rf"(?:{_member(OTHER_KEYS)}(?:[\"'][^\"']{{0,80}}[\"']|\d{{1,20}}){_SPACE},{_SPACE})*"
)
_ARGUMENTS: Final = rf"{_member(ARGUMENT_KEYS)}(?=\{{)"
# What is before the arguments of a call, with its name.
_BEFORE: Final = {
    "json": re.compile(
        rf"[\[\s]{{0,40}}\{{{_SPACE}{_OTHERS}(?:{_member(['function'])}\{{{_SPACE})?"
        rf"{_member(NAME_KEYS)}[\"']([^\"'\n]{{1,256}})[\"']{_SPACE},{_SPACE}{_OTHERS}{_ARGUMENTS}"
    ),
    "python": CALL,
}
_MEMBER: Final = re.compile(_ARGUMENTS)
_MARKS: Final = {
    "json": re.compile(r"\\.|[\"{}]", re.DOTALL),
    "python": re.compile(r"\\.|[\"'()]", re.DOTALL),
}


@dataclass(slots=True)
class _Arguments:
    """Finds the end of arguments that are JSON or Python and arrive in pieces."""

    kind: str
    depth: int = 0
    quote: str = ""
    is_over: bool = False

    def read(self, text: str) -> int:
        """Return the number of characters at the beginning of ``text`` that belong to them."""
        marks = _MARKS.get(self.kind)
        for match in marks.finditer(text) if marks else ():
            mark = match[0]
            if mark in "\"'":
                self.quote = "" if self.quote == mark else self.quote or mark
            elif not self.quote and len(mark) == 1:
                self.depth += 1 if mark in "{(" else -1
                # The parenthesis before the arguments of a call in Python does not belong to them.
                if self.depth == (-1 if mark == ")" else 0):
                    self.is_over = True
                    return match.start() if mark == ")" else match.end()
        return len(text)


class Deltas:
    """Emits events for the calls that ``finder`` finds."""

    def __init__(self, finder: CallFinder, names: Collection[str]) -> None:
        self._finder, self._names = finder, names
        # The arguments of the last call that started, as far as they were read.
        self._arguments = _Arguments("")
        # The openers of calls that have started, until it is known what they begin.
        self._started: deque[Opener] = deque()

    def read(self) -> Iterator[Event]:
        """Yield the events of the call that is open after the finder has read a fragment."""
        found = self._finder.open_call()
        if found is None:
            return
        opener, limit = found
        if not opener.started:
            name, start = _beginning(opener, self._finder.between(opener.body, limit))
            if name not in self._names:
                opener.is_emitted = not name and limit - opener.body < _LONGEST
                return
            opener.started, opener.emitted = name, opener.body + start
            self._arguments = _Arguments(opener.protocol.kind)
            self._started.append(opener)
            yield ToolCallStart(name, opener.start, opener.protocol.kind)
        text = self._finder.between(opener.emitted, limit)
        text = text[: self._arguments.read(text)]
        opener.is_emitted = not self._arguments.is_over
        if text:
            start, opener.emitted = opener.emitted, opener.emitted + len(text)
            yield ArgumentsDelta(text, start, opener.emitted)

    def text(self, text: Text) -> Iterator[Event | Part]:
        """Yield ``text``; if a call had started in it, first yield that this call failed."""
        while self._started and self._started[0].start < text.end_index:
            opener = self._started.popleft()
            yield ToolCallFailed(opener.started, opener.start)
        yield text

    def calls(self, opener: Opener, parts: Sequence[Part]) -> Iterator[Event | Part]:
        """Yield the ``parts`` that begin with ``opener``, and the events that are still missing."""
        started = opener.started
        if started:
            self._started.popleft()
        for part in parts:
            if started and not (isinstance(part, ToolCall) and part.name == started):
                yield ToolCallFailed(started, opener.start)
                started = ""
            if isinstance(part, ToolCall):
                start, end = _span(opener, part.raw, part.start_index)
                if started:
                    start = max(start, opener.emitted)
                else:
                    yield ToolCallStart(part.name, part.start_index, opener.protocol.kind)
                if start < end:
                    raw = part.raw[start - part.start_index : end - part.start_index]
                    yield ArgumentsDelta(raw, start, end)
            yield part
            started = ""


def _beginning(opener: Opener, body: str) -> tuple[str, int]:
    """Return the name of a call and where its arguments begin, or "" if that is not known yet."""
    pattern = _BEFORE.get(opener.protocol.kind)
    if pattern is None or (opener.name and opener.protocol.kind == "json"):
        return opener.name, 0
    match = pattern.match(body)
    return (match[1], match.end()) if match else ("", 0)


def _span(opener: Opener, raw: str, at: int) -> tuple[int, int]:
    """Return the start and the end of the arguments of a call, whose text is at ``at``."""
    start, kind = max(opener.body - at, 0), opener.protocol.kind
    end = len(raw)
    if kind == "elements":
        end = raw.rfind("</")
    elif kind == "tagged":
        marks = regex.finditer(opener.protocol.marks, raw, pos=start)
        end = max((m.start() for m in marks if m.lastgroup == "call_end"), default=end)
    else:
        if kind == "python" or not opener.name:
            match = _BEFORE[kind].match(raw, start) or _MEMBER.search(raw, start)
            start = match.end() if match else end
        last = split_tail(raw) if kind == "json" else end
        end = start + _Arguments(kind).read(raw[start:last])
    return at + start, at + end
