r"""Encoding texts with runs of white space that are too long for tiktoken's engine.

Its regular expressions remember every character of a run that they may backtrack over, and
fail beyond a few hundred thousand. Such runs are encoded separately here, as the pre-tokens
that the encoding's pattern makes of them; a single pre-token needs no regular expression.

White space means what tiktoken means by it: the Unicode property. Python's also contains
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
_MIN_LONG_RUN: Final = 16_384
# Characters looked at to tell whether there is a long run; at most half of one.
_SAMPLE_SIZE: Final = 64
_SPACE: Final = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_SPACES: Final = re.compile(f"{_SPACE}*")
# One token in both vocabularies, and one pre-token unless the line end before the space belongs
# to the punctuation before it.
_PROBE: Final = "\n \n"


@dataclass(frozen=True, slots=True)
class _SpaceRules:
    """How a splitting pattern splits white space.

    ``joins``: what belongs to the pre-token of punctuation before it, if anything does.
    ``line_ends``: whether white space up to its last line end is a pre-token of its own.
    """

    joins: re.Pattern[str] | None
    line_ends: bool


# By the splitting pattern. What is left in front of a character that is not white space is
# one pre-token without its last character, which goes with the text after it; at the end of
# a text it is one pre-token.
_SPACE_RULES: Final = {
    # gpt2, r50k_base, p50k_base, p50k_edit
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": _SpaceRules(
        None, line_ends=False
    ),
    # cl100k_base
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s": _SpaceRules(re.compile(r"[\r\n]*"), line_ends=True),
    # o200k_base, o200k_harmony
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+": _SpaceRules(
        re.compile(r"[\r\n/]*"), line_ends=True
    ),
}


def encoder(encoding: tiktoken.Encoding, long: int = _MIN_LONG_RUN) -> Callable[[str], list[int]]:
    """A function that encodes as ``encode_ordinary`` does, however long the white space is.

    Runs of at least ``long`` characters are encoded separately. For an encoding with any other
    pattern it is ``encode_ordinary`` itself.
    """
    ordinary = encoding.encode_ordinary
    rules = _SPACE_RULES.get(encoding._pat_str)  # noqa: SLF001 - there is no public way
    if rules is None or (rules.joins and len(ordinary(_PROBE)) != 1):
        return ordinary
    # Thanks to the lookbehind a shorter run is tried once, not from each of its characters.
    runs = re.compile(rf"(?<!{_SPACE}){_SPACE}{{{long},}}")

    def encode(text: str) -> list[int]:
        if len(text) >= long and _may_have_long_run(text, long):
            return list(_encode(encoding, _valid(text), rules, runs))
        return ordinary(text)

    return encode


def _may_have_long_run(text: str, long: int) -> bool:
    """Whether there may be a long run: it would contain one of the samples taken here."""
    size = min(_SAMPLE_SIZE, long // 2)
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
    """The tokens of the text from ``start`` to a run at ``end``, and where its last pre-token ends.

    That may be inside the run, where its last pre-token is punctuation. tiktoken decides what is
    punctuation: Python may have another version of Unicode, and what a combining
    mark belongs to depends on what stands before it.
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
