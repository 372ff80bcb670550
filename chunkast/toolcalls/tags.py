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
from typing import Final, Literal

from chunkast.text.white_space import WHITE_SPACE

__all__ = ("Tag", "TagReader")

_TAG: Final = re.compile(r"<(/?)([^<>/]*)(/?)>")
_EDGE: Final = re.compile(r"[<>]")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag at ``[start, end)`` in the whole text."""

    name: str
    kind: Literal["open", "close", "empty"]
    start: int
    end: int


class TagReader:
    """Reads tags; ``position`` is the number of characters that have been read so far."""

    __slots__ = ("_beginnings", "_names", "_start", "_unfinished", "position")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._beginnings = {name[:end] for name in self._names for end in range(len(name) + 1)}
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
            tag = self._tag(_TAG.fullmatch(text), self._start, base + at)
            self._keep("" if edge else text, self._start)
            if tag:
                yield tag
        for match in _TAG.finditer(fragment, at):
            tag = self._tag(match, base + match.start(), base + match.end())
            if tag:
                yield tag
        last = fragment.rfind("<", at)
        if last >= 0:
            self._keep(fragment[last:], base + last)

    def _tag(self, match: re.Match[str] | None, start: int, end: int) -> Tag | None:
        if match is None:
            return None
        closing, name, empty = match.groups()
        if closing:
            name = name.strip(WHITE_SPACE)
        if name not in self._names or (closing and empty):
            return None
        return Tag(name, "close" if closing else "empty" if empty else "open", start, end)

    def _keep(self, text: str, start: int) -> None:
        """Keep ``text`` as an unfinished tag if it can become a complete tag."""
        self._unfinished = self._beginning(text)
        self._start = start

    def _beginning(self, text: str) -> str:
        """Return the part of ``text`` to keep as the beginning of a tag, or an empty string.

        An empty string means that ``text`` cannot become a tag.
        """
        if text.startswith("</"):
            name = text[2:].lstrip(WHITE_SPACE)
            bare = name.rstrip(WHITE_SPACE)
            if bare == name:
                return "</" + name if name in self._beginnings else ""
            return f"</{bare} " if bare in self._names else ""
        name = text[1:]
        if name in self._beginnings or (name.endswith("/") and name[:-1] in self._names):
            return text
        return ""
