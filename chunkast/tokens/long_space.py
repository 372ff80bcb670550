r"""Encode texts with runs of white space that are too long for tiktoken's regular expressions.

The regular expressions store every character over which they may backtrack, and fail on runs of
more than a few hundred thousand characters. This module splits such runs into pre-tokens itself, as
the encoding's pattern does, and encodes each with an encoding of the same vocabulary whose pattern
never splits.

White space is Unicode's property here, as in tiktoken. Python's definition also includes U+001C to
U+001F.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import tiktoken

__all__ = ("encoder",)

_Encode = Callable[[str], list[int]]
# A long run has at least this many characters.
_MIN_LONG_RUN: Final = 16_384
# The length of the samples taken to find a long run; at most half of one.
_SAMPLE_SIZE: Final = 64
_SPACE: Final = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_SPACES: Final = re.compile(f"{_SPACE}*")
# One token in both vocabularies, and one pre-token unless its first line end belongs to the
# punctuation before it.
_PROBE: Final = "\n \n"


# The characters that belong to the same pre-token as punctuation before them, for tiktoken's own
# encodings; None if there are none. Where there are, white space up to its last line end is a
# separate pre-token. All remaining white space is one pre-token, except that its last character
# joins the text after it, if there is any.
_JOINING: Final = {
    **dict.fromkeys(("gpt2", "r50k_base", "p50k_base", "p50k_edit")),
    "cl100k_base": re.compile(r"[\r\n]*"),
    **dict.fromkeys(("o200k_base", "o200k_harmony"), re.compile(r"[\r\n/]*")),
}


def encoder(encoding: tiktoken.Encoding, long: int = _MIN_LONG_RUN) -> Callable[[str], list[int]]:
    """Return a function that works as ``encode_ordinary``, even for long runs of white space.

    ``encoding`` must be one of tiktoken's own. Runs of at least ``long`` characters are encoded
    separately.
    """
    ordinary = encoding.encode_ordinary
    if encoding.name not in _JOINING:
        return ordinary
    joining = _JOINING[encoding.name]
    # With the lookbehind, a shorter run is tried once and not from each of its characters.
    runs = re.compile(rf"(?<!{_SPACE}){_SPACE}{{{long},}}")
    whole = cache(lambda: _undivided(encoding).encode_ordinary)

    def encode(text: str) -> list[int]:
        if len(text) >= long and _may_have_long_run(text, long):
            return list(_encode(ordinary, whole(), _valid(text), joining, runs))
        return ordinary(text)

    return encode


def _undivided(encoding: tiktoken.Encoding) -> tiktoken.Encoding:
    """Return an encoding with the same vocabulary, for which every text is one pre-token."""
    from tiktoken import Encoding

    tokens = encoding.token_byte_values()
    ranks = dict(zip(tokens, map(encoding.encode_single_token, tokens), strict=True))
    return Encoding(encoding.name, pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})


def _may_have_long_run(text: str, long: int) -> bool:
    """Return whether any sample of ``text`` is white space; every long run contains a sample."""
    size = min(_SAMPLE_SIZE, long // 2)
    return any(
        text[at : at + size].isspace() or text[max(at - size, 0) : at].isspace()
        for at in range(0, len(text) + 1, long)
    )


def _valid(text: str) -> str:
    """Return ``text`` as tiktoken reads it, with each pair of surrogates as one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _encode(
    ordinary: _Encode,
    whole: _Encode,
    text: str,
    joining: re.Pattern[str] | None,
    runs: re.Pattern[str],
) -> Iterator[int]:
    """Yield the tokens of ``text``; ``whole`` encodes a pre-token."""
    at = 0
    while run := runs.search(text, at):
        tokens, at = _before(ordinary, text, at, run.start(), joining)
        yield from tokens
        last = _end(_SPACES, text, at)
        if last == len(text):
            yield from whole(text[at:])
            return
        if joining is not None:
            line_end = max(text.rfind("\n", at, last), text.rfind("\r", at, last)) + 1
            if line_end > at:
                yield from whole(text[at:line_end])
                at = line_end
        if last - at > 1:
            yield from whole(text[at : last - 1])
            at = last - 1
    yield from ordinary(text[at:])


def _before(
    ordinary: _Encode, text: str, start: int, end: int, joining: re.Pattern[str] | None
) -> tuple[list[int], int]:
    """Return the tokens from ``start`` to a run at ``end``, and the end of the last pre-token.

    The end is inside the run if the last pre-token is punctuation that includes part of the run.
    tiktoken decides what is punctuation, because Python may have a different version of Unicode,
    and because a combining mark belongs to the preceding character.
    """
    if joining is None:
        return ordinary(text[start:end]), end
    *tokens, last = ordinary(text[start:end] + _PROBE)
    if [last] == ordinary(_PROBE):
        return tokens, end
    end = _end(joining, text, end)
    return ordinary(text[start:end]), end


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start
