"""Texts without differences of white space, and their hashes."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from chunkast.text.source_map import encode
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("content_hash", "normalize_text")

_SPACES: Final = re.compile(f"[{WHITE_SPACE}]+")
# Characters that are white space to only one of Python and JavaScript.
_DIFFERENT_WHITE_SPACE: Final = ("\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\ufeff")


def normalize_text(text: str) -> str:
    r"""``text`` with every run of white space as one space, and none at the ends.

    White space is that of JavaScript. Raises nothing.

    >>> normalize_text(" One\n two ")
    'One two'
    """
    for character in _DIFFERENT_WHITE_SPACE:
        if character in text:
            return _SPACES.sub(" ", text).strip(" ")
    return " ".join(text.split())  # the same result, several times as fast


def content_hash(text: str) -> str:
    """The SHA-256 of the normalized text: 64 lower-case hexadecimal digits. Raises nothing."""
    return sha256(encode(normalize_text(text))).hexdigest()
