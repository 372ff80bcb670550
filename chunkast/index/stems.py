"""Find the languages of a text, and the stems of its words.

A text has one language for each script. ``stems.json`` lists the languages of each script, the most
likely one first, with their common words and letters. The language with the most of its words in
the text is chosen, if there are at least three. If not, it is the one with the most of its letters,
if they are more than one in a hundred, or else the first.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from chunkast.text.folding import fold

__all__ = ("ENGLISH", "GROUPED_BY_POINTS", "STEMMED", "languages_of", "stems")

# The full-text index itself has stems of English.
ENGLISH: Final = "en"
_DATA: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("stems.json").read_bytes())
_LANGUAGES: Final[dict[str, dict[str, Any]]] = _DATA["languages"]
# The languages whose words have stems, and those whose numbers may have points between thousands.
STEMMED: Final = frozenset(code for code, each in _LANGUAGES.items() if "stemmer" in each)
GROUPED_BY_POINTS: Final = frozenset(code for code, each in _LANGUAGES.items() if "points" in each)
_SCRIPTS: Final = {name: re.compile(f"[{chars}]+") for name, chars in _DATA["scripts"].items()}
_WORDS: Final = {code: each.get("words", "").split() for code, each in _LANGUAGES.items()}
_LEAST_WORDS: Final = 3
_LEAST_SHARE: Final = 1 / 100
# Stems begin with a character for private use, so that they only match stems.
_MARK: Final = "\uefff"
# The numbers of letters of words that have stems.
_LENGTHS: Final = range(2, 65)


def languages_of(texts: Iterable[str], declared: str = ENGLISH) -> tuple[str, ...]:
    """Return the codes of the languages of ``texts``, one for each script.

    A ``declared`` language is used for its script, unless it is English.
    """
    words: Counter[str] = Counter()
    letters: Counter[str] = Counter()
    for text in map(str.lower, texts):
        words.update(text.split())
        letters.update("" if text.isascii() else text)
    row = _LANGUAGES.get(declared, _LANGUAGES[ENGLISH])
    found = {} if declared == ENGLISH else {row["script"]: declared}
    for script, characters in _SCRIPTS.items():
        own = {each: count for each, count in letters.items() if characters.match(each)}
        if script not in found and (own or script == "Latin"):
            codes = [code for code, each in _LANGUAGES.items() if each["script"] == script]
            found[script] = max(codes, key=lambda code: _likeness(code, words, own))
    return tuple(found.values())


def _likeness(code: str, words: Counter[str], letters: dict[str, int]) -> tuple[int, int]:
    """Return the numbers of words and letters that are common in a language, 0 for too few."""
    count = sum(words[word] for word in _WORDS[code])
    common = sum(letters.get(letter, 0) for letter in _LANGUAGES[code].get("letters", ""))
    enough = common > _LEAST_SHARE * sum(letters.values())
    return count * (count >= _LEAST_WORDS), common * enough


@lru_cache(maxsize=65_536)
def stems(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the stems of a composed word in those ``languages`` that use its script.

    The word is stemmed with and without its accents.
    """
    word = word.lower().replace("\u0307", "")
    found: dict[str, None] = {}
    for row in (_LANGUAGES[code] for code in languages if code in STEMMED):
        if len(word) in _LENGTHS and _SCRIPTS[row["script"]].fullmatch(word):
            # The factory of the package takes the stemmers of another one, if that is installed.
            module = import_module(f"snowballstemmer.{row['stemmer']}_stemmer")
            # Threads cannot share a stemmer, which has a state.
            stemmer = getattr(module, f"{row['stemmer'].title()}Stemmer")()
            forms = dict.fromkeys((word, fold(word)))
            found |= {_MARK + fold(stemmer.stemWord(form)): None for form in forms}
    return tuple(found)
