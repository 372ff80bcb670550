"""Find what may begin, divide or end a call in text that arrives in fragments.

The tokens of a protocol are in its row. Each character is read once, except for a token that
continues in the next fragment: a token is at most ``_LONGEST`` characters long. A text without the
signs of any protocol is only searched for the signs, and for fences if they have a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import regex

from chunkast.toolcalls.protocols import NAMES, Protocol, plain

__all__ = ("Token", "TokenReader")

_LONGEST: Final = 2048
# A closing tag after the marks is one of a call whose JSON was in the fence.
_FENCE: Final = r"\n {0,3}(?:`{3,}|~{3,})(?!<[/|｜])[^\n]{0,200}(?=\n)"
# The protocols whose signs are also in text without calls.
_VAGUE: Final = ("json", "harmony")
_EMPTY: Final = re.compile("")
# Escapes, and quotes and brackets of JSON or Python.
_PUNCTUATION: Final = r"\\.|[\"'{}\[\]()]"
# The characters at which a token outside and inside bodies may begin; faster to find than tokens.
_LINE_EDGE: Final = re.compile(r"\n {0,3}(?:[`~]|\Z)")
_EDGES: Final = tuple(
    re.compile(f"[{e}]|{_LINE_EDGE.pattern}") for e in (r"<\[{", r"<\[{(\]})\"'\\")
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token at ``[start, end)`` in the whole text.

    kind: "fence", "sign" (of a call, without a call), "mark", "bracket" or "tail"; or the form for
        what begins a call in it, or looks like it.
    name: the tool's name, if what begins a call contains it.
    body: the start of the call's body.
    """

    kind: str | Protocol
    text: str
    start: int
    end: int
    name: str = ""
    body: int = 0


class TokenReader:
    """Reads tokens.

    ``inside`` switches on the tokens inside bodies. If ``tail`` is set, it is matched next. If
    ``repeat`` is set, the last token is read again.

    position: the number of characters that have been read so far.
    settled: every token that ends at or before this position has been returned.
    """

    def __init__(
        self, names: Collection[str], on: Sequence[Protocol], off: Sequence[Protocol]
    ) -> None:
        name = f"(?:{'|'.join(map(regex.escape, names))})"
        on, off = (on, off) if names else ((), ())
        self._off = off
        openers = {row: row.opener for row in on} | {row: row.looks or row.opener for row in off}
        self._openers = {
            row: regex.compile(text.replace(NAMES, name)) for row, text in openers.items()
        }
        parts: list[tuple[str | Protocol, str]] = []
        parts += ((row, plain(opener.pattern)) for row, opener in self._openers.items())
        self._has_fences = any(row.kind != "elements" for row in on)
        if self._has_fences:
            parts.append(("fence", _FENCE))
        rows = (row for row in on if NAMES not in row.sign and row.name not in _VAGUE)
        if telling := "|".join(f"\\{row.sign}" for row in rows):
            parts.append(("sign", f"(?<!`)(?:{telling})"))
        outside = len(parts)
        marks = "|".join(row.marks for row in on if row.marks)
        if marks:
            parts.append(("mark", plain(marks.replace(NAMES, name))))
        closers = [re.escape(c) for row in on for c in row.closers if row.kind == "json"]
        if any(row.kind in ("json", "python") for row in on):
            parts.append(("bracket", "|".join((_PUNCTUATION, *dict.fromkeys(closers)))))
        self._kinds = [kind for kind, _ in parts]
        texts = [f"({text})" for _, text in parts]
        self._patterns = _compiled(texts[:outside]), _compiled(texts)
        # Each is searched alone, as a token of one may be inside an unfinished one of another.
        begins = (_compiled(texts[: len(on)]), _compiled(texts[len(on) : len(openers)]))
        self._lists = [*begins, *(_compiled([text]) for text in texts[len(openers) :])]
        signs: dict[str, list[str]] = {}
        for row in (*on, *off):
            signs.setdefault(row.sign[0], []).append(row.sign[1:].replace(NAMES, name))
        self._signs = [regex.compile(f"\\{a}(?={'|'.join(b)})") for a, b in signs.items()]
        # The text that may have to be read again, with the character before it.
        self._text = "\n"
        self._base = -1
        self._at = 0
        self.inside = False
        # The start of an unfinished token, and the value of ``inside`` for which it is right.
        self._start = 0
        self._read_inside: bool | None = None
        self.repeat = False
        self.tail: Any = None
        self.position = self.settled = 0

    def read(self, fragment: str, *, last: bool) -> Iterator[Token]:
        """Yield the tokens that are certain after ``fragment``, the next fragment of the text."""
        self.position += len(fragment)
        # The end of the text ends the last line.
        end = "\n" * last
        text, at = f"{self._text}{fragment}{end}", self._at
        # Most fragments of a stream have no token, not even an unfinished one.
        is_plain = not (last or self.tail or _EDGES[self.inside].search(text, at))
        has_signs = is_plain or self.inside or any(sign.search(text, at) for sign in self._signs)
        inside, hold = self.inside, len(text) if is_plain else self._hold(text, at, last=last)
        while not is_plain:
            if self.tail is not None:
                match = self.tail.match(text, at, partial=not last)
                if match and match.partial:
                    hold = at
                    break
                self.tail = None
                yield self._token("tail", match or _EMPTY.match(text, at))
                at = match.end() if match else at
            else:
                match = self._next(text, at, has_signs=has_signs)
                if match is None or match.start() >= hold:
                    break
                token = self._token(self._kinds[match.lastindex - 1], match)
                yield token
                at = match.start() if self.repeat else match.end()
                if token.kind in self._off and not self.repeat:
                    at, hold = token.end - self._base, -1  # its bracket may begin a call too
                self.repeat = False
            if at > hold or inside != self.inside:
                inside, hold = self.inside, self._hold(text, at, last=last)
        # Keep the rest, and the character before it.
        at = max(at, min(hold, len(text) - last))
        self._text, self._at = text[max(0, at - 1) :], min(at, 1)
        self._base += max(0, at - 1)
        self._start = max(0, min(self._base + self._at, self.position))
        self._read_inside = self.inside if self.tail is None else None
        self.settled = self._start if self._has_fences else self.position

    @property
    def kept(self) -> int:
        """The start of an unfinished token, or else ``position``."""
        if self._read_inside != self.inside:
            start = self._base + self._hold(self._text, self._at, last=False)
            self._read_inside, self._start = self.inside, max(0, min(start, self.position))
        return self._start

    def _next(self, text: str, at: int, *, has_signs: bool) -> Any:
        if not has_signs and not self._has_fences:
            return None
        edge = _EDGES[self.inside] if has_signs else _LINE_EDGE
        pattern = self._patterns[self.inside]
        while found := edge.search(text, at):
            at = found.start()
            match = pattern.match(text, at)
            if match:
                return match
            at += 1
        return None

    def _token(self, kind: str | Protocol, match: Any) -> Token:
        start, end = self._base + match.start(), min(self._base + match.end(), self.position)
        if not isinstance(kind, Protocol):
            return Token(kind, match[0], start, end)
        # Once more, with the groups that the other patterns have no room for.
        opener = self._openers[kind].match(match.string, match.start())
        groups = opener.groupdict(default="")
        body = self._base + opener.start("body") if "body" in groups else end
        if kind in self._off and body > start:
            end = body
        text = match[0][: end - start]
        return Token(kind, text, start, end, groups.get("name", ""), body)

    def _hold(self, text: str, at: int, *, last: bool) -> int:
        """Return where an unfinished token begins in ``text``, or else the end of the text."""
        hold, first = len(text), max(at, len(text) - _LONGEST)
        lists = self._lists if self.inside else self._lists[: 2 + self._has_fences]
        for pattern in [] if last else lists:
            end = first
            while edge := _EDGES[self.inside].search(text, end):
                match = pattern.match(text, edge.start(), partial=True)
                if match and match.partial:
                    hold = min(hold, match.start())
                    break
                end = match.end() if match else edge.start() + 1
        return hold


def _compiled(patterns: Sequence[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(patterns) or "(?!)", regex.DOTALL)
