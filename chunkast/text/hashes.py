"""Normalize white space, and hash texts, values and ids."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from chunkast.text.source_map import encode
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("chunk_uuid", "content_hash", "normalize_text", "values_hash")

# The namespace of chunk UUIDs: the UUID of the name "chunkast" in the DNS namespace.
_UUID_NAMESPACE: Final = "572aa104-a6f0-5371-bd99-667e27eebbfb"

_SPACES: Final = re.compile(f"[{WHITE_SPACE}]+")
# Characters that are white space to only one of Python and JavaScript.
_DIFFERENT_WHITE_SPACE: Final = ("\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\ufeff")


def normalize_text(text: str) -> str:
    r"""Replace every run of white space with one space, and strip the ends.

    White space is defined as in JavaScript. Never raises.

    >>> normalize_text(" One\n two ")
    'One two'
    """
    for character in _DIFFERENT_WHITE_SPACE:
        if character in text:
            return _SPACES.sub(" ", text).strip(" ")
    return " ".join(text.split())  # the same result, several times as fast


def content_hash(text: str) -> str:
    """Return the SHA-256 of ``text`` with normalized white space, as 64 lower-case hex digits.

    Never raises.
    """
    return sha256(encode(normalize_text(text))).hexdigest()


def values_hash(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of JSON data, ignoring the order of keys, as 64 lower-case hex digits."""
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, default=repr)
    return sha256(encode(text)).hexdigest()


def chunk_uuid(chunk_id: str) -> str:
    """Return the UUID for a chunk id, for stores that accept only UUIDs.

    It is a UUID of version 5, computed from the id in the namespace
    572aa104-a6f0-5371-bd99-667e27eebbfb.

    >>> chunk_uuid("e33bbeec7a485ef9")
    'a19dbdcd-b1a6-5b7d-91a3-e20858cfdca5'
    """
    from uuid import UUID, uuid5

    return str(uuid5(UUID(_UUID_NAMESPACE), chunk_id))
