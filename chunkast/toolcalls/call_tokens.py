"""Find what may begin, divide or end a call in text that arrives in fragments.

The tags of the protocol ``xml`` are ``<name>``, ``<name/>`` and ``</name>``, with optional white
space around the name of a closing tag. The tokens of the other protocols are in their rows. Each
character is read once, except for a token that continues in the next fragment: a token is at most
``_LONGEST`` characters long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import regex

from chunkast.text.white_space import WHITE_SPACE
from chunkast.toolcalls.protocols import NAMES, Protocol, plain

__all__ = ("Token", "TokenReader")

_LONGEST: Final = 2048
_FENCE: Final = r"\n {0,3}(?:`{3,}|~{3,})[^\n]{0,200}(?=\n)"
_EMPTY: Final = re.compile("")
_JSON: Final = r"\\.|[\"{}\[\]]|</(?:tool_call|function_call)>"


@dataclass(frozen=True, slots=True)
class Token:
    """A token at ``[start, end)`` in the whole text.

    kind: "open", "close" and "empty" for the tags of ``xml``; "fence", "mark", "bracket" and "tail"; or the name of a protocol for what begins a
        call in it, or looks like it.
    name: the tool's name, if what begins a call contains it.
    body: the start of the call's body.
    """

    kind: str
    text: str
    start: int
    end: int
    name: str = ""
    body: int = 0


class TokenReader:
    """Reads tokens.

    ``mode`` switches on the tokens inside tagged and JSON bodies. If ``tail`` is set, it is matched
    next. If ``repeat`` is set, the last token is read again.

    position: the number of characters that have been read so far.
    settled: every token that ends at or before this position has been returned.
    opener_start: the start of an unfinished token that may begin a call, or else ``position``.
    """

    def __init__(
        self, names: Iterable[str], on: Sequence[Protocol], off: Sequence[Protocol]
    ) -> None:
        name, space = "|".join(map(regex.escape, names)), f"[{WHITE_SPACE}]{{0,200}}"
        tags = any(row.kind == "elements" for row in on) and bool(name)
        marks = [row.marks for row in on if row.marks]
        closes = f"</{space}(?:{name}){space}>"
        self._simple = all(row.kind == "elements" for row in on)
        begin = [(row.name, row.opener) for row in on] + [(row.name, row.looks) for row in off]
        openers = {key: text.replace(NAMES, f"(?:{name})") for key, text in begin if name}
        begins = [f"(?P<{_group(key)}>{plain(text)})" for key, text in openers.items()]
        self._protocols = {_group(key): key for key in openers}
        self._openers = {_group(key): regex.compile(text) for key, text in openers.items()}
        begins = begins or ["(?!)"]
        closers = [f"(?P<close>{closes})"] if tags else []
        fences = [] if self._simple else [f"(?P<fence>{_FENCE})"]
        inside = [f"(?P<mark>{plain('|'.join(marks))})"] if marks else []
        inside_json = [f"(?P<bracket>{_JSON})"]
        always = begins + closers + fences
        self._patterns = {
            (False, False): _compiled(always),
            (True, False): _compiled(always + inside),
            (False, True): _compiled(always + inside_json),
            (True, True): _compiled(always + inside + inside_json),
        }
        # Each list is searched alone, as a token of one may be inside an unfinished one of another.
        lists = (
            [begins, closers] if self._simple else [begins, closers, fences, inside, inside_json]
        )
        self._lists = [regex.compile("|".join(some), regex.DOTALL) for some in lists if some]
        # The characters at which a token may begin; much faster to find than tokens.
        edge, fence = r"<(?=\S)|\[(?=[T\s{])|\{(?=[\s\"'])", r"|\n {0,3}(?:```|~~~)" * bool(fences)
        self._edges = re.compile(edge + fence), re.compile(r'<|\[|\{|\]|\}|"|\\' + fence)
        self._edge = re.compile(r"[<\[{]" if self._simple else r"[<\[{}\]\n\"\\]")
        # The text that may have to be read again, with the character before it.
        self._text = "\n"
        self._base = -1
        self._at = 0
        self.mode = (False, False)
        self.repeat = False
        self.tail: Any = None
        self.position = self.settled = self.opener_start = 0

    def read(self, fragment: str, *, last: bool) -> Iterator[Token]:
        """Yield the tokens that are certain after ``fragment``, the next fragment of the text."""
        self.position += len(fragment)
        # The end of the text ends the last line.
        text, at = self._text + fragment + "\n" * last, self._at
        if len(self._text) == at and not last and not self.tail and not self._edge.search(fragment):
            self._keep(text, len(text), len(text))
            return
        begin, hold = self._hold(text, at, last=last)
        while True:
            if self.tail is not None:
                match = self.tail.match(text, at, partial=not last)
                if match and match.partial:
                    begin = hold = min(hold, at)
                    break
                self.tail = None
                yield self._token("tail", match or _EMPTY.match(text, at))
                at = match.end() if match else at
            else:
                match = self._next(text, at)
                if match is None or match.start() >= hold:
                    break
                yield self._token(match.lastgroup or "", match)
                if self.repeat:
                    self.repeat = False
                    at = match.start()
                    continue
                at = match.end()
                if match[0][0] in "\n\\" and at > len(text) - _LONGEST:
                    hold = -1  # what seemed to begin a call may be inside this token
            if at > hold:
                begin, hold = self._hold(text, at, last=last)
        self._keep(text, max(at, min(hold, len(text) - last)), max(at, begin))

    def _next(self, text: str, at: int) -> re.Match[str] | None:
        edge, pattern = self._edges[any(self.mode)], self._patterns[self.mode]
        while found := edge.search(text, at):
            at = found.start()
            match = pattern.match(text, at)
            if match:
                return match
            at += 1
        return None

    def _token(self, kind: str, match: Any) -> Token:
        start, end = self._base + match.start(), min(self._base + match.end(), self.position)
        if kind not in self._openers:
            return Token(kind, match[0], start, end)
        # Once more, with the groups that the other patterns have no room for.
        opener = self._openers[kind].match(match.string, match.start())
        groups = opener.groupdict(default="")
        body = self._base + opener.start("body") if "body" in groups else end
        return Token(self._protocols[kind], match[0], start, end, groups.get("name", ""), body)

    def _hold(self, text: str, at: int, *, last: bool) -> tuple[int, int]:
        """Return where an unfinished opener begins in ``text``, and where any token does."""
        holds = [len(text)] * len(self._lists)
        for number, pattern in enumerate([] if last else self._lists):
            start = max(at, len(text) - _LONGEST)
            while match := pattern.search(text, start, partial=True):
                if match.partial:
                    holds[number] = match.start()
                    break
                start = match.end()
        hold = min(holds)
        # A complete opener may be inside another unfinished token.
        match = self._lists[0].search(text, max(at, hold))
        return min(holds[0], match.start() if match else len(text)), hold

    def _keep(self, text: str, at: int, begin: int) -> None:
        """Keep ``text`` from ``at``, and the character before it."""
        self.opener_start = max(0, min(self._base + begin, self.position))
        self._text, self._at = text[max(0, at - 1) :], min(at, 1)
        self._base += max(0, at - 1)
        self.settled = self.position if self._simple else self._base + self._at


def _group(protocol: str) -> str:
    return "in_" + protocol.replace("-", "_")


def _compiled(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.DOTALL)
