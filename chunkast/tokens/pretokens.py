r"""Count tokens by looking up pre-tokens in a cache, which is faster than encoding the text.

An encoding splits a text into pre-tokens (words, up to three digits, punctuation, white space) and
encodes each separately. Most pre-tokens of a document have occurred before, so splitting the text
and looking up the counts takes less time than encoding it. A pre-token has the same tokens wherever
it occurs, so cached counts stay valid.

This module lists the characters that it knows. Texts that contain only known characters are split
with the encoding's own pattern, rewritten for Python's ``re``, with plain lists for Unicode's
classes: the class of every listed letter, mark and white space character has been the same since
the earliest versions of Unicode, the digits are 0 to 9, and every other known character is
punctuation or a symbol, which negated classes match.
Greedy quantifiers match the same text as possessive ones, because they never need to backtrack.
Case-insensitive parts list both cases: no known character outside ASCII folds to a letter of a
contraction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, chain, repeat
from typing import Final, NamedTuple

from chunkast.text.source_map import spans_between
from chunkast.tokens.safe import CL100K_POSITIONS, O200K_POSITIONS, SafePositions

__all__ = ("CL100K", "O200K", "RULES", "CountFunctions", "PretokenCounter")

# The splitting patterns of cl100k_base, and of o200k_base and o200k_harmony.
CL100K: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_EXTENDED = [chr(code) for code in range(0x100, 0x17F)]
_UPPER_LATIN = "A-Z\xc0-\xd6\xd8-\xde"
_LOWER_LATIN = "a-z\xb5\xdf-\xf6\xf8-\xff"
_UPPER = f"{_UPPER_LATIN}{''.join(filter(str.isupper, _EXTENDED))}\u0391-\u03a1\u03a3-\u03a9\u0400-\u042f"
_LOWER = f"{_LOWER_LATIN}{''.join(filter(str.islower, _EXTENDED))}\u03ac-\u03ce\u0430-\u045f"
# The letters of Chinese, Japanese and Korean, which have no case.
_OTHER = (
    "\u3005\u3006\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u4e00-\u9fa5\uac00-\ud7a3"
)
_MARK = "\u0300-\u036f\u20e3\ufe0e\ufe0f"
_SPACE = r"\t-\r "
_ANY_SPACE = f"{_SPACE}\x85\xa0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SYMBOLS = (
    "\xa1-\xa9\xab-\xaf\xb0\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u200b-\u2027\u2030-\u205e\u20a0-\u20ac\u2122\u2190-\u21ff\u2200-\u23ff\u2500-\u2775"
    "\u2794-\u27bf\u2900-\u2bff\u3001-\u3004\u3008-\u3020\u30fb"
    "\uff01-\uff0f\uff1a-\uff20\uff5b-\uff65\ufeff"
    "\U0001f1e6-\U0001f1ff\U0001f300-\U0001f64f\U0001f680-\U0001f6c5\U0001f900-\U0001f9ff"
)
_KNOWN: Final = rf"\x00-\x7f{_UPPER}{_LOWER}{_OTHER}{_MARK}{_ANY_SPACE}{_SYMBOLS}"
_ENDING = "(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))"


def _cl100k(letter: str, space: str) -> str:
    # Words after a space or nothing come first, because most pre-tokens are such words: no
    # alternative before them begins like that.
    return (
        rf" [{letter}]+|[{letter}]+|{_ENDING}|[^\r\n{letter}0-9][{letter}]+|[0-9]{{1,3}}"
        rf"| ?[^{space}{letter}0-9]+[\r\n]*"
        rf"|[{space}]+\Z|[{space}]*[\r\n]|[{space}]+(?![^{space}])|[{space}]"
    )


def _o200k(upper: str, lower: str, letter: str, space: str) -> str:
    return (
        rf"[^\r\n{letter}0-9]?[{upper}]*[{lower}]+{_ENDING}?"
        rf"|[^\r\n{letter}0-9]?[{upper}]+[{lower}]*{_ENDING}?|[0-9]{{1,3}}"
        rf"| ?[^{space}{letter}0-9]+[\r\n/]*"
        rf"|[{space}]*[\r\n]+|[{space}]+(?![^{space}])|[{space}]+"
    )


_LATIN = _UPPER_LATIN + _LOWER_LATIN
_LETTER = _UPPER + _LOWER + _OTHER
_CASELESS = _OTHER + _MARK
# By the encoding's own pattern: one for ASCII (the letters of Latin-1 do no harm in it, and a
# longer list is slower), one for all known characters, and the safe positions.
RULES: Final = {
    CL100K: (_cl100k(_LATIN, _SPACE), _cl100k(_LETTER, _ANY_SPACE), CL100K_POSITIONS),
    O200K: (
        _o200k(_UPPER_LATIN, _LOWER_LATIN, _LATIN, _SPACE),
        _o200k(_UPPER + _CASELESS, _LOWER + _CASELESS, _LETTER, _ANY_SPACE),
        O200K_POSITIONS,
    ),
}
# Pre-tokens with more characters seldom occur again (the blanks of wide tables do).
_MAX_REMEMBERED_LENGTH = 256
# The counts of so many pre-tokens take 6 MB if these are short words, and 22 MB at full length.
_MAX_REMEMBERED_PRETOKENS = 65_536
# Texts with more characters are split step by step: a list of their pre-tokens takes twelve times
# as much memory as the text.
_MAX_SPLIT_AT_ONCE = 65_536
# White space that may belong to several words or be several tokens. Fewer spaces are one token.
_NOT_BETWEEN_WORDS: Final = (" \n", "\t", "\r", "\v", "\f", " " * 64)
# White space outside ASCII.
_WIDE_SPACE: Final = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_LAST_LINE_END: Final = re.compile(r"\n(?=[^\n])")
_SPACES: Final = re.compile(" {3,}")
# Precedes the first word of a line; other words follow a space.
_LINE_START: Final = "\r"


class CountFunctions(NamedTuple):
    """Functions that count the tokens in texts with characters that this module does not list.

    count: returns the number of tokens in a text.
    token_ends: takes a text and its start index in a document. For each token, it yields an index
        at or before the token's end, in the same pre-token.
    """

    count: Callable[[str], int]
    token_ends: Callable[[str, int], Iterable[int]]


class RememberedCounts(dict[str, int]):
    """A cache of token counts by text. A text that is not in the cache is counted."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def __missing__(self, pretoken: str) -> int:
        tokens = self._count(pretoken)
        if len(pretoken) <= _MAX_REMEMBERED_LENGTH:
            if len(self) >= _MAX_REMEMBERED_PRETOKENS:
                self.clear()
            self[pretoken] = tokens
        return tokens


class PretokenCounter:
    """Counts the tokens in texts by their pre-tokens, whose counts are cached.

    ascii_pattern: the pattern that splits ASCII texts into pre-tokens.
    pattern: the pattern that splits other texts. With ``others``, it splits only texts of
        characters that this module lists.
    safe: the tokenizer's safe positions.
    count: counts the tokens in one pre-token.
    others: the functions for texts with characters that this module does not list, or None.
    """

    def __init__(
        self,
        ascii_pattern: str,
        pattern: str,
        safe: SafePositions,
        count: Callable[[str], int],
        others: CountFunctions | None = None,
    ) -> None:
        self.safe = safe
        self._ascii = re.compile(ascii_pattern)
        self._pattern = pattern
        self._count_pretoken = count
        self._tokens = RememberedCounts(count).__getitem__
        self._words = RememberedCounts(self._count_word).__getitem__
        self._not_words = (*_NOT_BETWEEN_WORDS, "\n/") if safe.slash else _NOT_BETWEEN_WORDS
        self._others = others

    # Compiling these takes milliseconds, and English text may never need them.
    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile(self._pattern)

    @cached_property
    def _known(self) -> re.Pattern[str]:
        return re.compile(f"[{_KNOWN}]*")

    def _split(self, text: str) -> re.Pattern[str] | CountFunctions:
        """Return the pattern that splits ``text``, or functions that count it without splitting."""
        if text.isascii():
            return self._ascii
        if self._others is None or self._known.fullmatch(text):
            return self._any
        return self._others

    def count(self, text: str) -> int:
        """Return the number of tokens in ``text``."""
        split = self._split(text)
        if isinstance(split, CountFunctions):
            return split.count(text)
        if len(text) > _MAX_SPLIT_AT_ONCE:
            return sum(self._tokens(match[0]) for match in split.finditer(text))
        return sum(map(self._tokens, split.findall(text)))

    def counts(self, text: str, positions: Sequence[int]) -> Iterable[int]:
        """Return the token count of each span between adjacent ``positions``, in order."""
        others = [mark for mark in self._not_words if mark in text]
        wide = None if text.isascii() else _WIDE_SPACE.search(text)
        for span in spans_between(text, positions):
            split: object = (
                span.endswith(" ")
                or len(span) > _MAX_SPLIT_AT_ONCE
                or (wide and _WIDE_SPACE.search(span))
            )
            # A generator for each span would take several times as long.
            for mark in others:
                split = split or mark in span
            yield self.count(span) if split else sum(map(self._words, _words_of(span)))

    def _count_word(self, word: str) -> int:
        text = word[1:] if word[:1] == _LINE_START else " " + word
        if not text.isascii():
            return self.count(text)
        # As in `count`, whose calls would cost as much as the rest for a word that is new. The count
        # is remembered for the word, and not for its only pre-token too.
        pretokens = self._ascii.findall(text)
        if len(pretokens) == 1:
            return self._count_pretoken(text)
        return sum(map(self._tokens, pretokens))

    def token_ends(self, text: str, start: int) -> Iterable[int]:
        """Return the end of each token's pre-token; ``text`` begins at ``start`` in a document."""
        split = self._split(text)
        if isinstance(split, CountFunctions):
            return split.token_ends(text, start)
        if len(text) > _MAX_SPLIT_AT_ONCE:
            matches = split.finditer(text)
            each = (repeat(start + match.end(), self._tokens(match[0])) for match in matches)
            return chain.from_iterable(each)
        pretokens = split.findall(text)
        ends = accumulate(map(len, pretokens), initial=start)
        next(ends)
        return chain.from_iterable(map(repeat, ends, map(self._tokens, pretokens)))


def _words_of(span: str) -> list[str]:
    """Return the words between the spaces of ``span``, each with the line endings after it.

    No pre-token spans the start of a line, or a space and the character before it. Of several
    spaces, all but the last are a pre-token, which is returned as the word "".
    """
    body = span.rstrip("\n")
    if "\n\n" in body:
        span = _LAST_LINE_END.sub(f"\n {_LINE_START}", span)
    elif "\n" in body:
        span = body.replace("\n", f"\n {_LINE_START}") + span[len(body) :]
    if "   " in span:
        span = _SPACES.sub("  ", span)
    return f"{_LINE_START}{span}".split(" ")
