"""The leaves of a block tree that have text, stored without the tree."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from chunkast.markdown.kinds import CONSTRUCTS, kinds_where
from chunkast.model import Block
from chunkast.text.source_map import make_array

__all__ = ("INSIDE", "Leaves")

# The depth of a position inside a leaf: deeper than any container.
INSIDE: Final = 255
_DEEPEST: Final = INSIDE - 1
_BLANK: Final = kinds_where("blank")


class Leaves:
    """The leaves that have text, in order, each with its own kind and those of its containers.

    The rest of the tree, which has a block for every item and quote, is not kept.
    """

    def __init__(self, text: str, tree: Block) -> None:
        self._blocks: list[Block] = []
        self._kinds: list[tuple[str, ...]] = []
        # The number of containers that contain both a leaf and the one before it.
        self._depths = bytearray()
        # Equal tuples of kinds are the same object, since most chunks have the same kinds.
        self._named: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._collect(tree, (), 0, 0)
        self.starts: Sequence[int] = make_array([leaf.start for leaf in self._blocks], len(text))

    def _collect(self, block: Block, kinds: tuple[str, ...], depth: int, shared: int) -> None:
        """Add the leaves of ``block``, which is inside ``depth`` containers of these ``kinds``.

        ``shared`` is the number of those containers that also contain the leaf before the block.
        """
        inner: dict[str, tuple[str, ...]] = {}
        for child in block.children:
            named = inner.get(child.kind)
            if named is None:
                row = CONSTRUCTS[child.kind]
                left_out = row.unnamed or row.named in kinds
                named = kinds if left_out else (*kinds, row.named)
                named = inner[child.kind] = self._named.setdefault(named, named)
            if child.children:
                before = len(self._blocks)
                self._collect(child, named, depth + (depth < _DEEPEST), shared)
                if len(self._blocks) > before:
                    shared = depth
            elif child.kind not in _BLANK:
                self._blocks.append(child)
                self._kinds.append(named)
                self._depths.append(shared)
                shared = depth

    def around(self, pos: int) -> Block | None:
        """Return the leaf that contains the character at ``pos``, or None."""
        slot = bisect_right(self.starts, pos) - 1
        found = slot >= 0 and pos < self._blocks[slot].end
        return self._blocks[slot] if found else None

    def at(self, pos: int) -> Block | None:
        """Return the leaf that begins at ``pos``, or None."""
        slot = bisect_left(self.starts, pos)
        found = slot < len(self._blocks) and self.starts[slot] == pos
        return self._blocks[slot] if found else None

    def kinds(self, start: int, end: int) -> tuple[str, ...]:
        """Return the kinds of the blocks that overlap ``[start, end)``, in order of appearance."""
        first = max(bisect_left(self.starts, start + 1) - 1, 0)
        touched = dict.fromkeys(self._kinds[first : bisect_left(self.starts, end)])
        kinds = tuple(dict.fromkeys(chain.from_iterable(touched)))
        return self._named.setdefault(kinds, kinds)

    def beginning_at(self, positions: Sequence[int]) -> Iterator[tuple[Block | None, int]]:
        """Yield the leaf that begins at each position, or None, and the depth of the position.

        The depth is the number of containers that contain both the leaf and the text before it.
        Inside a leaf, it is ``INSIDE``, which is greater than any other depth.
        """
        for pos in positions:
            slot = bisect_left(self.starts, pos)
            if slot < len(self._blocks) and self.starts[slot] == pos:
                yield self._blocks[slot], self._depths[slot]
            else:
                yield None, INSIDE
