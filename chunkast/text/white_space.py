"""White space as JavaScript counts it, in which hashes and tags were defined first.

What is trimmed, what lies between chunks and what quotes may differ in is the same white
space. Python's own differs: it also takes U+001C to U+001F and U+0085, and does not take
U+FEFF. The parser (blank lines, what it strips) and tiktoken have notions of their own.
"""

from __future__ import annotations

from typing import Final

__all__ = ("LINE_SPACE", "WHITE_SPACE", "is_blank")

WHITE_SPACE: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
# All of it except line ends.
LINE_SPACE: Final = WHITE_SPACE.replace("\n", "").replace("\r", "")


def is_blank(text: str) -> bool:
    """Return True if the text contains only white space."""
    return not text.strip(WHITE_SPACE)
