"""Replace hidden and control characters with visible ones, for HTML pages and terminals.

Each character is replaced with exactly one character, so that positions stay the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Any, Final

__all__ = ("replacements", "shorten", "visible")

_UNKNOWN: Final = "\ufffd"
_LINE_END: Final = "\N{SYMBOL FOR NEWLINE}"
_DIRECTION: Final = "\N{RIGHTWARDS ARROW OVER LEFTWARDS ARROW}"
# Character -> the character shown instead. Lone surrogates are shown as _UNKNOWN too.
_SHOWN: Final = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys(range(0x80, 0xA0), _UNKNOWN),
    **dict.fromkeys((0x85, 0x2028, 0x2029), _LINE_END),
    **dict.fromkeys((0x61C, 0x200E, 0x200F), _DIRECTION),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), _DIRECTION),
    0xFEFF: "\N{OPEN BOX}",
}
_HIDDEN: Final = re.compile(
    "[" + "".join(re.escape(chr(code)) for code in _SHOWN) + "\ud800-\udfff]"
)
# A carriage return alone ends a line in Markdown, but not in pages and terminals.
_LONE_CR: Final = re.compile(r"\r(?!\n)")


def visible(text: str) -> str:
    """Replace control characters, invisible characters and lone surrogates with visible ones.

    A carriage return that is not followed by a line feed is replaced with a line feed, because it
    ends a line in Markdown.
    """
    return _LONE_CR.sub("\n", _HIDDEN.sub(lambda match: _shown(match[0]), text))


def replacements(text: str) -> list[dict[str, Any]]:
    """Return the name, replacement and count of each character that :func:`visible` replaces."""
    return [
        {"name": _name(character), "shown": _shown(character), "count": count}
        for character, count in sorted(Counter(_HIDDEN.findall(text)).items())
    ]


def shorten(text: str, length: int) -> str:
    """Return ``text``, shortened to at most ``length`` characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _shown(character: str) -> str:
    return _SHOWN.get(ord(character), _UNKNOWN)


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
