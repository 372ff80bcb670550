"""Find the ends of calls whose openers have been read, one matcher for each kind of body.

A matcher records the end of every opener, also of one inside an open call: if the outer opener
turns out to be text, the ends inside it are known. Openers whose ends are the same from now on
share one ``Match``, so that recording takes linear time.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import regex

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.call_tokens import Token
from chunkast.toolcalls.protocols import Protocol

__all__ = ("LENIENT", "TRANSITIONS", "BracketMatcher", "Match", "Opener", "matcher_of")

# An escape, or one of the quotes and brackets.
_JSON: Final = re.compile(r"\\.|[\"{}\[\]]", re.DOTALL)
_PYTHON: Final = re.compile(r"\\.|[\"'{}\[\]()]", re.DOTALL)


@dataclass(slots=True)
class Match:
    """The end of a call.

    ``end`` is the position at which the call ends, or ``None`` until it is known. ``fallback`` is
    its end if no other one comes: its closing tag or last bracket is missing. ``is_void`` is true
    if it turned out that there is no call.
    """

    end: int | None = None
    fallback: int | None = None
    is_void: bool = False


@dataclass(slots=True)
class Opener:
    """Text at ``[start, end)`` that may begin a call, whose body begins at ``body``.

    ``name`` is the tool's name, if the opener contains it. ``fence`` are the marks of the fence
    around it. ``is_fenced`` is true if it begins with a fence that may contain only the call.
    ``why`` is the reason why it does not begin a call, if that is known at once. ``is_emitted`` is
    true if the call may be emitted while it arrives; ``started`` is then its name, and ``emitted``
    the end of what was emitted of its arguments.
    """

    protocol: Protocol
    name: str
    start: int
    end: int
    body: int
    fence: str = ""
    is_fenced: bool = False
    why: str = ""
    is_emitted: bool = False
    started: str = ""
    emitted: int = 0
    match: Match = field(default_factory=Match)

    @property
    def is_bare(self) -> bool:
        """True if nothing after its body belongs to the call."""
        return self.protocol.name == "json" and not self.is_fenced


class ElementMatcher:
    """Matches tags: a call ends at the first tag at which the tags of its name balance."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._open: dict[str, deque[Opener]] = {}

    def begin(self, opener: Opener, token: Token) -> None:
        if token.text.endswith("/>"):
            opener.match.end = token.end
        else:
            self._open.setdefault(opener.name, deque()).append(opener)

    def note(self, token: Token) -> Opener | None:
        is_close = token.text.startswith("</")
        unmatched = self._open.get(token.text.strip("</>" + WHITE_SPACE)) if is_close else None
        return unmatched.pop() if unmatched else None

    def forget(self, opener: Opener) -> None:
        unmatched = self._open.get(opener.name)
        if unmatched and unmatched[0] is opener:
            unmatched.popleft()


# The state of a tagged body after a mark. A body has no parameter yet ("named"), is inside a value
# or after one ("between"), may have ended inside a value ("unsure"), or has ended.
TRANSITIONS: Final[Mapping[tuple[str, str], str]] = {
    ("named", "parameter"): "value",
    ("named", "call_end"): "ended",
    ("value", "value_end"): "between",
    ("value", "call_end"): "unsure",
    ("value", "cdata"): "cdata",
    ("cdata", "cdata_end"): "value",
    ("between", "parameter"): "value",
    ("between", "call_end"): "ended",
    ("unsure", "parameter"): "value",
    ("unsure", "value_end"): "between",
}


# The closing tags inside a body are optional.
LENIENT: Final[Mapping[tuple[str, str], str]] = {
    **TRANSITIONS,
    ("value", "parameter"): "value",
    ("value", "call_end"): "ended",
}


class TaggedMatcher:
    """Matches the bodies of one tagged protocol."""

    def __init__(self, protocol: Protocol) -> None:
        self.reset()
        self._marks = regex.compile(protocol.marks)
        self._transitions = LENIENT if protocol.is_lenient else TRANSITIONS

    def reset(self) -> None:
        # Openers by state; those in one state share a match.
        self._groups: dict[str, list[Opener]] = {}

    def begin(self, opener: Opener, _token: Token) -> None:
        for state in ("between", "unsure"):
            if state in self._groups:
                match = self._groups.pop(state)[0].match
                match.end = match.fallback
        self._add("named", [opener])

    def note(self, token: Token) -> Opener | None:
        mark = self._marks.fullmatch(token.text) if self._groups else None
        if mark is None:
            return None
        steps = [(s, self._transitions.get((s, mark.lastgroup or ""))) for s in self._groups]
        for after, group in [(after, self._groups.pop(state)) for state, after in steps if after]:
            group[0].match.fallback = token.end if after in ("between", "unsure") else None
            self._add(after, group)
        return self._groups.pop("ended", [None])[0]

    def forget(self, opener: Opener) -> None:
        """Keep the opener: it shares a match with others."""

    def _add(self, state: str, group: list[Opener]) -> None:
        """Put ``group`` in ``state``; the smaller of two groups joins the larger one."""
        other = self._groups.get(state, [])
        small, large = sorted((group, other), key=len)
        self._groups[state] = large
        large[0].match.fallback = group[0].match.fallback
        for opener in small:
            opener.match = large[0].match
        large += small


class BracketMatcher:
    """Matches the brackets of bodies that are JSON or Python.

    A quote begins or ends a string, depending on where reading began. So there is one reading for
    each state in which it may have begun: outside strings, or inside those of each quote. A quote
    exchanges the readings outside strings and inside its strings. An opener belongs to the reading
    that is outside at the opener. Each reading has its own depth and open brackets.
    """

    def __init__(self, *, is_python: bool = False) -> None:
        self._marks, self._quotes = (_PYTHON, "\"'") if is_python else (_JSON, '"')
        self.reset()

    def reset(self) -> None:
        # The reading that is outside strings, then those inside the strings of each quote.
        self._readings = [*range(1 + len(self._quotes))]
        self._depths = [0 for _ in self._readings]
        self._open = [deque[tuple[int, Opener]]() for _ in self._readings]
        # The last opener, its reading and its depth, until its value ends.
        self._last: tuple[Opener, int, int] | None = None

    def begin(self, opener: Opener, token: Token) -> None:
        if self._last and not self._is_inside(opener):
            last = self._last[0]
            last.match.end = last.match.fallback if last.protocol is opener.protocol else None
        self.note(token)
        self._push(opener, self._depths[self._readings[0]] - 1)

    def resume(self, opener: Opener) -> None:
        """Add ``opener`` again: another value follows in its body."""
        self._push(opener, self._depths[self._readings[0]])

    def _push(self, opener: Opener, depth: int) -> None:
        reading = self._readings[0]
        self._open[reading].append((depth, opener))
        if not self._is_inside(opener):
            self._last = (opener, reading, depth)

    def _is_inside(self, opener: Opener) -> bool:
        """Return whether ``opener`` is a bare object inside another value, and part of it."""
        return opener.is_bare and self._last is not None and self._last[1] == self._readings[0]

    def note(self, token: Token) -> Opener | None:
        if self._last is not None and token.text in self._last[0].protocol.closers:
            return self._closing_tag(token.end)
        ended = None
        for match in self._marks.finditer(token.text):
            if match[0] in "}])":
                ended = self._closing_bracket(token.end) or ended
                continue
            if match[0] in self._quotes:
                inside = 1 + self._quotes.index(match[0])
                readings = self._readings
                readings[0], readings[inside] = readings[inside], readings[0]
            elif match[0] in "{[(":
                self._depths[self._readings[0]] += 1
            if self._last is not None:
                self._last[0].match.fallback = None
        return ended

    def _closing_bracket(self, end: int) -> Opener | None:
        self._depths[self._readings[0]] -= 1
        depth, unmatched = self._depths[self._readings[0]], self._open[self._readings[0]]
        ended = None
        while unmatched and unmatched[-1][0] >= depth:
            ended = unmatched.pop()[1]
            self._drop(ended)
        if self._last is not None and self._last[1] == self._readings[0]:
            # If nothing else comes, only the last bracket is missing.
            self._last[0].match.fallback = end if depth == self._last[2] + 1 else None
        return ended

    def _drop(self, opener: Opener) -> None:
        """Let no closing tag end ``opener``, whose value has ended or which is text."""
        if self._last is not None and self._last[0] is opener:
            self._last = None

    def _closing_tag(self, end: int) -> Opener | None:
        """Read a closing tag, which ends the value of the last opener, whatever is open in it."""
        assert self._last is not None
        opener, reading, _ = self._last
        if reading != self._readings[0]:
            opener.match.fallback = end  # in a string, whose end may be missing
            return None
        self._last = None
        while self._open[reading].pop()[1] is not opener:
            pass  # what is open inside it
        return opener

    def forget(self, opener: Opener) -> None:
        self._drop(opener)
        for unmatched in self._open:
            if unmatched and unmatched[0][1] is opener:
                unmatched.popleft()


# Begins with an opener, reads tokens inside bodies and returns the outermost opener whose body a
# token ends, forgets the first opener, and resets itself.
Matcher = ElementMatcher | TaggedMatcher | BracketMatcher


def matcher_of(protocol: Protocol) -> Matcher:
    """Return a matcher for a protocol whose bodies are not read by their brackets."""
    return ElementMatcher() if protocol.kind == "elements" else TaggedMatcher(protocol)
