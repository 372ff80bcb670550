r"""Encode texts with runs of white space that are too long for tiktoken's engine.

The engine remembers every character of a run over which its pattern may backtrack, and fails beyond
a million. A text with such a run is split into pre-tokens here, by the same pattern, and tiktoken
encodes each of them alone. (In such a text, a letter that only one of the two engines knows, because
it is new in Unicode, may be split differently.)

White space is Unicode's property here, as in tiktoken. Python's definition also includes U+001C to
U+001F.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Final

import regex

if TYPE_CHECKING:
    import tiktoken

__all__ = ("encoder",)

# A long run has at least this many characters, which the engine can still take.
_MIN_LONG_RUN: Final = 250_000
_SPACE: Final = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"


def encoder(encoding: tiktoken.Encoding, long: int = _MIN_LONG_RUN) -> Callable[[str], list[int]]:
    """Return a function that works like ``encode_ordinary``, even for long runs of white space.

    ``encoding`` is one of tiktoken's own. Texts with runs of at least ``long`` characters are split
    here.
    """
    ordinary = encoding.encode_ordinary
    # With the lookbehind, a shorter run is tried once and not from each of its characters.
    run = re.compile(rf"(?<!{_SPACE}){_SPACE}{{{long}}}")

    def encode(text: str) -> list[int]:
        if len(text) < long or not run.search(text):
            return ordinary(text)
        # As tiktoken reads it, with each pair of surrogates as one character.
        valid = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        pretokens = regex.findall(encoding._pat_str, valid)  # noqa: SLF001 - not public
        return list(chain.from_iterable(map(encoding._encode_single_piece, pretokens)))  # noqa: SLF001

    return encode
