"""Prepare texts and queries for the full-text index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

import regex

from chunkast.index.stems import ENGLISH, GROUPED_BY_POINTS, STEMMED, stems
from chunkast.text.folding import UNSEEN, composed, fold

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
_SHOWN_WORD: Final = regex.compile(rf"{_WORD.pattern}(?:[{UNSEEN}]+{_WORD.pattern})*")
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
# Numbers with separators of thousands, which are commas or spaces that do not break. Numbers with
# points are also versions and addresses, unless no other point is beside them.
_GROUPED: Final = r"(?<![\w.,])\d{1,3}(?:[,\u066c\xa0\u2007\u202f]\d{2,3}){1,6}(?<=\d{3})(?!,?\d)"
_POINTED: Final = rf"{_GROUPED}|(?<![\w.,])\d{{1,3}}(?:\.\d{{3}}){{1,5}}(?!\.?\d)"
# In German, and in German names in English, these letters are also written with an "e".
_UMLAUT: Final = re.compile("[ÄÖÜäöü]")
# The numbers of significant words of a query whose compounds are sought, and of their letters.
_FEW_WORDS: Final = 3
_COMPOUND: Final = range(4, 21)


def terms(text: str, languages: tuple[str, ...] = (ENGLISH,)) -> str:
    """Return ``text`` in the form that is stored in the full-text index.

    Letters and accents are folded. The parts of a ``CamelCase`` word are added after the word, and
    a number without thousands separators, after the number with them. Characters of scripts
    without spaces are separated by spaces. The stems of words in the ``languages`` of the text, and
    other spellings of German umlauts, follow the text. A text can be removed from the index only in
    the form in which it was added. A change here therefore requires a new version of the schema and
    a new index.
    """
    text = _composed(text, languages)
    has_forms = _UMLAUT.search(text) or not STEMMED.isdisjoint(languages)
    words = _WORD.findall(text) if has_forms else ()
    return " ".join([_separated(text), *chain(*(_forms(word, languages) for word in words))])


def _separated(text: str) -> str:
    """Return ``text`` with folded letters, and with what can be found inside its words as words."""
    text = fold(text)
    text = _CAMEL_CASE.sub(lambda word: f"{word[0]} {' '.join(_HUMPS.findall(word[0]))}", text)
    return text if text.isascii() else _CHARACTER.sub(r" \g<0> ", text)


def path_words(source: str) -> str:
    """Return the path of a document without its extension and fragment."""
    return _EXTENSION.sub("", source)


def _composed(text: str, languages: tuple[str, ...]) -> str:
    """Return ``text`` in NFKC, with signs in names as letters, and with joined numbers added."""
    number = _GROUPED if GROUPED_BY_POINTS.isdisjoint(languages) else _POINTED
    text = re.sub(number, lambda x: f"{x[0]} {''.join(filter(str.isdigit, x[0]))}", text)
    text = _SIGN.sub(lambda sign: _SIGN_NAMES[sign[0].lower().lstrip("\\")], text)
    return composed(text)


def _forms(word: str, languages: tuple[str, ...]) -> Iterator[str]:
    """Yield the stems of a composed word, and its spelling without umlauts if there is another."""
    if _UMLAUT.search(word) and not {ENGLISH, "de"}.isdisjoint(languages):
        yield fold(_UMLAUT.sub(lambda letter: f"{fold(letter[0])}e", word))
    yield from stems(word, languages)


def match_expression(query: str, languages: tuple[str, ...] = (ENGLISH,)) -> str:
    """Return an FTS5 expression that matches any word of the query.

    The result is empty if the query has no words. Every word is quoted and consists only of
    letters, marks and digits, so that a query is never parsed as FTS5 syntax. Words without a space
    between them (``max_tokens``, ``a.b``) are also searched for as a phrase. In scripts without
    spaces, pairs of adjacent characters are searched for as phrases instead of single characters.
    Words are also searched for by their stems in the ``languages`` of the index. In short queries,
    adjacent words are also searched for as one word, and compounds as two.
    """
    text = _composed(query, languages)
    phrases: dict[str, None] = {}
    content = _content(text)
    for term in content:
        words = _WORD.findall(term)
        for word in words:
            phrases |= dict.fromkeys((*_phrases(fold(word)), *_forms(word, languages)))
        if len(words) > 1:
            phrases[_separated(" ".join(words))] = None
        if len(phrases) >= _MAX_WORDS:
            break
    if len(content) <= _FEW_WORDS:
        phrases |= dict.fromkeys(map(fold, _compounds(text)))
    return " OR ".join(f'"{phrase}"' for phrase in list(phrases)[:_MAX_WORDS])


@lru_cache(maxsize=16_384)
def content_words(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of the significant words of a query or title, for comparison.

    The stem of an English word is the word in lower case, without a final "s". In scripts without
    spaces, words are pairs of adjacent characters.
    """
    terms = _content(_composed(text, (language,)))
    words = (term[start:end] for term in terms for start, end in word_places(term))
    return frozenset(
        stem
        for word in words
        for stem in stems(word, (language,)) or [re.sub(r"\Bs\Z", "", fold(word).casefold())]
    )


def word_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words in a text. A word may contain invisible characters."""
    for match in _SHOWN_WORD.finditer(text):
        for part in _PART.finditer(match[0]):
            start, end = (match.start() + at for at in part.span())
            if end - start > 1 and _CHARACTER.match(part[0]):
                yield from ((at, at + 2) for at in range(start, end - 1))
            else:
                yield start, end


def _content(text: str) -> list[str]:
    """Return the terms of a text without stop words, or all terms if there are only stop words."""
    words = text.split()
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


def _compounds(text: str) -> Iterator[str]:
    """Yield neighbouring words as one word, and each word that may be a compound as two."""
    words = [word.casefold() for word in _WORD.findall(text)[:_MAX_WORDS]]
    pairs = (one + two for one, two in pairwise(words) if one not in _STOP_WORDS)
    yield from (pair for pair in pairs if pair.isalpha() and len(pair) in _COMPOUND)
    for word in words:
        if word.isascii() and word.isalpha() and len(word) in _COMPOUND:
            parts = ((word[:at], word[at:]) for at in range(1, len(word) - 1))
            yield from (f"{one} {two}" for one, two in parts if one not in _STOP_WORDS)
