"""Words, as they go into the full-text index and as a query asks for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import regex

from chunkast.text.source_map import without_surrogates

__all__ = ("match_expression", "terms")

# More distinct words than this say nothing more about what is looked for.
_MAX_WORDS: Final = 256
# Scripts that put no space between words (Thai, Lao, Burmese, Khmer, kana, Han), and Hangul,
# whose words carry their endings. Each character is a word of its own in the index.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_CHARACTER: Final = re.compile(f"[{_UNSPACED}]")
# What the index's own tokenizer takes as one word; everything else parts words.
_WORD: Final = regex.compile(r"[\p{L}\p{N}\p{M}\p{Co}]+")
_PART: Final = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


def terms(text: str) -> str:
    """``text`` as it is indexed: characters of unspaced scripts stand apart.

    Words are taken out of the index with what this makes of a stored text, so another
    result needs another version of the schema, and an index built anew.
    """
    if text.isascii():
        return text
    return _CHARACTER.sub(r" \g<0> ", without_surrogates(text))


def match_expression(query: str) -> str:
    """An FTS5 expression for chunks that have any of the query's words; "" if it has none.

    Every word is a string in quotes and holds letters, marks and digits alone, so no
    query means anything to the syntax. Words that stand together (``max_tokens``,
    ``a.b``) are asked for as a phrase as well, and so are neighbouring characters of
    unspaced scripts, in place of the single ones.
    """
    found: dict[str, None] = {}
    for piece in without_surrogates(query).split():
        words = _WORD.findall(piece)
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
