"""Groups the old and new chunks of a document that correspond to each other.

Chunks with the same text are paired first, regardless of their positions. The other chunks are
grouped by position if the document's text is unchanged; otherwise, they are grouped by the
beginnings and ends of their texts and by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Final, TypeAlias

from chunkast.testing.records import ChunkRecord

__all__ = ("Group", "grouped")

# The indices of old chunks, and of new chunks.
Group: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
# A side (0 or 1), and the index of a chunk on that side.
_Node: TypeAlias = tuple[int, int]


@dataclass(slots=True)
class _Side:
    """The old or the new chunks; ``rest`` contains the indices of the chunks not yet paired."""

    chunks: Sequence[ChunkRecord]
    rest: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rest = set(range(len(self.chunks)))

    def by(self, key: Callable[[ChunkRecord], Hashable]) -> dict[Hashable, list[int]]:
        """Return the indices of the unpaired chunks, grouped by the value of ``key``."""
        found: dict[Hashable, list[int]] = {}
        for number in sorted(self.rest):
            found.setdefault(key(self.chunks[number]), []).append(number)
        return found


def grouped(old: Sequence[ChunkRecord], new: Sequence[ChunkRecord], *, same: bool) -> list[Group]:
    """Group the indices of old and new chunks that correspond to each other.

    Each chunk is in exactly one group. ``same`` is true if the old and the new text are equal, so
    that positions can be compared.
    """
    left, right = _Side(old), _Side(new)
    links = [pair for key in _SAME_TEXT for pair in _paired(left, right, key)]
    links += _overlaps(left, right) if same else _alike(left, right)
    return list(_groups((len(old), len(new)), links))


# Keys that equal chunks share, the strictest first.
_SAME_TEXT: Final[Sequence[Callable[[ChunkRecord], Hashable]]] = (
    attrgetter("id", "content_hash", "embed_hash"),
    attrgetter("content_hash", "embed_hash"),
    attrgetter("content_hash"),
)


def _paired(
    left: _Side, right: _Side, key: Callable[[ChunkRecord], Hashable]
) -> Iterator[tuple[int, int]]:
    """Yield the indices of old and new chunks with the same key, in order; mark them as paired."""
    others = right.by(key)
    for value, ones in left.by(key).items():
        for one, two in zip(ones, others.get(value, ()), strict=False):
            left.rest.discard(one)
            right.rest.discard(two)
            yield one, two


def _overlaps(left: _Side, right: _Side) -> Iterator[tuple[int, int]]:
    """Yield the indices of old and new chunks that share characters of the same text.

    The overlap of a chunk with the previous chunk does not count.
    """
    others = right.by(attrgetter("cell"))
    for cell, ones in left.by(attrgetter("cell")).items():
        twos = others.get(cell, [])
        one = two = 0
        while one < len(ones) and two < len(twos):
            was, now = left.chunks[ones[one]].own, right.chunks[twos[two]].own
            if max(was[0], now[0]) < min(was[1], now[1]):
                yield ones[one], twos[two]
            # The chunk that ends first shares nothing with later chunks.
            if was[1] <= now[1]:
                one += 1
            else:
                two += 1


def _alike(left: _Side, right: _Side) -> Iterator[tuple[int, int]]:
    """Yield the indices of old and new chunks that have the same beginning, end or id.

    The shared value must be unique on each side. An id links only chunks that are not linked yet.
    """
    linked: tuple[set[int], set[int]] = (set(), set())
    for key, weak in _LIKENESSES:
        others = right.by(key)
        for value, ones in left.by(key).items():
            twos = others.get(value, [])
            if len(ones) != 1 or len(twos) != 1:
                continue
            if weak and (ones[0] in linked[0] or twos[0] in linked[1]):
                continue
            linked[0].add(ones[0])
            linked[1].add(twos[0])
            yield ones[0], twos[0]


# Keys that similar chunks share; a weak key only links chunks without any other link.
_LIKENESSES: Final[Sequence[tuple[Callable[[ChunkRecord], Hashable], bool]]] = (
    (attrgetter("first"), False),
    (attrgetter("last"), False),
    (attrgetter("id"), True),
)


def _groups(sizes: tuple[int, int], links: Iterable[tuple[int, int]]) -> Iterator[Group]:
    """Yield groups of linked chunks.

    A run of chunks without links joins the group of the chunks before and after the run if both are
    in the same group. Runs on both sides that are between the same two groups form a group; any
    other chunk without a link is a group of its own.
    """
    sets = _joined(((0, one), (1, two)) for one, two in links)
    places: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for side, size in enumerate(sizes):
        nodes = [(side, number) for number in range(size)]
        for linked, run in groupby(nodes, sets.__contains__):
            if linked:
                continue
            alone = list(run)
            before, after = (
                sets.get((side, number)) for number in (alone[0][1] - 1, alone[-1][1] + 1)
            )
            if before is not None and before is after:
                before.update(alone)
            else:
                place = places.setdefault((id(before), id(after)), ([], []))
                place[side].extend(number for _, number in alone)
    for group in {id(group): group for group in sets.values()}.values():
        ones, twos = (tuple(sorted(n for on, n in group if on == side)) for side in (0, 1))
        yield ones, twos
    for olds, news in places.values():
        if olds and news:
            yield tuple(olds), tuple(news)
        else:
            yield from (((one,), ()) for one in olds)
            yield from (((), (two,)) for two in news)


def _joined(links: Iterable[tuple[_Node, _Node]]) -> dict[_Node, set[_Node]]:
    """Return a mapping from each node to the set of all nodes to which it is linked.

    Links may be indirect, and the set includes the node itself.
    """
    sets: dict[_Node, set[_Node]] = {}
    for link in links:
        small, large = sorted((sets.setdefault(node, {node}) for node in link), key=len)
        if small is not large:
            large |= small
            sets.update(dict.fromkeys(small, large))
    return sets
