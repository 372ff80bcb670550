"""Read the bodies of calls as they arrive, to find where calls end: one reader for each kind.

A reading begins at an opener and goes on while text arrives. It remembers the ends of all openers
inside, and which are open: if the first one turns out to be text, the others are looked up, and
nothing is read again. Only brackets inside strings need a second reading, which takes them to be
outside (in Python, a third, as there are two quotes). So reading takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.kept_text import KeptText

__all__ = ("LENIENT", "STRICT", "Brackets", "Elements", "Reading", "Tagged")


@dataclass(slots=True)
class Reading:
    """The ``text`` that is read from one opener on.

    ``marks`` matches tags, quotes, brackets and signs of calls; its group ``cut`` matches text at
    the end that may be part of one. ``position`` is the number of characters read. ``ends`` maps
    the position of each opener whose end is known to that end. ``closers`` are the tags that close
    the call to be read.
    """

    text: KeptText
    marks: re.Pattern[str]
    position: int
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
            for mark in self.marks.finditer(source, start, limit - base):
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

    def fallback(self, key: int) -> int | None:
        """Return the end of what begins at ``key`` if nothing else comes: a closer is missing."""
        raise NotImplementedError

    def last_end(self, key: int) -> int | None:  # noqa: ARG002 - only strings may lack quotes
        """Return the end of what begins at ``key`` if the text ends with it."""
        return None

    def complete(self, key: int) -> int:  # noqa: ARG002 - only brackets are lists
        """Return the end of the last complete call in a list that begins at ``key``, or 0."""
        return 0

    def contains(self, key: int) -> bool:
        """Return whether what begins at ``key`` has been read as an opener."""
        return self.position > key


@dataclass(slots=True)
class Elements(Reading):
    """Tags: a call ends at the first tag at which the tags of its name balance."""

    open: dict[str, list[int]] = field(default_factory=dict)

    def note(self, mark: re.Match[str], start: int, end: int) -> None:
        if mark.lastgroup == "opener":
            self.open.setdefault(mark[0][1:-1], []).append(start)
        elif unmatched := self.open.get(mark[0][2:-1].strip(WHITE_SPACE)):
            self.ends[unmatched.pop()] = end

    def fallback(self, key: int) -> int | None:  # noqa: ARG002 - an element has to be closed
        return None


# The state of a tagged body after a mark. A body has no parameter yet ("named"), is inside a value
# or after one ("between"), may have ended inside a value ("unsure"), or has ended.
STRICT: Final[Mapping[tuple[str, str], str]] = {
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
    **STRICT,
    ("value", "parameter"): "value",
    ("value", "call_end"): "ended",
}


@dataclass(slots=True)
class Tagged(Reading):
    """Tagged parameters. Openers in the same state end together."""

    steps: Mapping[tuple[str, str], str] = field(default_factory=lambda: STRICT)
    groups: dict[str, set[int]] = field(default_factory=dict)
    # The end of the calls in each state if nothing else comes.
    after: dict[str, int] = field(default_factory=dict)

    def note(self, mark: re.Match[str], start: int, end: int) -> None:
        kind = mark.lastgroup or ""
        if kind == "sign":
            for state, last in self.after.items():
                self.ends.update(dict.fromkeys(self.groups.pop(state, ()), last))
            self.groups.setdefault("named", set()).add(start)
            return
        steps = [(state, self.steps.get((state, kind))) for state in self.groups]
        for after, group in [(after, self.groups.pop(state)) for state, after in steps if after]:
            if after == "ended":
                self.ends.update(dict.fromkeys(group, end))
                continue
            small, large = sorted((group, self.groups.get(after, set())), key=len)
            large |= small
            self.groups[after] = large
            if after in ("between", "unsure"):
                self.after[after] = end

    def fallback(self, key: int) -> int | None:
        ends = (end for state, end in self.after.items() if key in self.groups.get(state, ()))
        return next(ends, None)


@dataclass(slots=True)
class Brackets(Reading):
    """JSON or Python, if the reading begins outside strings."""

    quotes: str = '"'
    # The brackets that are open, and all that were opened, in order.
    open: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    # The positions of the closing tags outside strings.
    closed: dict[str, list[int]] = field(default_factory=dict)
    # The quote of the string that is open, the closing tag in it, and the signs open in it.
    quote: str = ""
    inside: tuple[str, int] | None = None
    nested: int = 0
    # The end of the last sign in the string that is open, and in any string.
    inner_sign: int = 0
    quoted_sign: int = 0
    # The closing tag in the last string, and the end of that string. If the text after it is not
    # JSON, the quote of the string was missing.
    doubt: tuple[str, int, int] | None = None
    # The end of the last closing bracket, if no quote, bracket or comma (in Python) has followed.
    last: int = 0
    # The position of the last sign of another call outside strings; it ends what is open there.
    sign: int = -1

    def note(self, mark: re.Match[str], start: int, end: int) -> None:
        text, kind = mark[0], mark.lastgroup
        if self.doubt:
            if self.text.between(self.doubt[2], end).lstrip()[0] not in ",:}]":
                self.close(*self.doubt[:2])
            self.doubt = None
        if self.quote:
            self.note_in_string(text, kind, end)
        elif kind == "closer":
            self.close(text, end)
        elif kind == "sign":
            if self.last and self.open:
                self.ends.setdefault(self.open[-1], self.last)
            self.sign = start
        elif text in "}])" and self.open:
            self.ends.setdefault(self.open.pop(), end)
            self.last = end
        else:
            self.last = 0
            self.quote = text if text in self.quotes else ""
            if text in "{[(":
                self.open.append(start)
                self.opened.append(start)

    def note_in_string(self, text: str, kind: str | None, end: int) -> None:
        if text == self.quote:
            self.doubt = (*self.inside, end) if self.inside else None
            self.quote, self.inside, self.nested, self.inner_sign = "", None, 0, 0
        elif kind == "sign" and self.inside:
            self.close(*self.inside)
        elif kind == "sign":
            self.nested += 1
            self.inner_sign = self.quoted_sign = end
        elif kind == "closer" and self.nested:
            self.nested -= 1
        elif kind == "closer" and not self.inside:
            self.inside = text, end

    def close(self, closer: str, end: int) -> None:
        self.closed.setdefault(closer, []).append(end)

    def known(self, key: int) -> int | None:
        end = self.ends.get(key)
        for closer in self.closers if self.closed else ():
            found = self.closed.get(closer, [])
            at = bisect_right(found, key)
            if at < len(found) and (end is None or found[at] < end):
                end = found[at]
        return -1 if end is None and key <= self.sign else end

    def last_end(self, key: int) -> int | None:
        # A string that reaches to the end lacks its quote if all brackets are closed in it.
        if self.quote and self.quotes == '"' and not self.closers and self.quoted_sign <= key:
            start = max(key, self.text.end - 99)
            rest = self.text.between(start, self.text.end).rstrip()
            return start + len(rest) if rest.endswith(("}", "]")) else None
        return None

    def complete(self, key: int) -> int:
        if self.text.between(key, key + 1) != "[":
            return 0
        end, at = 0, key + 1
        for number in range(bisect_right(self.opened, key), len(self.opened)):
            start = self.opened[number]
            if start < at:
                continue
            if start not in self.ends or self.text.between(start, start + 1) not in "{(":
                break
            end = at = self.ends[start]
        return end

    def fallback(self, key: int) -> int | None:
        if self.doubt and self.doubt[0] in self.closers and key < self.doubt[1]:
            return self.doubt[1]
        if self.inside and self.inside[0] in self.closers and self.inner_sign <= key:
            return self.inside[1]
        return self.last if self.last and self.open[-1:] == [key] else None

    def contains(self, key: int) -> bool:
        at = bisect_left(self.opened, key)
        return at < len(self.opened) and self.opened[at] == key
