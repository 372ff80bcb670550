"""Find lead-ins: text that introduces the next block and stays with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple
from unicodedata import east_asian_width

from chunkast.markdown.kinds import CONSTRUCTS, Construct
from chunkast.model import Block
from chunkast.text.sentences import ends_sentence
from chunkast.text.turns import TURN

__all__ = ("FULL_STOPS", "LABEL", "LeadIn", "Neighbours", "after_items", "lead_in")

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
# The number of an item, and the label of a part of a law or contract, with at most six words.
_NUMBER = re.compile(r"[ \t>]*(\d{1,9})[.)]")
_LABEL = re.compile(
    r"(?:(?i:article|section|part|chapter|kapitel|artikel)\s+(?:\d\S*|[IVXLC]+|[A-Z])\b|§+\s*\d\S*"
    r"|第\s*[\d一二三四五六七八九十百千零〇]+\s*[条條章节節編编部])\S?(?:[ \t]+\S+){0,4}"
)
# The last line of HTML that ends with a term, or with the opening tag of its definition.
_TERM = re.compile(r"<dt\b[^\r\n]*</dt>\Z|<d[dt]\b[^<>]*>\Z", re.IGNORECASE)
# Only images.
_IMAGES = re.compile(r"[ \t>]*(?:(?:\[?!\[[^\]]*\]\([^()]*\)(?:\]\([^()]*\))?|<img[^<>]*>)\s*)+")
# The blocks that may be introduced by a colon, but not by a short line without one.
_NEVER_LED_IN = frozenset({"html", "jsx", "directive", "contents", "tool-call", "comment"})


class Neighbours(NamedTuple):
    """Two adjacent leaves.

    text: the document.
    leaf, row: the first leaf and its row in the table of constructs.
    next_leaf, next_row: the second leaf and its row.
    direct, next_direct: whether the first and the second leaf are outside any item, quote or note,
        where a heading would begin a section.
    opens: whether the first leaf is the line that opens the container or tag around the second.
    clings: whether the second leaf stays with the first.
    ended: whether a container ends between them.
    introducible: whether a block that a lead-in may introduce begins at the second leaf.
    child: whether a list begins at the second leaf, inside an item that began earlier.
    kept: whether the second leaf stays with the list before it.
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
    kept: bool

    @property
    def line(self) -> str:
        """The text of the first leaf, without trailing white space."""
        return self.text[self.leaf.start : self.leaf.end].rstrip()


class LeadIn(NamedTuple):
    """A kind of lead-in.

    applies: returns whether the first of two leaves is a lead-in of this kind to the second.
    weight: the highest score of the break point between the two, as a share of the score "lead-in".
        With 0, the break point keeps its own score, but the cutter still treats the first leaf as a
        lead-in.
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
    if _has_colon(line):
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

    Of several such lines only the last does. A line with a colon goes on in the next paragraph.
    """
    following = pair.next_row
    beside = following.plain and pair.next_direct
    if pair.ended or not pair.row.plain:
        return False
    if (following.plain or following.heads) and _has_colon(pair.line):
        return not _has_colon(pair.text[pair.next_leaf.start : pair.next_leaf.end])
    if not (pair.direct and (beside or pair.introducible)) or following.heads:
        return False
    if following.kind in _NEVER_LED_IN or not _short_line(pair.text, pair.leaf):
        return False
    return not (beside and _short_line(pair.text, pair.next_leaf))


def _has_colon(text: str) -> bool:
    return text.rstrip().rstrip(_EMPHASIS_MARKS).endswith(_ENDS)


def _is_label(pair: Neighbours) -> bool:
    """Return whether a line of capitals, or a label such as "Article 3", is above a short line."""
    beside = pair.direct and pair.next_direct and pair.row.plain and pair.next_row.plain
    if not beside or pair.ended or pair.leaf.end - pair.leaf.start > _MOST:
        return False
    line = pair.line.strip(f" \t>{_EMPHASIS_MARKS}")
    if "\n" in line or not (line.isupper() or _LABEL.fullmatch(line)) or TURN.match(line):
        return False
    return all(_short_line(pair.text, leaf) for leaf in (pair.leaf, pair.next_leaf))


def after_items(text: str, blocks: Sequence[Block]) -> Iterator[int]:
    """Yield the starts of images and paragraphs in ``blocks`` that belong to the list item above.

    An image belongs to the item if the list has only one, or if the next list continues its
    numbers: ``1. Open it.``, image, ``2. Go in.`` A paragraph belongs to a short, numbered item
    that is alone in its list, if the section has another such list with the number before or after.
    """
    known: dict[int, int] = {}
    last = 0
    for place in [n for n, block in enumerate(blocks) if block.kind == "list" and block.children]:
        before, rest = blocks[place], blocks[place + 1 : place + 5]
        after = [block for block in rest if not CONSTRUCTS[block.kind].blank][:2]
        if not after:
            break
        if len(before.children) > 1 and after[-1].kind != "list":
            continue
        numbers = [_NUMBER.match(text, each.start) for each in (before.children[-1], after[-1])]
        number, later = (int(match[1]) if match else -1 for match in numbers)
        block, single = after[0], len(before.children) == 1
        if _IMAGES.fullmatch(text, block.start, block.end):
            if single or (after[-1].kind == "list" and -1 < number == later - 1):
                yield block.start
        elif single and CONSTRUCTS[block.kind].plain and _NUMBER.match(_short_line(text, before)):
            if any(CONSTRUCTS[each.kind].section for each in blocks[last:place]):
                known.clear()
            beside = [known[other] for other in (number - 1, number + 1) if other in known]
            last, known[number] = place, block.start
            yield from (*beside, block.start) if beside else ()


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


# The label of a part, above the title of the part.
LABEL: Final = LeadIn(_is_label, weight=0)
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
    # An item before its image, or the text that it heads.
    LeadIn(lambda pair: pair.kept, weight=0),
    # A speaker's name, a plain line used as a heading.
    LeadIn(_ends_no_sentence, weight=0),
    # An opening tag of a definition before its text, a term before its definition.
    LeadIn(lambda p: p.row.named == "html" and bool(_TERM.search(p.line[-_MOST:])), weight=0),
    LABEL,
)


def lead_in(pair: Neighbours) -> LeadIn | None:
    """Return the kind of lead-in that the first leaf is to the second, or None if it is not one."""
    for row in _ROWS:
        if row.applies(pair):
            return row
    return None
