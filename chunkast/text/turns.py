"""Find the turns of a conversation: lines that begin with a time, a speaker, or both."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from chunkast.text.source_map import line_starts

__all__ = ("TURN", "has_turns")

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
# The number of lines that must begin with a turn.
_LEAST: Final = 3


def has_turns(text: str) -> bool:
    """Return whether at least three lines of ``text`` begin with a time or a speaker."""
    turns = (start for start in line_starts(text)[:-1] if TURN.match(text, start))
    return sum(1 for _ in islice(turns, _LEAST)) == _LEAST
