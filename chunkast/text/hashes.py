"""What two texts have in common that differ in white space alone."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from chunkast.text.source_map import encode
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("content_hash", "normalize_text")

_SPACES: Final = re.compile(f"[{WHITE_SPACE}]+")
# Where Python's own white space is another.
_DIFFERENT: Final = ("\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\ufeff")


def normalize_text(text: str) -> str:
    """``text`` with every run of (JavaScript's) white space as one space, ends trimmed."""
    for character in _DIFFERENT:
        if character in text:
            return _SPACES.sub(" ", text).strip(" ")
    return " ".join(text.split())  # the same, several times as fast


def content_hash(text: str) -> str:
    """SHA-256 of the normalized text: 64 lower-case hexadecimal digits."""
    return sha256(encode(normalize_text(text))).hexdigest()
