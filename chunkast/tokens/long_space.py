r"""Encodes texts with runs of white space that are too long for tiktoken's engine.

The engine's regular expressions remember every character of a run over which they may backtrack,
and fail beyond a few hundred thousand. This module encodes such runs separately, as the pre-tokens
into which the encoding's pattern splits them. Encoding a single pre-token does not need a regular
expression.

White space means the Unicode property here, as in tiktoken. Python's definition also includes
U+001C to U+001F.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chunkast.tokens.pretokens import CL100K, O200K

if TYPE_CHECKING:
    import tiktoken

__all__ = ("encoder",)

# A long run has at least this many characters.
_MIN_LONG_RUN: Final = 16_384
# The length of the samples taken to find a long run; at most half of one.
_SAMPLE_SIZE: Final = 64
_SPACE: Final = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_SPACES: Final = re.compile(f"{_SPACE}*")
# One token in both vocabularies, and one pre-token unless its first line end belongs to the
# punctuation before it.
_PROBE: Final = "\n \n"


@dataclass(frozen=True, slots=True)
class _SpaceRules:
    """The rules by which a splitting pattern splits white space.

    ``joins`` matches the characters that belong to the same pre-token as punctuation before them;
    it is None if there are no such characters. If ``line_ends`` is true, white space up to its last
    line end is a separate pre-token.
    """

    joins: re.Pattern[str] | None
    line_ends: bool


# The rules by splitting pattern. All remaining white space is one pre-token, except that its last
# character joins the text after it, if there is any.
_SPACE_RULES: Final = {
    # gpt2, r50k_base, p50k_base, p50k_edit
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": _SpaceRules(
        None, line_ends=False
    ),
    CL100K: _SpaceRules(re.compile(r"[\r\n]*"), line_ends=True),
    O200K: _SpaceRules(re.compile(r"[\r\n/]*"), line_ends=True),
}


def encoder(encoding: tiktoken.Encoding, long: int = _MIN_LONG_RUN) -> Callable[[str], list[int]]:
    """Return a function that works like ``encode_ordinary``, even for long runs of white space.

    The function encodes runs of at least ``long`` characters separately. If the encoding's
    splitting pattern is unknown, ``encode_ordinary`` itself is returned.
    """
    ordinary = encoding.encode_ordinary
    rules = _SPACE_RULES.get(encoding._pat_str)  # noqa: SLF001 - there is no public way
    if rules is None or (rules.joins and len(ordinary(_PROBE)) != 1):
        return ordinary
    # With the lookbehind, a shorter run is tried once and not from each of its characters.
    runs = re.compile(rf"(?<!{_SPACE}){_SPACE}{{{long},}}")

    def encode(text: str) -> list[int]:
        if len(text) >= long and _may_have_long_run(text, long):
            return list(_encode(encoding, _valid(text), rules, runs))
        return ordinary(text)

    return encode


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
    encoding: tiktoken.Encoding, text: str, rules: _SpaceRules, runs: re.Pattern[str]
) -> Iterator[int]:
    at = 0
    while run := runs.search(text, at):
        tokens, at = _before(encoding, text, at, run.start(), rules)
        yield from tokens
        last = _end(_SPACES, text, at)
        if last == len(text):
            yield from _one_pretoken(encoding, text[at:])
            return
        if rules.line_ends:
            line_end = max(text.rfind("\n", at, last), text.rfind("\r", at, last)) + 1
            if line_end > at:
                yield from _one_pretoken(encoding, text[at:line_end])
                at = line_end
        if last - at > 1:
            yield from _one_pretoken(encoding, text[at : last - 1])
            at = last - 1
    yield from encoding.encode_ordinary(text[at:])


def _before(
    encoding: tiktoken.Encoding, text: str, start: int, end: int, rules: _SpaceRules
) -> tuple[list[int], int]:
    """Return the tokens from ``start`` to a run at ``end``, and the end of the last pre-token.

    The end is inside the run if the last pre-token is punctuation that includes part of the run.
    tiktoken decides what is punctuation, because Python may have a different version of Unicode,
    and because a combining mark belongs to the preceding character.
    """
    ordinary = encoding.encode_ordinary
    if rules.joins is None:
        return ordinary(text[start:end]), end
    *tokens, last = ordinary(text[start:end] + _PROBE)
    if [last] == ordinary(_PROBE):
        return tokens, end
    end = _end(rules.joins, text, end)
    return ordinary(text[start:end]), end


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


def _one_pretoken(encoding: tiktoken.Encoding, pretoken: str) -> list[int]:
    # An empty pre-token makes tiktoken's engine panic.
    return encoding._encode_single_piece(pretoken) if pretoken else []  # noqa: SLF001
