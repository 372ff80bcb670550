"""Find lead-ins: text that introduces the next block and stays with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple
from unicodedata import east_asian_width

from chunkast.markdown.kinds import Construct
from chunkast.model import Block
from chunkast.text.sentences import ends_sentence

__all__ = ("FULL_STOPS", "LeadIn", "Neighbours", "lead_in")

_ENDS = (":", "：")
# Marks that may surround a lead-in, and marks that may follow the last word of one without a colon.
_EMPHASIS_MARKS = "*_"
_WORD_MARKS = "*_`)"
# The columns of a short line, and the most characters that are read to find one.
_SHORT, _MOST = 100, 240
# The usual ends of sentences, which are looked for first.
FULL_STOPS = (".", "!", "?", "。")
# Lines that are no text: an attribute, a placeholder, a row of a table; a definition or a marker; a
# link, an image or an address. The last word may be a tag or the name of the block.
_NO_TEXT_ENDS = ("]", ">", "}", "|")
_NO_TEXT = re.compile(r":|!?\[[^\]]*\]\([^()]*\)\Z|[a-zA-Z][\w+.-]*://\S*\Z")
_NAMES = ("^", "#")
# The blocks that may be introduced by a colon, but not by a short line without one.
_NEVER_LED_IN = frozenset({"html", "jsx", "directive", "contents", "tool-call", "comment"})


class Neighbours(NamedTuple):
    """Two adjacent leaves.

    text: the document.
    leaf, row: the first leaf and its row in the table of constructs.
    next_leaf, next_row: the second leaf and its row.
    direct, next_direct: whether a heading in place of the leaf would begin a section, because the
        leaf is not inside an item, quote or note.
    opens: whether the first leaf is the line that opens the container or tag around the second.
    clings: whether the second leaf stays with the first.
    ended: whether a container ends between them.
    introducible: whether a block that a lead-in may introduce begins at the second leaf.
    child: whether a list begins at the second leaf, inside an item that began earlier.
    """

    text: str
    leaf: Block
    row: Construct
    next_leaf: Block
    next_row: Construct
    direct: bool
    next_direct: bool
    opens: bool
    clings: bool
    ended: bool
    introducible: bool
    child: bool

    @property
    def line(self) -> str:
        """The text of the first leaf, without trailing white space."""
        return self.text[self.leaf.start : self.leaf.end].rstrip()


class LeadIn(NamedTuple):
    """A kind of lead-in.

    applies: returns whether the first of two leaves is a lead-in of this kind to the second.
    weight: the score of the break point between the two, as a share of the score "lead-in". If
        zero, the break point keeps its score, and only cutting treats the two as a lead-in and its
        text.
    """

    applies: Callable[[Neighbours], bool]
    weight: float = 1


def _introduces(pair: Neighbours) -> bool:
    """Return whether the first leaf introduces the second with its last line.

    The line ends with a colon, or has several words and no full stop. Without a colon, the last
    line of a list or another container introduces nothing.
    """
    if not (pair.introducible and pair.row.leads):
        return False
    line = pair.line
    if line.rstrip(_EMPHASIS_MARKS).endswith(_ENDS):
        return True
    if pair.ended or not pair.next_row.introducible:
        return False
    return " " in line and line.rstrip(_WORD_MARKS)[-1:].isalnum()


def _goes_on_after_formula(pair: Neighbours) -> bool:
    """Return whether a display formula is inside a sentence: the second leaf is in lower case."""
    if pair.leaf.kind != "math" or pair.ended or not pair.next_row.plain:
        return False
    return pair.text[pair.next_leaf.start : pair.next_leaf.end].lstrip(" \t>")[:1].islower()


def _ends_no_sentence(pair: Neighbours) -> bool:
    """Return whether a short line, such as a speaker's name, goes on in the second leaf.

    Of several such lines only the last does, unless a line with a colon introduces them.
    """
    if not (pair.direct and pair.row.plain) or pair.ended:
        return False
    following = pair.next_row
    beside = following.plain and pair.next_direct
    if not (beside or pair.introducible) or following.heads or following.kind in _NEVER_LED_IN:
        return False
    line = _short_line(pair.text, pair.leaf)
    if not line:
        return False
    below = _short_line(pair.text, pair.next_leaf) if beside else ""
    return not below or (line.endswith(_ENDS) and not below.endswith(_ENDS))


def _short_line(text: str, leaf: Block) -> str:
    """Return the last line of a leaf if it is short text that ends no sentence, or else ""."""
    start = max(leaf.start, leaf.end - _MOST)
    tail = text[start : leaf.end].rstrip()
    if tail.endswith(FULL_STOPS):
        return ""
    first = max(tail.rfind("\n"), tail.rfind("\r")) + 1
    line = tail[first:].strip().strip(_EMPHASIS_MARKS + "`")
    if (
        (start > leaf.start and not first)
        or line.endswith(_NO_TEXT_ENDS)
        or _NO_TEXT.match(line)
        or line.rpartition(" ")[2].startswith(_NAMES)
        or _is_long(line)
        or ends_sentence(line)
    ):
        return ""
    return line


def _is_long(line: str) -> bool:
    """Return whether a line has more columns than a short one."""
    if line.isascii() or 2 * len(line) <= _SHORT:
        return len(line) > _SHORT
    return len(line) + sum(east_asian_width(char) in "WF" for char in line) > _SHORT


_ROWS: Final = (
    # A caption before its table, a term, a label, a bold line.
    LeadIn(lambda pair: pair.row.heads),
    # The line that opens a container or tag.
    LeadIn(lambda pair: pair.opens),
    # The text before a caption below its table, a closing tag, a definition.
    LeadIn(lambda pair: pair.clings),
    # A display formula inside a sentence; text that leads in to the next formula stays with that.
    LeadIn(_goes_on_after_formula, weight=0.5),
    LeadIn(_introduces),
    # An item before the list inside it.
    LeadIn(lambda pair: pair.child and not pair.ended, weight=0),
    # A speaker's name, a plain line used as a heading.
    LeadIn(_ends_no_sentence, weight=0),
)


def lead_in(pair: Neighbours) -> LeadIn | None:
    """Return the kind of lead-in that the first leaf is to the second, or None if it is none."""
    for row in _ROWS:
        if row.applies(pair):
            return row
    return None
