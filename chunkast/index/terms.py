"""Words for the full-text index and for queries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import regex

from chunkast.text.source_map import without_surrogates

__all__ = ("match_expression", "terms")

# The most distinct words of a query that are used; more do not improve the search.
_MAX_WORDS: Final = 256
# Scripts that put no space between words (Thai, Lao, Burmese, Khmer, kana, Han), and Hangul,
# whose words carry their endings. Each character is a word of its own in the index.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_CHARACTER: Final = re.compile(f"[{_UNSPACED}]")
# A word to the index's own tokenizer; everything else separates words.
_WORD: Final = regex.compile(r"[\p{L}\p{N}\p{M}\p{Co}]+")
_PART: Final = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


def terms(text: str) -> str:
    """``text`` as it is indexed: characters of unspaced scripts are separated.

    Words are removed from the index by the result for a stored text, so another result needs
    another version of the schema and a new index.
    """
    if text.isascii():
        return text
    return _CHARACTER.sub(r" \g<0> ", without_surrogates(text))


def match_expression(query: str) -> str:
    """An FTS5 expression for chunks that have any of the query's words; "" if it has none.

    Every word is a string in quotes that contains only letters, marks and digits, so that no
    query has a meaning in FTS5's syntax. Words without a space between them (``max_tokens``,
    ``a.b``) are searched as a phrase as well; neighbouring characters of unspaced scripts are
    searched as a phrase instead of singly.
    """
    found: dict[str, None] = {}
    for term in without_surrogates(query).split():
        words = _WORD.findall(term)
        for word in words:
            for phrase in _phrases(word):
                found[phrase] = None
        if len(words) > 1:
            found[terms(" ".join(words))] = None
        if len(found) >= _MAX_WORDS:
            break
    return " OR ".join(f'"{phrase}"' for phrase in list(found)[:_MAX_WORDS])


def _phrases(word: str) -> Iterator[str]:
    for match in _PART.finditer(word):
        part = match.group()
        if not _CHARACTER.match(part) or len(part) == 1:
            yield part
        else:
            yield from (f"{one} {two}" for one, two in pairwise(part))
