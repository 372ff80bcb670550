"""Find calls in text that arrives in fragments.

Outside calls, the text is searched for what begins a call, for signs of calls and for fences. A
call is then read to its end, and what follows it may belong to it. It is at most ``max_call_size``
characters long. If it does not end, its opener is text, and the search goes on after the opener. An
opener in a fence is text too, except in the protocol ``xml``, and if the fence has only the call.

Nothing is decided before enough text has arrived, so that the result does not depend on how the
text is divided.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import regex

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.call_model import Text, ToolProblem
from chunkast.toolcalls.kept_text import KeptText
from chunkast.toolcalls.protocols import NAMES, PROTOCOLS, Protocol
from chunkast.toolcalls.readings import LENIENT, STRICT, Brackets, Elements, Reading, Tagged

__all__ = ("CallFinder", "Found", "Opener")

# The maximum number of characters of an opener, and of what it has before its sign.
_LONGEST: Final = 2048
_LEAD: Final = 512
# A closing tag after the marks is one of a call whose JSON was in the fence.
_FENCE: Final = r"\n {0,3}(?:`{3,}|~{3,})(?!<[/|｜])[^\n]{0,200}(?=\n)"
# The first characters of an opener, a sign or a fence. They are faster to find.
_EDGE: Final = re.compile(r"[<\[{]")
_EDGE_OR_LINE: Final = re.compile(r"\n {0,3}(?:[`~]|\Z)|<|\[|\{")
_EDGE_OR_TO: Final = re.compile(r"\n {0,3}(?:[`~]|\Z)|<|\[|\{|=(?<=[ \n]to=)")
# Text at the end that may be the beginning of " to=".
_CUT_TO: Final = ("\n", "\nt", "\nto", " ", " t", " to")
_LINE_EDGE: Final = re.compile(r"\n {0,3}[`~]")
# Text at the end of a fragment that may be part of a mark.
_CUT_TAG: Final = r"<[^<>]{0,700}\Z"
_CUT_SECTION: Final = r"\]{1,2}\Z|\[[A-Z_]{0,11}\Z|<arg_key>[^<>]{0,256}(?:<[^<>]{0,9}(?:>\s{0,40}(?:<[^<>]{0,10})?)?)?\Z"
# It contains no quotes and no closing brackets, which must be read as soon as they arrive.
_CUT_BRACKET: Final = (
    r"<[\w/|｜▁.:=-]{0,60}\Z|\\\Z|\[[A-Z_]{0,11}\Z"
    r"|\n {0,3}(?:`{0,2}|```\w{0,20}[ \t]{0,9}(?:\n\s{0,40})?)\Z"
)
_BLANK: Final = f"[{WHITE_SPACE}]{{0,200}}"
_OPEN_FENCE: Final = r"\n {0,3}```\w{0,20}[ \t]{0,9}\n\s{0,40}(?=[{\[])"
_JSON: Final = r"\\.|[\"{}\[\]]"
_PYTHON: Final = r"\\.|[\"'{}\[\](),]"


@dataclass(slots=True)
class Opener:
    """Text at ``[start, end)`` that may begin a call, whose body begins at ``body``.

    ``name`` is the tool's name, and ``id`` the call's, if the opener contains them. ``is_fenced`` is true if it begins with
    a fence that may contain only the call. ``reading`` reads the value at ``key``, or ``None`` if
    that has ended; the first one was at ``begin``. ``stop`` is the end of the call so far.
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


# The text of a call, or of several in one list or tag, with its opener; or a problem: an opener
# that does not begin a call, and the reason. All but problems cover the text without gaps.
Found = tuple[Opener, Text] | Text | ToolProblem


class CallFinder:
    """Finds calls of at most ``max_call_size`` characters, or of any size if it is ``None``."""

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
        self._fence = ""
        self._rejected = -1

    def read(self, fragment: str, *, last: bool) -> Iterator[Found]:
        """Yield what is complete after ``fragment``.

        If ``last`` is true, ``fragment`` ends the text, and the rest of the text is yielded too.
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
                    yield _problem(
                        end, end, "the next call in the list or tag stays text, as it has no end"
                    )
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
                    return self._complete(opener) or end or -2
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

    def _complete(self, opener: Opener) -> int:
        """Return the end of the calls before the one that is cut off, or 0."""
        if opener.stop or opener.is_fenced:
            return opener.stop
        return opener.reading.complete(opener.key)  # type: ignore[no-any-return]

    def _search(self, *, last: bool) -> Iterator[ToolProblem]:
        """Find the next opener of a call, and yield a problem for what only looks like one."""
        text, base = self.text.whole()
        at, kinds = self._at - base, self._patterns.kinds
        while not isinstance(found := self._match(text, base, at, last=last), int):
            start, at = base + found.start(), found.end()
            kind = next(kind for kind in kinds if found.groupdict().get(kind) is not None)
            row = self._patterns.rows.get(kind)
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
            edge = (
                _LINE_EDGE.search(text, at, lead + 4) if patterns.has_fences and at < lead else None
            )
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
            is_near = not last and len(text) - at < _LONGEST
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
        is_fenced = is_line and row.name == "json"
        return Opener(row, name, groups.get("id"), start, end, body, is_fenced)

    def _reason(self, opener: Opener, start: int) -> str | None:
        """Return the reason why an opener is text, "" if that is not reported, or ``None``."""
        row, is_known = opener.protocol, not opener.name or opener.name in self._names
        if self.text.between(start - 2, start).endswith(("`", "](")):
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
        row, (text, base) = opener.protocol, self.text.whole()
        written = text[opener.start - base : opener.end - base]
        if written.endswith(row.closers if row.kind == "json" else "/>"):
            opener.stop = opener.end
            return
        if row.kind == "elements":
            opener.key = opener.start
        elif row.kind == "tagged":
            opener.key = base + text.rfind("<", 0, opener.body - base)
        else:
            opener.key = opener.end - 1  # the first bracket of its body
        opener.begin = opener.key
        readings = self._readings.setdefault(row if row.kind == "tagged" else row.kind, [])
        readings[:] = [reading for reading in readings if reading.position > opener.key]
        opener.reading = next((r for r in readings if r.contains(opener.key)), None)
        if opener.reading is None:
            opener.reading = self._patterns.reading(row, self.text, opener.key)
            readings.append(opener.reading)
        opener.reading.closers = row.closers


class _Patterns:
    """The patterns of the chosen protocols, for the names of some tools.

    ``edge`` matches the first character of everything that is searched for. ``sign`` matches the
    signs of all protocols, and ``tails`` the tails. ``rows`` are the protocols by their groups.
    """

    def __init__(
        self, names: Collection[str], on: Sequence[Protocol], off: Sequence[Protocol]
    ) -> None:
        name = f"(?:{'|'.join(map(re.escape, names))})"
        self._on = frozenset(on)
        self.rows: dict[str, Protocol] = {}
        # The first characters of each part, its row and its pattern.
        self._parts: list[tuple[str, Protocol | None, str]] = []
        for row in (*on, *off):
            group = f"row{len(self.rows)}"
            self.rows[group] = row
            opener = (row.opener if row in on else row.looks or row.opener).replace(NAMES, name)
            self._parts.append((row.begins, row, f"(?P<{group}>{opener})"))
        self.kinds = (*self.rows, "fence")
        self.has_fences = any(row.kind != "elements" for row in on)
        self.edge = _EDGE_OR_LINE if self.has_fences else _EDGE
        self.has_to = any("=" in row.begins for row in on)
        if self.has_to:
            self.edge = _EDGE_OR_TO
        self.fence = re.compile(f"(?P<fence>{_FENCE})")
        if self.has_fences:
            self._parts.append(("\n", None, self.fence.pattern))
        signs = {row: f"\\{row.sign.replace(NAMES, name)}" for row in (*on, *off)}
        self.sign = re.compile("|".join(dict.fromkeys(signs.values())) or "(?!)")
        self._compiled: dict[tuple[str, bool], tuple[Any, Any]] = {}
        self.tails = {row: _compiled(row.tail) for row in on if row.tail}
        closers = dict.fromkeys(c for row in on if row.kind == "json" for c in row.closers)
        tagged = "|".join(signs[row] for row in on if row.is_token)
        fence = _OPEN_FENCE if any(row.name == "json" for row in on) else ""
        inner = "|".join(filter(None, (tagged, fence)))
        self._marks: dict[Any, str] = {
            "json": _marks(
                cut=_CUT_BRACKET, closer="|".join(map(re.escape, closers)), sign=inner, mark=_JSON
            ),
            "python": _marks(cut=_CUT_BRACKET, sign=inner, mark=_PYTHON),
            "elements": _marks(cut=_CUT_TAG, opener=f"<{name}>", mark=f"</{_BLANK}{name}{_BLANK}>"),
        }
        for row in on:
            if row.kind == "tagged":
                marks = _marks(cut=f"{_CUT_TAG}|{_CUT_SECTION}", sign=tagged)
                marks = f"{marks}|{row.marks.replace('(?P<key>', '(?:')}"
                self._marks[row] = marks

    def beginning_with(self, char: str, *, in_fence: bool) -> tuple[Any, Any]:
        """Return two patterns of what begins with ``char``: for all of it, and for a part of it.

        The latter matches what is unfinished at the end of the text. Bare JSON in a fence is data.
        """
        if (char, in_fence) not in self._compiled:
            parts = "|".join(
                text
                for chars, row, text in self._parts
                if char in chars and not (in_fence and row in self._on and row.name == "json")
            )
            self._compiled[char, in_fence] = _compiled(parts), _compiled(f"(?:{parts})(?!)")
        return self._compiled[char, in_fence]

    def reading(self, row: Protocol, text: KeptText, start: int) -> Reading:
        marks = re.compile(self._marks[row if row.kind == "tagged" else row.kind], re.DOTALL)
        if row.kind == "tagged":
            return Tagged(text, marks, start, steps=LENIENT if row.is_lenient else STRICT)
        if row.kind == "elements":
            return Elements(text, marks, start)
        return Brackets(text, marks, start, quotes="\"'" if row.kind == "python" else '"')


def _marks(**groups: str) -> str:
    return "|".join(f"(?P<{name}>{text})" for name, text in groups.items() if text)


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
