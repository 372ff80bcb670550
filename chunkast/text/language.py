"""The language of a text, as far as the places where its sentences end depend on it.

The rule: a text with a "the" between spaces for every 500 characters is English. Else a word is what white space parts, in lower case. Of each language below the words that
are in its list are counted, over the whole text. The language with the most of them is the text's,
if these are at least eight, at least one in sixty words, and more than twice as many as those of any
other; else it is taken for English. No word is in two lists, nor are keywords and names that English
texts about programs have. So a sentence more or less changes nothing unless the text is tiny, or half
in another language.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

__all__ = ("DEFAULT_LANGUAGE", "LANGUAGE_RULES", "language_of_text")

# Another number for other rules, or abbreviations: it is in the fingerprint.
LANGUAGE_RULES: Final = "4"
DEFAULT_LANGUAGE: Final = "en"
_LEAST: Final = 8
_LEAST_SHARE: Final = 1 / 60
_LEAD: Final = 2
# Read at once, so that the words of a long text are never all in memory.
_SLICE: Final = 65_536
_THE_DISTANCE: Final = 500
_DECLARED = re.compile(
    r"""^(?:lang|language)[ \t]*[:=][ \t]*["']?([A-Za-z]{2,3})(?![A-Za-z])""", re.MULTILINE
)
_WORDS: Final = {
    "en": "the and to that you are have was which they your been their would it's when",
    "de": "der und nicht sie ist ein eine einen einer dem auf für sich auch wird werden wenn "
    "oder bei sind nach zum zur über aus kann wie durch",
    "es": "el los las y por más pero sus cuando este esta también hay muy donde puede hasta según "
    "desde cada otros",
    "fr": "le les et est dans pour qui sur avec ce cette vous nous sont pas au aux être leur où été "
    "elle d'une c'est qu'il",
    "it": "il di che è della sono gli nel alla questo dei delle più anche essere viene nella degli "
    "può dal dalla",
    "nl": "het een van niet zijn voor worden wordt ook bij naar uit aan deze kan maar wij hij heeft",
    "pl": "w nie się na że oraz jak są dla przez może przy tym od czy także ich lub jeśli został",
    "pt": "o não uma os dos das ao são em pelo pela também você seu sua quando foi está pode às "
    "isso até",
    "ru": "и что с как это по от из к или если он она но так же бы только был быть чтобы можно который",
    "uk": "і що з як це від або якщо він вона але та також був бути щоб є цього про може які",
}
_LANGUAGE_OF: Final = {word: name for name, words in _WORDS.items() for word in words.split()}


def language_of_text(text: str, front_matter: str = "") -> str:
    """The language's code: what the ``front_matter`` says (``lang`` or ``language``), or is found."""
    declared = _DECLARED.search(front_matter)
    return declared[1].lower() if declared else _found(text)


def _found(text: str) -> str:
    # Most texts are English, and most of these say so at once.
    if text.count(" the ") * _THE_DISTANCE > len(text):
        return DEFAULT_LANGUAGE
    size = 0
    words: Counter[str] = Counter()
    for at in range(0, len(text), _SLICE):
        said = text[at : at + _SLICE].lower().split()
        size += len(said)
        words.update(filter(_LANGUAGE_OF.__contains__, said))
    counts: Counter[str] = Counter()
    for word, language in _LANGUAGE_OF.items():
        counts[language] += words[word]
    (language, most), (_, next_most) = counts.most_common(2)
    sure = most >= _LEAST and most >= _LEAST_SHARE * size and most > _LEAD * next_most
    return language if sure else DEFAULT_LANGUAGE
