"""Chunk ids and content hashes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from chunkast.text.source_map import encode

__all__ = ("chunk_id", "content_hash", "normalize_text")

# JavaScript's white space, in which hashes were defined first. Python's own differs:
# it also takes U+001C to U+001F and U+0085, and does not take U+FEFF.
_SPACE: Final = r"\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SPACES: Final = re.compile(f"[{_SPACE}]+")
_DIFFERENT: Final = re.compile("[\x1c-\x1f\x85\ufeff]")


def normalize_text(text: str) -> str:
    """``text`` with every run of (JavaScript's) white space as one space, ends trimmed."""
    if _DIFFERENT.search(text):
        return _SPACES.sub(" ", text).strip(" ")
    return " ".join(text.split())  # the same, several times as fast


def content_hash(text: str) -> str:
    """SHA-256 of the normalized text: 64 lower-case hexadecimal digits."""
    return sha256(encode(normalize_text(text))).hexdigest()


def chunk_id(source: str, headings: Sequence[str], part: int) -> str:
    """The id of the ``part``-th chunk (from 0) under a heading path of a source: 16 digits.

    The first 16 hexadecimal digits of the SHA-256 of the source, the headings joined by
    " > ", and "#" with the part, on a line each.
    """
    return sha256(encode(f"{source}\n{' > '.join(headings)}\n#{part}")).hexdigest()[:16]
