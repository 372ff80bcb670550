"""White space as defined in JavaScript.

This definition is used for hashes and tags, to trim and separate chunks, and to compare quotes.
Python's definition differs: it includes U+001C to U+001F and U+0085, but not U+FEFF. The parser
(for blank lines and stripping) and tiktoken use their own definitions.
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
    """Return whether the text contains only white space."""
    return not text.strip(WHITE_SPACE)
