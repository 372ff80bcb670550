"""Find places at which sentencex would end a sentence too early, for example after abbreviations.

sentencex knows few abbreviations in French, Polish and Portuguese. In the languages of
``languages.json``, a full stop does not end a sentence

- after an abbreviation that usually precedes a name, such as a title;
- between an abbreviation that usually precedes a number, such as "p." for a page, and a number;
- before a small letter, before a year in brackets, and directly before a letter, digit, hyphen or
  comma; but not in English, in which names of programs may begin with a small letter;
- after a single capital letter; but not in English and German, whose initials sentencex knows;
- in German, after a number of at most two digits that follows an article or preposition, or
  precedes a noun that is often numbered, such as a month or century.

No punctuation ends a sentence before a dash and a small letter, which continue it after direct
speech. In any language, a sentence continues after Chinese or Japanese quotes if the particle と or
a verb of saying follows.
"""

from __future__ import annotations

import re
from typing import Final

from chunkast.text.language import WORDS
from chunkast.text.white_space import WHITE_SPACE

__all__ = ("MENDED", "continues", "speech_continues")

# By language: the abbreviations that precede names, such as titles, and the abbreviations that
# precede numbers, such as page numbers.
_TABLES: Final = {
    language: (frozenset(words["before_names"].split()), frozenset(words["before_numbers"].split()))
    for language, words in WORDS.items()
}
MENDED: Final = frozenset(_TABLES)
_LAST_WORD: Final = re.compile(rf"(?:\A|[{WHITE_SPACE}\W])([\w.-]*\w)\.[{WHITE_SPACE}]*\Z")
_AFTER_SPEECH: Final = re.compile(rf"[—–][{WHITE_SPACE}]?([^\W\d_])")
_YEAR: Final = re.compile(r"\([12]\d{3}\b")
_NUMBER: Final = re.compile(r"\(?\d|\(?[IVXLCDM]+\b")
# The verbs follow within six characters.
_GOES_ON: Final = re.compile(r"と|って|[^。！？」”\n]{0,6}?[说說道问問答喊叫]")
_SPEECH_ENDS: Final = ("」", "』", "”")
_AFTER_ORDINAL: Final = re.compile(
    r"(?:Aufl|Etage|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|"
    r"Dezember|Jahrhundert|Jahrtausend|Jh|Klasse|Lebensjahr|Quartal|Semester|Stock)"
)
_BARE_ORDINAL: Final = re.compile(rf"\b\d\d?\.[{WHITE_SPACE}]*\Z")
_ORDINAL: Final = re.compile(
    rf"(?i)\b(?:ab|am|auf|bis|das|dem|den|der|des|die|eine?[mnrs]?|ihre?[mnrs]?|im|ins?|je|jede[mnrs]?|mit|"
    rf"nach|seine?[mnrs]?|seit|und|vom|von|vor|zum|zur)[{WHITE_SPACE}]+\d\d?\.[{WHITE_SPACE}]*\Z"
)
# The number of characters read before a position.
_REACH: Final = 40


def speech_continues(text: str, at: int) -> bool:
    """Return whether the sentence continues at index ``at``, right after direct speech."""
    return text.endswith(_SPEECH_ENDS, 0, at) and _GOES_ON.match(text, at) is not None


def continues(text: str, at: int, language: str) -> bool:
    """Return whether a sentence continues at index ``at``; ``language`` must be in ``MENDED``."""
    speech = _AFTER_SPEECH.match(text, at)
    if speech and speech[1].islower():
        return True
    before = text[max(at - _REACH, 0) : at]
    if not before.rstrip(WHITE_SPACE).endswith("."):
        return False
    match = _LAST_WORD.search(before)
    word = match[1] if match else ""
    forms = {word.lower(), word.rpartition("-")[2].lower()}
    names, numbers = _TABLES[language]
    if forms & names or (forms & numbers and _NUMBER.match(text, at)):
        return True
    if language == "en":
        return False
    next_ = text[at : at + 1]
    joined = before.endswith(".") and (next_.isalnum() or next_ in "ºª-,")
    if joined or next_.islower() or _YEAR.match(text, at):
        return True
    if language == "de":
        numbered = _AFTER_ORDINAL.match(text, at) and _BARE_ORDINAL.search(before)
        return numbered is not None or _ORDINAL.search(before) is not None
    initial = word.rpartition(".-")[2]
    return len(initial) == 1 and initial.isupper()
