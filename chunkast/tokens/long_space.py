r"""Encoding texts with runs of white space that are too long for tiktoken's engine.

Its regular expressions remember every character of a run that they may have to give back,
and fail beyond some hundred thousand. Here such runs are encoded apart, as the pieces that
the encoding's pattern makes of them; a single piece needs no regular expression.

White space is here what tiktoken takes for it: the Unicode property. Python's also has
U+001C to U+001F.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import tiktoken

__all__ = ("encoder",)

# A run of at least this many characters is long.
_LONG: Final = 16_384
# At most half of a long run.
_SAMPLE: Final = 64
_SPACE: Final = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_SPACES: Final = re.compile(f"{_SPACE}*")
# One token in both vocabularies, and one piece unless the line end before the space belongs
# to the punctuation before it.
_PROBE: Final = "\n \n"


@dataclass(frozen=True, slots=True)
class _Way:
    """What a splitting pattern makes of white space.

    ``joins``: what belongs to the piece of punctuation before it, if anything does.
    ``line_ends``: whether white space up to its last line end is a piece of its own.
    """

    joins: re.Pattern[str] | None
    line_ends: bool


# By the splitting pattern. What is left in front of a character that is not white space is
# one piece without its last character, which goes with the text after it; at the end of a
# text it is one piece.
_WAYS: Final = {
    # gpt2, r50k_base, p50k_base, p50k_edit
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": _Way(
        None, line_ends=False
    ),
    # cl100k_base
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s": _Way(re.compile(r"[\r\n]*"), line_ends=True),
    # o200k_base, o200k_harmony
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+": _Way(
        re.compile(r"[\r\n/]*"), line_ends=True
    ),
}


def encoder(encoding: tiktoken.Encoding, long: int = _LONG) -> Callable[[str], list[int]]:
    """What encodes a text as ``encode_ordinary`` does, however long its white space is.

    Runs of at least ``long`` characters are encoded apart. For an encoding with a pattern of
    its own it is ``encode_ordinary`` itself.
    """
    ordinary = encoding.encode_ordinary
    way = _WAYS.get(encoding._pat_str)  # noqa: SLF001 - there is no public way
    if way is None or (way.joins and len(ordinary(_PROBE)) != 1):
        return ordinary
    # The lookbehind has a shorter run looked at once, not from each of its characters.
    runs = re.compile(rf"(?<!{_SPACE}){_SPACE}{{{long},}}")

    def encode(text: str) -> list[int]:
        if len(text) >= long and _may_have_long_run(text, long):
            return list(_encode(encoding, _valid(text), way, runs))
        return ordinary(text)

    return encode


def _may_have_long_run(text: str, long: int) -> bool:
    """Whether there may be a long run: one holds, on either side, a position asked here."""
    size = min(_SAMPLE, long // 2)
    return any(
        text[at : at + size].isspace() or text[max(at - size, 0) : at].isspace()
        for at in range(0, len(text) + 1, long)
    )


def _valid(text: str) -> str:
    """``text`` as tiktoken reads it: two surrogates that are a pair are one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _encode(
    encoding: tiktoken.Encoding, text: str, way: _Way, runs: re.Pattern[str]
) -> Iterator[int]:
    at = 0
    while run := runs.search(text, at):
        tokens, at = _before(encoding, text, at, run.start(), way)
        yield from tokens
        last = _end(_SPACES, text, at)
        if last == len(text):
            yield from _one_piece(encoding, text[at:])
            return
        if way.line_ends:
            line_end = max(text.rfind("\n", at, last), text.rfind("\r", at, last)) + 1
            if line_end > at:
                yield from _one_piece(encoding, text[at:line_end])
                at = line_end
        if last - at > 1:
            yield from _one_piece(encoding, text[at : last - 1])
            at = last - 1
    yield from encoding.encode_ordinary(text[at:])


def _before(
    encoding: tiktoken.Encoding, text: str, start: int, end: int, way: _Way
) -> tuple[list[int], int]:
    """The tokens of the text from ``start`` to a run at ``end``, and where its last piece ends.

    That may be inside the run, where its last piece is punctuation. What is punctuation is
    for tiktoken to say: Python may have another version of Unicode, and what a combining
    mark belongs to depends on what stands before it.
    """
    ordinary = encoding.encode_ordinary
    if way.joins is None:
        return ordinary(text[start:end]), end
    *tokens, last = ordinary(text[start:end] + _PROBE)
    if [last] == ordinary(_PROBE):
        return tokens, end
    end = _end(way.joins, text, end)
    return ordinary(text[start:end]), end


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


def _one_piece(encoding: tiktoken.Encoding, piece: str) -> list[int]:
    # An empty piece makes tiktoken's engine panic.
    return encoding._encode_single_piece(piece) if piece else []  # noqa: SLF001
