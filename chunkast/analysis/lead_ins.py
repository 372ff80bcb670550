"""Lead-ins: text that introduces what follows, and stays with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from chunkast.markdown.kinds import Construct
from chunkast.model import Block

__all__ = ("LeadIn", "Neighbours", "lead_in")

_ENDS = (":", "：")
# Marks that may surround a lead-in, and marks that may follow the last word of one without a colon.
_EMPHASIS_MARKS = "*_"
_WORD_MARKS = "*_`)"


class Neighbours(NamedTuple):
    """Two neighbouring leaves.

    text: the document.
    leaf, row: the first leaf and its row in the table of constructs.
    next_row: the row of the second leaf.
    opens: the first leaf is the line that opens the container or tag around the second.
    clings: the second leaf stays with the first.
    ended: a container ended between them.
    introducible: a block that a lead-in may introduce begins at the second leaf.
    child: a list begins at the second leaf, and the item around the list at a leaf before.
    """

    text: str
    leaf: Block
    row: Construct
    next_row: Construct
    opens: bool
    clings: bool
    ended: bool
    introducible: bool
    child: bool

    @property
    def line(self) -> str:
        """The first leaf without white space at its end."""
        return self.text[self.leaf.start : self.leaf.end].rstrip()

    @property
    def introduced(self) -> bool:
        """True if the first leaf may introduce the second with its last line."""
        return self.introducible and self.row.leads


class LeadIn(NamedTuple):
    """A kind of lead-in.

    applies: returns whether the first of two leaves is such a lead-in to the second.
    scored: the break point between the two has the score of a lead-in. If false, it keeps the score
        of the block that begins there, and only cutting treats the two as a lead-in and its text.
    """

    applies: Callable[[Neighbours], bool]
    scored: bool = True


def _ends_with_colon(pair: Neighbours) -> bool:
    return pair.introduced and pair.line.rstrip(_EMPHASIS_MARKS).endswith(_ENDS)


def _continues(pair: Neighbours) -> bool:
    """Return whether several words without a full stop continue in the second leaf.

    They do not if they end a list or another container.
    """
    if not pair.introduced or pair.ended or not pair.next_row.introducible:
        return False
    line = pair.line
    return " " in line and line.rstrip(_WORD_MARKS)[-1:].isalnum()


_ROWS: Final = (
    # A caption before its table, a term, a label, a bold line.
    LeadIn(lambda pair: pair.row.heads),
    # The line that opens a container or tag.
    LeadIn(lambda pair: pair.opens),
    # The text before a caption below its table, a closing tag, a definition.
    LeadIn(lambda pair: pair.clings),
    LeadIn(_ends_with_colon),
    LeadIn(_continues),
    # An item before the list inside it.
    LeadIn(lambda pair: pair.child and not pair.ended, scored=False),
)


def lead_in(pair: Neighbours) -> LeadIn | None:
    """Return the kind of lead-in that the first of two leaves is to the second, or None."""
    for row in _ROWS:
        if row.applies(pair):
            return row
    return None
