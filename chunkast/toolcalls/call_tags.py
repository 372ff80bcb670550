"""Find tags with given names in text that arrives in fragments.

Opening tags are ``<name>``, empty tags are ``<name/>``, and closing tags are ``</name>``, with
optional white space before and after the name. Nothing else is a tag. Each character is read once.
A tag that continues in the next fragment is kept only up to the length of the longest name (white
space in a closing tag is not kept).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import regex

from chunkast.text.white_space import WHITE_SPACE

__all__ = ("Tag", "TagReader")

_EDGE: Final = re.compile(r"[<>]")
_SPACES: Final = re.compile(f"[{WHITE_SPACE}]+")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag at ``[start, end)`` in the whole text."""

    name: str
    kind: Literal["open", "close", "empty"]
    start: int
    end: int


class TagReader:
    """Reads tags; ``position`` is the number of characters that have been read so far."""

    __slots__ = ("_pattern", "_start", "_unfinished", "position")

    def __init__(self, names: Iterable[str]) -> None:
        name, space = "|".join(map(regex.escape, names)), f"[{WHITE_SPACE}]*"
        tag = f"<(?:(?P<open>{name})|(?P<empty>{name})/|/{space}(?P<close>{name}){space})>"
        self._pattern = regex.compile(tag if name else "(?!)")
        self._unfinished = ""
        self._start = 0
        self.position = 0

    @property
    def opener_start(self) -> int:
        """The start of an unfinished tag that may open a call, or ``position`` if there is none."""
        closer = self._unfinished.startswith("</")
        return self._start if self._unfinished and not closer else self.position

    def read(self, fragment: str) -> Iterable[Tag]:
        """Return the tags that end in ``fragment``, the next fragment of the text."""
        if self._unfinished or "<" in fragment:
            return self._read(fragment)
        self.position += len(fragment)
        return ()

    def _read(self, fragment: str) -> Iterator[Tag]:
        base = self.position
        self.position += len(fragment)
        at = 0
        if self._unfinished:
            edge = _EDGE.search(fragment)
            at = len(fragment) if edge is None else edge.start() + (edge[0] == ">")
            text = self._unfinished + fragment[:at]
            tag = self._pattern.fullmatch(text)
            self._keep("" if edge else text, self._start)
            if tag:
                yield _tag(tag, self._start, base + at)
        for tag in self._pattern.finditer(fragment, at):
            yield _tag(tag, base + tag.start(), base + tag.end())
        last = fragment.rfind("<", at)
        if last >= 0:
            self._keep(fragment[last:], base + last)

    def _keep(self, text: str, start: int) -> None:
        """Keep ``text`` as an unfinished tag if it can become a complete tag."""
        text = _SPACES.sub(" ", text)
        match = self._pattern.fullmatch(text, partial=True)
        self._unfinished = text if match and match.partial else ""
        self._start = start


def _tag(match: Any, start: int, end: int) -> Tag:
    return Tag(match[match.lastgroup], match.lastgroup, start, end)
