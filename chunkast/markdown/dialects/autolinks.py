"""Bare URLs in prose: GFM's extended autolinks."""

from __future__ import annotations

import re
from typing import Final

from chunkast.markdown.scanner import Scanner

__all__ = ("url",)

# A URL ends at white space or "<"; trailing punctuation does not belong to it.
_BARE_URL = re.compile(r"(?:https?://|www\.)[^\s<`\[\]()|]+")
_TAIL: Final = "?!.,:*_~'\";"


def url(scanner: Scanner, pos: int) -> int:
    """Match a URL that does not follow a letter or digit; return its end, or -1."""
    if pos and scanner.text[pos - 1].isalnum():
        return -1
    bare = _BARE_URL.match(scanner.text, pos)
    return scanner.take(pos, pos + len(bare[0].rstrip(_TAIL)), "autolink") if bare else -1
