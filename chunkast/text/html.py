"""The tags of HTML and where they stand, in linear time on any text.

The standard library's parser takes 100 s for 80 kB of ``<a ``, raises on ``<![``, and reads
malformed text differently from one patch release of Python to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import regex

__all__ = ("TAG", "VOID_ELEMENTS", "Tag", "tags_in")

# Attributes may contain ">" inside quotes. What is left open is read at most three times.
TAG: Final = regex.compile(
    r"<(?P<closing>/?)(?P<name>[A-Za-z][A-Za-z0-9\-]*+)"
    r"(?:[\s/](?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+)?>"
)
VOID_ELEMENTS: Final = frozenset(
    "area base br col embed hr img input link meta source track wbr".split()  # noqa: SIM905
)
_COMMENT: Final = "<!--"
_NEXT = regex.compile(rf"{_COMMENT}|{TAG.pattern}")
# The elements in which tags are text, up to their closing tag.
_RAW: Final = {
    name: regex.compile(rf"</{name}(?=[\s/>])", regex.IGNORECASE)
    for name in ("script", "style", "textarea")
}


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag ``[start, end)``; ``name`` is in lower case."""

    name: str
    start: int
    end: int
    closing: bool


def tags_in(text: str, start: int, end: int) -> Iterator[Tag]:
    """The tags in ``[start, end)`` outside comments, scripts and styles, in order.

    What no tag, comment or script closes is text, up to the end.
    """
    at = start
    while found := _NEXT.search(text, at, end):
        at = found.end()
        if found[0] == _COMMENT:
            closed = text.find("-->", at, end)
            if closed < 0:
                return
            at = closed + 3
            continue
        tag = Tag(found["name"].lower(), found.start(), at, bool(found["closing"]))
        yield tag
        raw = None if tag.closing else _RAW.get(tag.name)
        if raw is not None:
            closer = raw.search(text, at, end)
            if closer is None:
                return
            at = closer.start()
