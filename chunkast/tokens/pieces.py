r"""How many tokens each piece of a text has, from remembered pieces instead of an encoding.

An encoding splits a text into pieces (words, up to three digits, punctuation, white space)
and encodes each by itself. Most of a document's pieces have come before, so that a split
and a look-up tell what an encoding would, in less time than it takes.

The split is that of the encoding's own pattern, written for Python's ``re`` and for texts
of :data:`KNOWN` characters (a character class) alone. There the Unicode classes are plain
lists: the white space is that of ASCII, the digits are 0 to 9, the letters those of ASCII
and Latin-1, and every other known character is punctuation or a symbol, which is what a
negated class takes it for. Possessive and greedy quantifiers give the same, since none of
them can be followed by what it gave back. An ignored case is written out: what else than
ASCII folds to a letter of a contraction is no known character. A piece has the same tokens
wherever it stands, so that those of a remembered one are those of the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import tiktoken

__all__ = ("KNOWN", "KnownText", "known_text")

# Letters of Latin-1, but for the two that are neither upper nor lower case.
_UPPER = "A-Z\xc0-\xd6\xd8-\xde"
_LOWER = "a-z\xb5\xdf-\xf6\xf8-\xff"
# Punctuation and symbols that are common in documentation: neither letters nor marks,
# neither digits nor white space, in any version of Unicode that has them.
_SYMBOLS = (
    "\xa1-\xa9\xab-\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2200-\u22ff\u2300-\u23ff\u2500-\u2775"
    "\u2794-\u27bf\u3001-\u3004\u3008-\u3020\uff01-\uff0f\uff1a-\uff20\uff5b-\uff65"
    "\U0001f300-\U0001f64f\U0001f680-\U0001f6c5\U0001f900-\U0001f9ff"
)
KNOWN: Final = rf"\x00-\x7f{_UPPER}{_LOWER}{_SYMBOLS}"
_SPACE = r"\t-\r "
_LETTER = _UPPER + _LOWER
_ENDING = "(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))"

# By the encoding's own pattern. In both, a word with nothing or a space before it comes
# first: no alternative before that of words begins like that.
_PATTERNS: Final = {
    # cl100k_base
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s": (
        rf" ?[{_LETTER}]+|{_ENDING}|[^\r\n{_LETTER}0-9][{_LETTER}]+|[0-9]{{1,3}}"
        rf"| ?[^{_SPACE}{_LETTER}0-9]+[\r\n]*"
        rf"|[{_SPACE}]+\Z|[{_SPACE}]*[\r\n]|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]"
    ),
    # o200k_base, o200k_harmony
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+": (
        rf"[^\r\n{_LETTER}0-9]?(?:[{_UPPER}]*[{_LOWER}]+|[{_UPPER}]+){_ENDING}?|[0-9]{{1,3}}"
        rf"| ?[^{_SPACE}{_LETTER}0-9]+[\r\n/]*"
        rf"|[{_SPACE}]*[\r\n]+|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
    ),
}
# Longer pieces hardly come again. So many pieces take a few megabytes.
_LONG = 64
_MANY = 65_536
# The pieces of longer texts are taken one by one: all at once they take twelve times as
# much memory as the text.
_ALL_AT_ONCE = 65_536


class _Tokens(dict[str, int]):
    """How many tokens each piece has that was met; others are encoded when they are."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._single = encoding._mergeable_ranks  # noqa: SLF001 - there is no public way
        self._encode = encoding._core_bpe.encode_single_piece  # noqa: SLF001

    def __missing__(self, piece: str) -> int:
        content = piece.encode()
        tokens = 1 if content in self._single else len(self._encode(content))
        if len(piece) <= _LONG:
            if len(self) >= _MANY:
                self.clear()
            self[piece] = tokens
        return tokens


class KnownText:
    """What tells the tokens of texts of known characters, given what splits them."""

    def __init__(self, split: re.Pattern[str], encoding: tiktoken.Encoding) -> None:
        self._split = split
        self._pieces = split.findall
        self._tokens = _Tokens(encoding).__getitem__

    def count(self, text: str) -> int:
        """How many tokens the text has."""
        if len(text) > _ALL_AT_ONCE:
            return sum(self._tokens(piece[0]) for piece in self._split.finditer(text))
        return sum(map(self._tokens, self._pieces(text)))

    def token_ends(self, text: str, start: int) -> Iterator[int]:
        """For each token where its piece ends, in a text that begins at ``start``."""
        if len(text) > _ALL_AT_ONCE:
            found = self._split.finditer(text)
            each = (repeat(start + piece.end(), self._tokens(piece[0])) for piece in found)
            return chain.from_iterable(each)
        pieces = self._pieces(text)
        ends = accumulate(map(len, pieces), initial=start)
        next(ends)
        return chain.from_iterable(map(repeat, ends, map(self._tokens, pieces)))


def known_text(encoding: tiktoken.Encoding) -> KnownText | None:
    """None for an encoding whose pattern is not one of those written here."""
    pattern = _PATTERNS.get(encoding._pat_str)  # noqa: SLF001 - there is no public way
    return None if pattern is None else KnownText(re.compile(pattern), encoding)
