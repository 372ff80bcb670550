"""The leaves of a block tree that have text, without the tree."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import chain, repeat
from typing import Final

from chunkast.markdown.kinds import CONSTRUCTS, kinds_where
from chunkast.model import Block
from chunkast.text.source_map import positions_in
from chunkast.text.white_space import is_blank

__all__ = ("SILENT", "TEXT", "Leaves")

# Flags of what a leaf or a unit says: whether it is text of a section, as headings and front
# matter are not, and whether it says nothing alone. What says something is TEXT and no more.
TEXT: Final = 1
SILENT: Final = 2

_BLANK: Final = kinds_where("blank")
# Deeper than any container: inside a leaf.
_INSIDE: Final = 255
_DEEPEST: Final = _INSIDE - 1
# The kinds of blocks that are not text of a section: they go with what follows, as headings do.
_HEADING_LIKE_KINDS: Final = kinds_where("heads") | kinds_where("prefaces")
_SILENT_KINDS: Final = kinds_where("silent")
_PLAIN: Final = kinds_where("plain")
# How a paragraph begins that may show images alone, and one that does.
_IMAGE_BEGINNINGS: Final = ("![", "[![")
_IMAGE = r"!\[[^\[\]]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])?"
_LINKED = rf"\[{_IMAGE}\](?:\([^()\n]*\)|\[[^\[\]\n]*\])?"
_IMAGES = re.compile(rf"(?:(?:{_IMAGE}|{_LINKED})\s*)+")


class Leaves:
    """The leaves with text in order, and the kinds of each and of the containers around it.

    The tree above them, which has a block for every item and quote, is not kept.
    """

    __slots__ = ("_blocks", "_depths", "_ends", "_inner", "_kinds", "_named", "_says", "starts")

    def __init__(self, text: str, tree: Block) -> None:
        self._blocks: list[Block] = []
        self._kinds: list[tuple[str, ...]] = []
        # How many containers hold both a leaf and the one before it.
        self._depths = bytearray()
        # Equal kinds, which most chunks have, are the same object.
        self._named: dict[tuple[str, ...], tuple[str, ...]] = {}
        # By the kinds around a block and its own: all of these that have a name.
        self._inner: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}
        self._collect(tree, (), 0, 0)
        keep = positions_in(text, len(self._blocks))
        self.starts: Sequence[int] = keep([leaf.start for leaf in self._blocks])
        self._ends = keep([leaf.end for leaf in self._blocks])
        self._says = bytearray([_says(text, leaf) for leaf in self._blocks])

    def _collect(self, block: Block, kinds: tuple[str, ...], depth: int, shared: int) -> None:
        """Add the leaves of ``block``; ``kinds`` are those of the ``depth`` containers around it.

        ``shared`` of them hold the leaf before it as well.
        """
        inner = self._inner.setdefault(kinds, {})
        blocks = self._blocks
        for child in block.children:
            kind = child.kind
            named = inner.get(kind)
            if named is None:
                row = CONSTRUCTS[kind]
                left_out = row.unnamed or row.named in kinds
                named = kinds if left_out else (*kinds, row.named)
                named = inner[kind] = self._named.setdefault(named, named)
            if child.children:
                before = len(blocks)
                self._collect(child, named, depth + (depth < _DEEPEST), shared)
                if len(blocks) > before:
                    shared = depth
            elif kind not in _BLANK:
                blocks.append(child)
                self._kinds.append(named)
                self._depths.append(shared)
                shared = depth

    def around(self, pos: int) -> Block | None:
        """The leaf that contains the character at ``pos``."""
        slot = bisect_right(self.starts, pos) - 1
        found = slot >= 0 and pos < self._blocks[slot].end
        return self._blocks[slot] if found else None

    def at(self, pos: int) -> Block | None:
        """The leaf that begins at ``pos``."""
        slot = bisect_left(self.starts, pos)
        found = slot < len(self._blocks) and self.starts[slot] == pos
        return self._blocks[slot] if found else None

    def kinds(self, start: int, end: int) -> tuple[str, ...]:
        """The kinds of the blocks that ``[start, end)`` touches, in order of appearance."""
        first = max(bisect_left(self.starts, start + 1) - 1, 0)
        touched = dict.fromkeys(self._kinds[first : bisect_left(self.starts, end)])
        kinds = tuple(dict.fromkeys(chain.from_iterable(touched)))
        return self._named.setdefault(kinds, kinds)

    def depth(self, pos: int) -> int:
        """How many containers hold both what begins at ``pos`` and what precedes it.

        Inside a leaf it is more than anywhere else.
        """
        slot = bisect_left(self.starts, pos)
        begins = slot < len(self._depths) and self.starts[slot] == pos
        return self._depths[slot] if begins else _INSIDE

    def says(self, text: str, pos: Sequence[int]) -> bytearray:
        """What each span between neighbours in ``pos`` says, by the flags ``TEXT`` and ``SILENT``."""
        found = bytearray()
        begins, ends, says = self.starts, self._ends, self._says
        slots = map(bisect_left, repeat(begins), pos)
        for start, end, slot in zip(pos, pos[1:], slots, strict=False):
            at, said = start, 0
            if slot < len(says) and begins[slot] == start:
                said = says[slot]
                if said == TEXT:
                    found.append(TEXT)
                    continue
                at = ends[slot]
                if at > end:  # a part of it
                    said &= TEXT
            found.append(said if is_blank(text[at:end]) else TEXT)
        return found


def _says(text: str, leaf: Block) -> int:
    """The flags of a leaf; a paragraph of images alone says nothing either."""
    kind = leaf.kind
    silent = kind in _SILENT_KINDS or (
        kind in _PLAIN
        and text.startswith(_IMAGE_BEGINNINGS, leaf.start)
        and _IMAGES.fullmatch(text, leaf.start, leaf.end) is not None
    )
    return TEXT * (kind not in _HEADING_LIKE_KINDS) | SILENT * silent
