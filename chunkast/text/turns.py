"""Find the lines of a paragraph that begin a turn of a conversation, or an entry of references.

A turn begins with a time, a speaker, or both; an entry with a number or key in brackets.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import islice
from typing import Final

from chunkast.text.source_map import line_starts

__all__ = ("TURN", "line_marks")

_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?(?:[ \u202f]?[AaPp]\.?[Mm]\b\.?)?"
_DATE: Final = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_TIME: Final = rf"(?:{_DATE},?[ \t]+)?{_CLOCK}(?:,?[ \t]+{_DATE})?"
_STAMP: Final = rf"(?:\[{_TIME}\]|\({_TIME}\)|{_TIME})"
_NAME: Final = r"[^\W\d_][^\r\n:：\[\]()]{0,40}?"
# After a time, a name has any form; without one, it has at most three words, none in lower case.
_WORD: Final = r"[^\W\d_a-zß-öø-ÿά-ώа-џ][\w.'’-]*"
TURN: Final = re.compile(
    rf"[ \t>]*(?:\*\*|__)?(?:{_STAMP}(?:[ \t]*[-–—]?[ \t]*{_NAME}[:：])?"
    rf"|{_NAME}[ \t]+{_STAMP}[:：]?"
    rf"|{_WORD}(?:[ \t]{_WORD}){{0,2}}[:：])(?:\*\*|__)?(?=[\s:：]|\Z)"
)
_ENTRY = re.compile(r"[ \t>]*\[(?:\d{1,4}|[^\W\d_][\w.+&-]{0,30}\d\d[a-z]?)\][ \t]+\S")
# The number of lines that must begin with a turn, or with an entry.
_LEAST: Final = 3


def line_marks(text: str) -> list[re.Pattern[str]]:
    """Return the patterns of turns and of entries that match at least three lines of a paragraph."""
    starts = line_starts(text)[:-1]
    if len(starts) < _LEAST:
        return []
    marks = (TURN, _ENTRY) if "[" in text else (TURN,)
    matches = (islice(filter(partial(mark.match, text), starts), _LEAST) for mark in marks)
    return [mark for mark, found in zip(marks, matches, strict=True) if len([*found]) == _LEAST]
