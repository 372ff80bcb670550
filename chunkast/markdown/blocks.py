"""Create and change blocks, and check quickly for rare constructs."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from operator import is_
from typing import Any, Final, NamedTuple, TypeAlias

from chunkast.model import Block, mutable_type
from chunkast.text.source_map import line_starts
from chunkast.text.white_space import is_blank

__all__ = (
    "NO_DETAILS",
    "Arranged",
    "Details",
    "Pair",
    "Signs",
    "leaf_parts",
    "new_block",
    "rearranged",
    "relabelled",
    "with_children",
)

# A block's level, content and info, and whether it is closed.
Details: TypeAlias = tuple[int, str, str, bool]
NO_DETAILS: Final[Details] = (0, "", "", True)


class Pair(NamedTuple):
    """The span of a pair of tags, from the opening line's start to the closing line's end.

    protected: whether the blocks between the tags are kept together.
    wraps: whether a heading between the tags begins a section.
    """

    start: int
    end: int
    protected: bool
    wraps: bool


# Another tree, and the pairs of tags in it.
Arranged: TypeAlias = tuple[Block, Sequence[Pair]]

# The first characters of a tag, as many as ``Signs.may_open`` needs.
_OPENING = re.compile("<([^<]{0,5})")

_MutableBlock: Final = mutable_type(Block)
_new_object = _MutableBlock.__new__


def new_block(
    kind: str,
    start: int,
    end: int,
    children: tuple[Block, ...] = (),
    details: Details = NO_DETAILS,
) -> Block:
    """Create a block without its constructor, which would take up most of the parse time."""
    block: Any = _new_object(_MutableBlock)
    block.kind = kind
    block.start = start
    block.end = end
    block.children = children
    block.level, block.content, block.info, block.closed = details
    block.__class__ = Block
    return block  # type: ignore[no-any-return]


def relabelled(kind: str, block: Block, children: tuple[Block, ...] = ()) -> Block:
    """Return a copy of ``block`` with this kind and these children."""
    details = block.level, block.content, block.info, block.closed
    return new_block(kind, block.start, block.end, children, details)


def with_children(block: Block, children: Sequence[Block]) -> Block:
    """Return a copy of ``block`` with these children, or ``block`` itself if they are unchanged."""
    if len(children) == len(block.children) and all(map(is_, children, block.children)):
        return block
    return relabelled(block.kind, block, tuple(children))


def rearranged(
    block: Block,
    step: Callable[[list[Block]], list[Block]],
    wanted: Callable[[Block], bool] = lambda _: True,
) -> Block:
    """Return ``block`` with ``step`` applied to the children of each container, inner first.

    Containers inside it that are not ``wanted`` are left as they are.
    """
    children = [
        rearranged(child, step, wanted) if child.children and wanted(child) else child
        for child in block.children
    ]
    return with_children(block, step(children))


def leaf_parts(
    text: str, leaf: Block, spans: Iterable[tuple[int, int, str, str]]
) -> Iterator[Block]:
    """Split a leaf of text or HTML at line boundaries, and yield the new leaves.

    Each of the sorted ``spans`` is the start, end, kind and ``info`` of a new leaf; a span with an
    empty kind yields no leaf. Lines outside the spans keep the leaf's kind.
    """
    content = leaf.content.split("\n") if leaf.content else []
    starts = line_starts(text, leaf.start, leaf.end) if content else []

    def part(kind: str, start: int, end: int, info: str = "") -> Block:
        if not info and is_blank(text[start:end]):
            kind = "blank"
        elif kind == "html" and not text[start:end].lstrip().startswith("<"):
            kind = "paragraph"  # text that only the tag before it made raw HTML
        text_of_part = "\n".join(content[bisect_left(starts, start) : bisect_left(starts, end)])
        return new_block(kind, start, end, (), (leaf.level, text_of_part, info, leaf.closed))

    at = leaf.start
    for start, end, kind, info in spans:
        if start > at:
            yield part(leaf.kind, at, start)
        if kind:
            yield part(kind, start, end, info)
        at = end
    if at < leaf.end:
        yield part(leaf.kind, at, leaf.end)


class Signs:
    """Quick checks for constructs that most documents do not contain.

    kinds: the kinds of the leaves in the tree.
    """

    def __init__(self, text: str, kinds: AbstractSet[str]) -> None:
        self.kinds = kinds
        self._openings = set(_OPENING.findall(text))

    def may_open(self, *names: str) -> bool:
        """Return whether one of ``names`` (at most 5 characters) directly follows a ``<``."""
        return any(opening.startswith(names) for opening in self._openings)
