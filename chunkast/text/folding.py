"""Folds letters that people type in several ways, alike in texts and in queries.

Marks that are vowels or parts of letters stay, such as those of Devanagari and Thai, and the breve
of the Cyrillic letter й.
"""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

from chunkast.text.source_map import without_surrogates

__all__ = ("UNSEEN", "composed", "fold")

# Soft hyphens, and other characters that are not seen between letters.
UNSEEN: Final = "\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
# Decomposed marks that writers may leave out: harakat, hamzas and the tatweel, Hebrew points, nuktas.
_LEFT_OUT: Final = re.compile(
    f"[{UNSEEN}\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc]"
)
# NFKC would join these to the word before them.
_TRADE_MARKS: Final = dict.fromkeys(map(ord, "\u2120\u2122"), " ")
# The accents of Latin and Greek letters.
_ACCENTS: Final = re.compile("(?<=[A-Za-z\xc0-\u024f\u0370-\u03ff])[\u0300-\u036f]+")
# What people type for other letters, and for digits.
_LETTERS: Final = "ßss ẞSS æae ÆAE œoe ŒOE øo ØO łl ŁL đd ĐD ðd ÐD þth ÞTH ıi ёе ЁЕ ٱا ىي یي ةه کك"
_DIGITS: Final = {ord(zero) + digit: str(digit) for zero in "٠۰०" for digit in range(10)}
_TABLE: Final = {ord(pair[0]): pair[1:] for pair in _LETTERS.split()} | _DIGITS


def composed(text: str) -> str:
    """Return ``text`` in NFKC, without characters that are not seen and marks that are optional."""
    text = normalize("NFKD", without_surrogates(text).translate(_TRADE_MARKS))
    return normalize("NFKC", _LEFT_OUT.sub("", text))


def fold(text: str) -> str:
    """Return a composed text with plain letters, and without accents on Latin and Greek letters."""
    if text.isascii():
        return text
    return normalize("NFKC", _ACCENTS.sub("", normalize("NFKD", text))).translate(_TABLE)
