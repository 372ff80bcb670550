"""Find HTML tags and their positions, in linear time for any text.

The standard library's parser reads malformed text differently in different patch releases of
Python. Some take quadratic time for repeated ``<a ``, and raise an exception for ``<![``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import regex

__all__ = ("TAG", "VOID_ELEMENTS", "Tag", "tags_in")

# Attributes may contain ">" inside quotes. Unclosed markup is read at most three times.
_AFTER_OPENING: Final = (
    r"(?P<closing>/?)(?P<name>[A-Za-z][A-Za-z0-9\-]*+)"
    r"(?:[\s/](?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+)?>"
)
TAG: Final = regex.compile(f"<{_AFTER_OPENING}")
VOID_ELEMENTS: Final = frozenset(
    "area base br col embed hr img input link meta source track wbr".split()  # noqa: SIM905
)
_COMMENT_OR_TAG = regex.compile(f"<(?:!--|{_AFTER_OPENING})")
# The elements in which tags are text, up to their closing tag.
_RAW: Final = {
    name: regex.compile(rf"</{name}(?=[\s/>])", regex.IGNORECASE)
    for name in ("script", "style", "textarea")
}


class Tag(NamedTuple):
    """An HTML tag in the span ``[start, end)``; ``name`` is in lower case."""

    name: str
    start: int
    end: int
    closing: bool


def tags_in(text: str, start: int, end: int) -> Iterator[Tag]:
    """Yield the HTML tags in ``[start, end)`` outside comments, scripts and styles, in order.

    After an unclosed tag, comment or script, everything up to ``end`` is treated as text.
    """
    at = start
    while at >= 0:
        after = -1  # the end of a comment or script, at which to continue
        for match in _COMMENT_OR_TAG.finditer(text, at, end):
            closing, name = match.groups()
            first, last = match.span()
            if name is None:
                closed = text.find("-->", last, end)
                after = closed + 3 if closed >= 0 else -1
                break
            name = name.lower()
            yield Tag(name, first, last, closing != "")
            if name in _RAW and not closing:
                closer = _RAW[name].search(text, last, end)
                after = closer.start() if closer else -1
                break
        at = after
