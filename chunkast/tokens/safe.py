r"""Safe positions: positions at which a tokenizer always splits a text.

The token counts of adjacent spans add up to the count of the whole only if the tokenizer always
splits the text between them. Such a position is called *safe*: no pre-token spans it, whatever text
surrounds it. So the texts on both sides are tokenized independently of each other.

Proof for the patterns of cl100k_base and o200k_base (o200k_harmony uses the latter). Their
alternatives are: a word (letters, with at most one leading character that is not a letter, digit or
line ending; in o200k marks count as letters, and a contraction that begins with an apostrophe may
end the word); up to three digits; punctuation with at most one leading space and trailing line
endings (in o200k also slashes); white space up to a line ending; white space before white space or
before the end of the text; white space.

1. *The start of a line that is not blank* (and, in o200k, does not begin with a slash). A match
   across it would contain a line ending followed by something else. In the punctuation alternative,
   only line endings (in o200k also slashes) follow a line ending. In "white space up to a line
   ending", the greedy match ends after the last line ending of the white space. That is this
   position or one before it, because the rest of the line's indentation contains no line ending.
   The remaining white space alternatives are tried only where no line ending is ahead in the white
   space. If the text ends here, "white space before the end" matches all white space before this
   position, which is the same pre-token.
2. *Before a space that follows a character other than white space.* No alternative has a space,
   or any white space other than a line ending, after a character that is not white space.
3. *Between a letter or digit and ASCII or CJK punctuation* other than an apostrophe. In a match,
   letters are only followed by letters, marks and the apostrophe of a contraction, and digits only
   by digits.
4. *Between an ASCII letter and an ASCII digit*: for the same reason.
5. *Between a letter or digit and a line ending*: for the same reason.

BERT's tokenizer (``tokens/bert.py``) drops white space and makes each punctuation mark a pre-token,
so all rules but the fourth hold for it.

Differences between the character classes of Python and tiktoken are harmless. Python's white space
also contains U+001C to U+001F, so fewer positions count as safe. A character that is a letter or
digit in Python's Unicode version stays one in later versions. Lone surrogates are encoded like
U+FFFD. A document with pairs of surrogates is counted without safe positions, as are the documents
of all other counters.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ("CL100K_POSITIONS", "O200K_POSITIONS", "PUNCTUATION", "SafePositions", "safe_positions")

PUNCTUATION: Final = '!"#$%&()*+,-.:;<=>?@[\\]^`{|}~、。，！？；：（）「」『』《》'
_NOT_BLANK: Final = re.compile(r"[^\S\r\n]*\S")


class SafePositions(NamedTuple):
    """The safe positions of a tokenizer.

    inner: matches at a position that is safe by rules 2 to 5.
    last: matches a text up to its last such position.
    slash: if true, the start of a line that begins with a slash is not safe.
    """

    inner: re.Pattern[str]
    last: re.Pattern[str]
    slash: bool

    def at_line_start(self, text: str, position: int) -> bool:
        """Return whether ``position``, the start of a line, is safe by rule 1."""
        first = text[position : position + 1]
        if first.isspace():
            return _NOT_BLANK.match(text, position) is not None
        return not (self.slash and first == "/")


def safe_positions(
    punctuation: str = PUNCTUATION, *, digits: bool = True, slash: bool = False
) -> SafePositions:
    """Return the safe positions with rule 3 for ``punctuation``, and with rule 4 if ``digits``."""
    marks = "".join(map(re.escape, punctuation))
    inner = rf"(?<=\S)(?= )|(?<=[^\W_])(?=[{marks}\r\n])"
    last = rf"\S(?= )|[^\W_](?=[{marks}\r\n])"
    if digits:
        inner += "|(?<=[A-Za-z])(?=[0-9])"
        last += "|[A-Za-z](?=[0-9])"
    return SafePositions(re.compile(inner), re.compile(f".*(?:{last})", re.DOTALL), slash)


CL100K_POSITIONS: Final = safe_positions()
O200K_POSITIONS: Final = safe_positions(slash=True)
