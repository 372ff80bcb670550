"""Guess the language of a text, which determines where its sentences end.

A text that contains " the " more than once per 500 characters is English. In other texts, the
function words of each language in ``languages.json`` are counted. The language with the highest
count is chosen if its count is at least eight, at least one in sixty words, and more than twice
that of any other language; otherwise, the text counts as English. No word is in two lists, and no
list contains words that are common in English texts about programs. So a single sentence can change
the result only if the text is tiny or half in another language.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Final

from chunkast.text.front_matter import front_matter_value

__all__ = ("DEFAULT_LANGUAGE", "LANGUAGES", "LANGUAGE_RULES", "WORDS", "language_of_text")

# Part of the fingerprint: change it with the rules, the words or the abbreviations.
LANGUAGE_RULES: Final = "5"
DEFAULT_LANGUAGE: Final = "en"
_DATA: Final = json.loads(Path(__file__).with_name("languages.json").read_bytes())
# The codes of ISO 639-1, and those of three letters for which sentencex has rules.
LANGUAGES: Final = frozenset(" ".join(_DATA["codes"]).split())
# By language: its function words and abbreviations.
WORDS: Final[dict[str, dict[str, str]]] = _DATA["words"]
_LEAST: Final = 8
_LEAST_SHARE: Final = 1 / 60
_LEAD: Final = 2
# Characters read at once, so that the words of a long text are never all in memory.
_SLICE: Final = 65_536
_THE_DISTANCE: Final = 500
_DECLARED = re.compile("([A-Za-z]{2,3})(?![A-Za-z])")
_LANGUAGE_OF: Final = {
    word: name for name, words in WORDS.items() for word in words["function_words"].split()
}


def language_of_text(text: str, front_matter: str = "") -> str:
    """Return the code of a text's language.

    This is the value of ``lang`` or ``language`` in the front matter or, without these, a guess.
    """
    for key in ("lang", "language"):
        value = front_matter_value(front_matter, key, plain=True)
        if declared := _DECLARED.match(value):
            return declared[1].lower()
    return _guessed(text)


def _guessed(text: str) -> str:
    # Most texts are English, and most English texts are recognized here.
    if text.count(" the ") * _THE_DISTANCE > len(text):
        return DEFAULT_LANGUAGE
    size = 0
    words: Counter[str] = Counter()
    for at in range(0, len(text), _SLICE):
        slice_words = text[at : at + _SLICE].lower().split()
        size += len(slice_words)
        words.update(filter(_LANGUAGE_OF.__contains__, slice_words))
    counts = Counter(dict.fromkeys(WORDS, 0))
    for word, count in words.items():
        counts[_LANGUAGE_OF[word]] += count
    (language, most), (_, next_most) = counts.most_common(2)
    sure = most >= _LEAST and most >= _LEAST_SHARE * size and most > _LEAD * next_most
    return language if sure else DEFAULT_LANGUAGE
