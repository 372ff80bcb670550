"""Find calls in text that arrives in fragments.

Outside calls, the finder searches for fences and for openers, even of protocols that are not
chosen. After an opener, it reads the call to its end, with the tags that may follow its body. If
the call does not end within ``max_call_size`` characters, its opener is treated as text, and the
search continues after it. An opener in a fence is also treated as text, unless the protocol is
``xml`` or the fence contains only the call.

The finder waits until enough text has arrived, so the result does not depend on how the text is
split into fragments.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import regex

from chunkast.toolcalls.body import KeptText, Opener, Reading
from chunkast.toolcalls.brackets import JSON, PYTHON
from chunkast.toolcalls.call_model import Text, ToolProblem
from chunkast.toolcalls.elements import ELEMENTS
from chunkast.toolcalls.protocols import NAMES, PROTOCOLS, Protocol
from chunkast.toolcalls.tagged import TAGGED

__all__ = ("KINDS", "LONGEST", "CallFinder", "Found")

# The maximum number of characters of an opener, and of what it has before its sign.
LONGEST: Final = 2048
_LEAD: Final = 512
# A closing tag after the marks is one of a call whose JSON was in the fence.
_FENCE: Final = r"\n {0,3}(?:`{3,}|~{3,})(?!<[/|｜])[^\n]{0,200}(?=\n)"
# The first characters of an opener, a sign or a fence. They are faster to find.
_EDGE: Final = re.compile(r"[<\[{]")
_EDGE_OR_LINE: Final = re.compile(r"\n {0,3}(?:[`~]|\Z)|<|\[|\{")
_EDGE_OR_TO: Final = re.compile(r"\n {0,3}(?:[`~]|\Z)|<|\[|\{|=(?<=[ \n]to=)")
# Text at the end that may be the beginning of " to=".
_CUT_TO: Final = ("\n", "\nt", "\nto", " ", " t", " to")
_CUT_OFF: Final = "the next call in the list or tag stays text, as it has no end"
_LINE_EDGE: Final = re.compile(r"\n {0,3}[`~]")
# Each kind of body.
KINDS: Final = {"elements": ELEMENTS, "tagged": TAGGED, "json": JSON, "python": PYTHON}

# The text of a call, or of several in one list or tag, with its opener; or a problem: an opener
# that does not begin a call, and the reason. All but problems cover the text without gaps.
Found = tuple[Opener, Text] | Text | ToolProblem


class CallFinder:
    """Finds calls of at most ``max_call_size`` characters; ``None`` means no limit."""

    def __init__(
        self, names: Iterable[str], protocols: Sequence[Protocol], max_call_size: int | None
    ) -> None:
        self._names = frozenset(names)
        on = tuple(protocols) if self._names else ()
        off = [row for rows in PROTOCOLS.values() for row in rows if row not in on]
        self._on, self._off = on, {row.name for row in off} if self._names else set()
        self._max = math.inf if max_call_size is None else max_call_size
        self._patterns = _Patterns(self._names, on, off if self._names else ())
        self._readings: dict[Any, list[Reading]] = {}
        # The text, the position at which the search goes on, a position before which no sign of a
        # call is near, and the call that is being read.
        self.text = KeptText()
        self._at, self._lead = -1, -1 - _LEAD
        self.opener: Opener | None = None
        # The marks of the fence that is open, and the end of the last opener that is text.
        self._fence, self._rejected = "", -1

    def read(self, fragment: str, *, last: bool) -> Iterator[Found]:
        """Yield the calls, texts and problems that are complete after ``fragment``.

        If ``last`` is true, ``fragment`` ends the text, and the rest is yielded too.
        """
        text = self.text
        text.add(fragment, last=last)
        while True:
            if self.opener is None:
                yield from self._search(last=last)
            opener = self.opener
            if opener is None:
                yield from text.take(min(self._at, text.end))
                return
            is_long = text.end - opener.start >= self._max
            end = self._end(opener, over=last or is_long, last=last)
            if end is None:
                yield from text.take(opener.start)
                return
            self.opener = None
            if 0 < end <= opener.start + self._max:
                yield from text.take(opener.start)
                yield from ((opener, part) for part in text.take(end))
                if opener.key is not None:
                    yield _problem(end, end, _CUT_OFF)
                self._at = end
                continue
            self._at = opener.end
            if opener.is_fenced:
                self._fence = _fence_after("", text.between(opener.start, opener.end))
            if end or not opener.is_fenced:
                is_long = end > 0 or (is_long and end == -2)
                why = f"is longer than {self._max:,} characters" if is_long else "is never closed"
                yield _problem(opener.start, opener.end, f"it stays text, as it {why}", opener.name)

    def _end(self, opener: Opener, *, over: bool, last: bool) -> int | None:
        """Return the end of a call, or ``None`` if more text is needed.

        If it is text, return 0 if its fence contains more, -1 if another call begins in it, and -2
        if its end is missing.
        """
        row, tail = opener.protocol, self._patterns.tails.get(opener.protocol)
        limit = min(self.text.stop, opener.start + self._max)
        while True:
            if opener.key is not None:
                end = opener.reading.end(opener.key, int(limit), over=over)
                if end is None and not over:
                    return None
                if end is None or end < 0:
                    # The calls before one that is cut off are calls.
                    complete = 0 if opener.is_fenced else opener.reading.complete(opener.key)
                    return opener.stop or complete or end or -2
                opener.stop, opener.key = end, None
            if tail is None or (row.name == "json" and not opener.is_fenced):
                return opener.stop
            source, base = self.text.since(opener.stop - 1)
            found = tail.match(source, opener.stop - base, partial=not last)
            if found is None:
                return 0 if opener.is_fenced else opener.stop
            if found.partial:
                return None
            if found.lastgroup == "more":
                opener.key = base + found.end()
                continue
            opener.stop = base + found.end()
            if not found[0].endswith(">"):
                return opener.stop

    def _search(self, *, last: bool) -> Iterator[ToolProblem]:
        """Find the next opener of a call, and yield a problem for what only looks like one."""
        text, base = self.text.whole()
        at = self._at - base
        while not isinstance(found := self._match(text, base, at, last=last), int):
            start, at = base + found.start(), found.end()
            groups, rows = found.groupdict(), self._patterns.rows
            row = next((rows[name] for name in rows if groups.get(name) is not None), None)
            if row is not None:
                opener = self._opener(row, found, base)
                reason = self._reason(opener, start)
                if reason is None:
                    self._begin(opener)
                    return
                self._rejected = opener.end
                at = opener.end - base
                if reason:
                    yield _problem(opener.start, opener.end, reason, opener.name)
            else:
                self._fence = _fence_after(self._fence, found[0][1:])
        self._at = base + found

    def _match(self, text: str, base: int, at: int, *, last: bool) -> Any:
        """Return the next match in ``text``, or the index before which there is none."""
        patterns = self._patterns
        while True:
            if base + at >= self._lead + _LEAD and (last or len(text) - at > _LEAD):
                # Only a fence may be so far before the next sign of a call.
                sign = patterns.sign.search(text, at)
                end = sign.start() - _LEAD if sign else len(text) - (0 if last else _LEAD)
                self._lead = base + end
            lead = self._lead - base
            is_far = patterns.has_fences and at < lead
            edge = _LINE_EDGE.search(text, at, lead + 4) if is_far else None
            edge = edge or patterns.edge.search(text, max(at, lead))
            if edge is None:
                is_cut = patterns.has_to and not last and text.endswith(_CUT_TO)
                return max(at, len(text.rstrip("to")) - 1) if is_cut else len(text)
            before, at = at, edge.start()
            search, unfinished = patterns.beginning_with(text[at], in_fence=bool(self._fence))
            if text[at] == "=":
                at -= 3
                if at < before:
                    at += 4
                    continue
            is_near = not last and len(text) - at < LONGEST
            if is_near and unfinished.match(text, at, partial=True):
                return at
            found = (patterns.fence if at < lead else search).match(text, at)
            if found is not None:
                return found
            at += 1

    def _opener(self, row: Protocol, found: Any, base: int) -> Opener:
        groups, end = found.groupdict(), base + found.end()
        body = end if groups.get("body") is None else base + found.start("body")
        is_line = found[0].startswith("\n")
        start = base + found.start() + is_line
        if row not in self._on and body > start:
            end = body  # its bracket may begin a call too
        end, name = min(end, self.text.end), groups.get("name") or ""
        return Opener(row, name, groups.get("id"), start, end, body, is_line and row.name == "json")

    def _reason(self, opener: Opener, start: int) -> str | None:
        """Return the reason why an opener is text, "" if that is not reported, or ``None``."""
        row, is_known = opener.protocol, not opener.name or opener.name in self._names
        if self.text.between(opener.start - 2, opener.start).endswith(("`", "](")):
            return "it stays text, as it is in inline code or a link" * (row in self._on)
        if row.name in self._off and is_known and start != self._rejected:
            self._off.discard(row.name)
            return f"it looks like a call in the protocol `{row.name}`, which is not chosen"
        if row not in self._on:
            return ""  # reported before
        if self._fence and row.kind != "elements":
            return "it stays text, as it is in a fence"
        if not is_known:
            return "it stays text, as no tool has this name"
        return None

    def _begin(self, opener: Opener) -> None:
        """Start to read the call of ``opener``; a reading that has passed it goes on."""
        self.opener, self._at = opener, opener.end
        row, kind = opener.protocol, KINDS[opener.protocol.kind]
        opener.key = kind.key(opener, self.text.between(opener.start, opener.end))
        if opener.key is None:
            opener.stop = opener.end
            return
        opener.begin = opener.key
        marks = re.compile(self._patterns.marks[row], re.DOTALL)
        readings = self._readings.setdefault(marks, [])
        readings[:] = [reading for reading in readings if reading.position > opener.key]
        opener.reading = next((r for r in readings if r.contains(opener.key)), None)
        if opener.reading is None:
            opener.reading = kind.reading(self.text, marks, opener.key, row)
            readings.append(opener.reading)
        opener.reading.closers = row.closers


class _Patterns:
    """The patterns of the chosen protocols, for the names of some tools.

    ``edge`` matches the first character of everything that is searched for. ``sign`` matches the
    ``sign`` of any protocol, and ``tails`` the tails. ``rows`` are the protocols by their groups.
    """

    def __init__(
        self, names: Collection[str], on: Sequence[Protocol], off: Sequence[Protocol]
    ) -> None:
        name = f"(?:{'|'.join(map(re.escape, names))})"
        self.rows: dict[str, Protocol] = {}
        # The first characters of each part, whether it is bare JSON, and its pattern.
        self._parts: list[tuple[str, bool, str]] = []
        for row in (*on, *off):
            group = f"row{len(self.rows)}"
            self.rows[group] = row
            opener = (row.opener if row in on else row.looks or row.opener).replace(NAMES, name)
            is_bare = row in on and row.name == "json"
            self._parts.append((row.begins, is_bare, f"(?P<{group}>{opener})"))
        self.has_fences = any(row.kind != "elements" for row in on)
        self.has_to = any("=" in row.begins for row in on)
        edge = _EDGE_OR_LINE if self.has_fences else _EDGE
        self.edge = _EDGE_OR_TO if self.has_to else edge
        self.fence = re.compile(f"(?P<fence>{_FENCE})")
        if self.has_fences:
            self._parts.append(("\n", False, self.fence.pattern))
        signs = dict.fromkeys(f"\\{row.sign.replace(NAMES, name)}" for row in (*on, *off))
        self.sign = re.compile("|".join(signs) or "(?!)")
        self._compiled: dict[tuple[str, bool], tuple[Any, Any]] = {}
        self.tails = {row: _compiled(row.tail) for row in on if row.tail}
        self.marks = {row: KINDS[row.kind].marks(row, name, on) for row in on}

    def beginning_with(self, char: str, *, in_fence: bool) -> tuple[Any, Any]:
        """Return two patterns for marks that begin with ``char``: complete marks and cut-off marks.

        The second pattern matches a mark that may continue in the next fragment. If ``in_fence`` is
        true, bare JSON is not a mark.
        """
        if (char, in_fence) not in self._compiled:
            fit = (one for one in self._parts if char in one[0] and not (in_fence and one[1]))
            parts = "|".join(text for _, _, text in fit)
            self._compiled[char, in_fence] = _compiled(parts), _compiled(f"(?:{parts})(?!)")
        return self._compiled[char, in_fence]


def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern or "(?!)", regex.DOTALL)


def _problem(start: int, end: int, reason: str, name: str = "") -> ToolProblem:
    return ToolProblem(name, "", reason, (start, end))


def _fence_after(fence: str, line: str) -> str:
    """Return the marks of the open fence after a line of a fence, if ``fence`` was open before."""
    marks = line.strip(" ")
    info = marks.lstrip(marks[0])
    marks = marks[: len(marks) - len(info)]
    if fence:
        return "" if marks.startswith(fence) and not info.strip() else fence
    return "" if "`" in info and marks[0] == "`" else marks
