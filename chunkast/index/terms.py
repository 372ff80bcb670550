"""Prepare texts and queries for the full-text index."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import regex

from chunkast.text.source_map import without_surrogates

__all__ = ("content_words", "match_expression", "path_words", "terms", "word_places")

# The maximum number of distinct words used of a query; more do not improve the search.
_MAX_WORDS: Final = 256
# Scripts without spaces between words (Thai, Lao, Burmese, Khmer, kana, Han), and Hangul,
# whose words carry their endings. Each character is a word of its own in the index.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_CHARACTER: Final = re.compile(f"[{_UNSPACED}]")
# A word to the index's own tokenizer; everything else separates words.
_WORD: Final = regex.compile(r"[\p{L}\p{N}\p{M}\p{Co}]+")
_EXTENSION: Final = re.compile(r"\.[A-Za-z]{1,8}(?:#.*)?\Z", re.DOTALL)
_PART: Final = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


# Words of questions, and words without content, in English.
_STOP_WORDS: Final = frozenset(
    """a about an and are as at be by can could do does for from get had has have how i if in into is it
    its me my of on or our shall should that the their them there these they this to was we were what
    when where which who why will with work works would you your""".split()  # noqa: SIM905
)
_EDGES: Final = "?!.,;:\"'()[]"


# Words such as ``maxTokens`` and ``HTMLParser``, and their parts.
_CAMEL_CASE: Final = re.compile(
    r"\b(?=[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z][A-Z][a-z]))[A-Za-z][A-Za-z0-9]*\b"
)
_HUMPS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
# Names with signs, such as C#, C++ and .NET, which become words.
# The characters before a sign are checked last, because searching for the signs is fast.
_SIGN: Final = re.compile(
    r"\+\+(?<=\b[A-Za-z]\+\+)|#(?<=\b[A-Za-z]#)(?!\w)|\\#(?<=\b[A-Za-z]\\#)(?!\w)"
    r"|\.net\b(?<![\w.]\.net)",
    re.IGNORECASE,
)
_SIGN_NAMES: Final = {"++": "plusplus", "#": "sharp", ".net": "dotnet"}
# Characters that NFKC joins to the word before them, and letters that are written in two ways.
_LETTERS: Final = str.maketrans(
    {"\u2120": " ", "\u2122": " ", "\u0451": "\u0435", "\u0401": "\u0415"}
)
# The numbers of significant words of a query whose compounds are sought, and of their letters.
_FEW_WORDS: Final = 3
_COMPOUND: Final = range(4, 21)


def terms(text: str) -> str:
    """Return ``text`` in the form that is stored in the full-text index.

    The parts of a ``CamelCase`` word are added after the word, characters of scripts without
    spaces are separated by spaces, and compatible characters are unified. A text can be removed
    from the index only in the form in which it was added, so a change here requires a new version
    of the schema and a new index.
    """
    text = _unified(text)
    text = _CAMEL_CASE.sub(lambda word: f"{word[0]} {' '.join(_HUMPS.findall(word[0]))}", text)
    if text.isascii():
        return text
    return _CHARACTER.sub(r" \g<0> ", without_surrogates(text))


def path_words(source: str) -> str:
    """Return the path of a document without its extension and fragment."""
    return _EXTENSION.sub("", source)


def _unified(text: str) -> str:
    """Return ``text`` in NFKC, with signs in names as letters."""
    text = _SIGN.sub(lambda sign: _SIGN_NAMES[sign[0].lower().lstrip("\\")], text)
    return text if text.isascii() else unicodedata.normalize("NFKC", text.translate(_LETTERS))


def match_expression(query: str) -> str:
    """Return an FTS5 expression that matches any word of the query.

    The result is empty if the query has no words. Every word is quoted and consists only of
    letters, marks and digits, so that a query is never parsed as FTS5 syntax. Words without a space
    between them (``max_tokens``, ``a.b``) are also searched for as a phrase. In scripts without
    spaces, pairs of adjacent characters are searched for as phrases instead of single characters.
    In short queries, compounds are also searched for as one word and as two.
    """
    query = _unified(query)
    phrases: dict[str, None] = {}
    content = _content(query)
    for term in content:
        words = _WORD.findall(term)
        for word in words:
            phrases |= dict.fromkeys(_phrases(word))
        if len(words) > 1:
            phrases[terms(" ".join(words))] = None
        if len(phrases) >= _MAX_WORDS:
            break
    if len(content) <= _FEW_WORDS:
        phrases |= dict.fromkeys(_compounds(query))
    return " OR ".join(f'"{phrase}"' for phrase in list(phrases)[:_MAX_WORDS])


def content_words(text: str) -> frozenset[str]:
    """Return the significant words of a query or title, in lower case and without a final "s".

    In scripts without spaces, the words are pairs of adjacent characters.
    """
    return frozenset(word for term in _content(_unified(text)) for _, word in word_places(term))


def word_places(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the normalized form (see :func:`content_words`) of each word."""
    for match in _WORD.finditer(text):
        for part in _PART.finditer(match[0]):
            start, word = match.start() + part.start(), part[0]
            if len(word) > 1 and _CHARACTER.match(word):
                pairs = pairwise(unicodedata.normalize("NFKC", word))
                yield from ((start + at, one + two) for at, (one, two) in enumerate(pairs))
            else:
                folded = unicodedata.normalize("NFKC", word.translate(_LETTERS)).casefold()
                yield start, folded.removesuffix("s") or folded


def _content(text: str) -> list[str]:
    """Return the terms of a text without stop words, or all terms if there are only stop words."""
    words = without_surrogates(text).split()
    content = [term for term in words if term.strip(_EDGES).lower() not in _STOP_WORDS]
    return content or words


def _phrases(word: str) -> Iterator[str]:
    for match in _PART.finditer(word):
        part = match.group()
        if not _CHARACTER.match(part) or len(part) == 1:
            yield part
            yield from _HUMPS.findall(part) if _CAMEL_CASE.fullmatch(part) else ()
        else:
            yield from (f"{one} {two}" for one, two in pairwise(part))


def _compounds(query: str) -> Iterator[str]:
    """Yield neighbouring words as one word, and each word that may be a compound as two."""
    words = [word.casefold() for word in _WORD.findall(without_surrogates(query))[:_MAX_WORDS]]
    pairs = (one + two for one, two in pairwise(words) if one not in _STOP_WORDS)
    yield from (pair for pair in pairs if pair.isalpha() and len(pair) in _COMPOUND)
    for word in words:
        if word.isascii() and word.isalpha() and len(word) in _COMPOUND:
            parts = ((word[:at], word[at:]) for at in range(1, len(word) - 1))
            yield from (f"{one} {two}" for one, two in parts if one not in _STOP_WORDS)
