"""Group the old and new chunks of a document that correspond to each other.

Chunks with the same text are paired first, wherever they are. The others are linked if they share
characters of the same text or, in an edited document, sentences and lines that occur only once.
All steps take linear time, unlike a ``difflib`` comparison of two long lists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from chunkast.testing.records import ChunkRecord

__all__ = ("Group", "grouped")

# The indices of old chunks, and of new chunks.
Group: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
_Link: TypeAlias = tuple[int, int]
# A line or a sentence, roughly.
_PASSAGE: Final = re.compile(r"[^\r\n.!?\u3002\uff01\uff1f]+")


def grouped(old: Sequence[ChunkRecord], new: Sequence[ChunkRecord], *, same: bool) -> list[Group]:
    """Group the indices of old and new chunks that correspond, in the order of the new chunks.

    Each chunk is in exactly one group. ``same`` is true if the old and the new text are equal, so
    that positions can be compared.
    """
    sides = old, new
    rest = [list(range(len(side))) for side in sides]
    texts = [[chunk.content_hash for chunk in side] for side in sides]
    with_ids = [
        [(chunk.id, text) for chunk, text in zip(side, found, strict=True)]
        for side, found in zip(sides, texts, strict=True)
    ]
    links = [*_paired(with_ids, rest), *_paired(texts, rest)]
    # The positions in a notebook are relative to a cell.
    by_position = same and not any(chunk.cell for chunk in old)
    links += (_overlapping if by_position else _sharing)(sides, rest)
    return sorted(_groups(links, rest), key=_place)


def _place(group: Group) -> tuple[int, bool]:
    olds, news = group
    return (*news, *olds)[0], bool(news)


def _paired(keys: Sequence[Sequence[Hashable]], rest: Sequence[list[int]]) -> list[_Link]:
    """Return pairs of old and new chunks with the same key, in order; remove them from ``rest``."""
    waiting: dict[Hashable, list[int]] = {}
    for number in reversed(rest[1]):
        waiting.setdefault(keys[1][number], []).append(number)
    links = [(one, two.pop()) for one in rest[0] if (two := waiting.get(keys[0][one]))]
    for side, numbers in enumerate(rest):
        linked = {link[side] for link in links}
        numbers[:] = [number for number in numbers if number not in linked]
    return links


def _overlapping(
    sides: Sequence[Sequence[ChunkRecord]], rest: Sequence[list[int]]
) -> Iterator[_Link]:
    """Yield the old and new chunks that share characters, overlaps with other chunks excluded."""
    one = two = 0
    while one < len(rest[0]) and two < len(rest[1]):
        was, now = sides[0][rest[0][one]], sides[1][rest[1][two]]
        start = max(was.start_index + was.overlap, now.start_index + now.overlap)
        if start < min(was.end_index, now.end_index):
            yield rest[0][one], rest[1][two]
        # The chunk that ends first shares nothing with later chunks.
        if was.end_index <= now.end_index:
            one += 1
        else:
            two += 1


def _sharing(sides: Sequence[Sequence[ChunkRecord]], rest: Sequence[list[int]]) -> Iterator[_Link]:
    """Yield each chunk with the chunk of the other side that has the most passages of its text.

    An id counts as a passage. Passages that several chunks of a side have do not count.
    """
    olds, news = map(_owners, sides, rest)
    counts = Counter((olds[key], news[key]) for key in olds.keys() & news.keys())
    linked: set[tuple[int, int]] = set()
    for link in sorted(counts, key=lambda link: (-counts[link], sum(link), min(link))):
        nodes = set(enumerate(link))
        if not nodes <= linked:
            linked |= nodes
            yield link


def _owners(chunks: Sequence[ChunkRecord], rest: Iterable[int]) -> dict[str, int]:
    """Return the index of the only chunk with each passage."""
    found: dict[str, int | None] = {}
    for number in rest:
        chunk = chunks[number]
        own = chunk.text[chunk.overlap :]
        for passage in (chunk.id, *map(str.strip, _PASSAGE.findall(own))):
            found[passage] = number if found.get(passage, number) == number else None
    return {passage: number for passage, number in found.items() if number is not None}


def _groups(links: Iterable[_Link], rest: Sequence[Iterable[int]]) -> Iterator[Group]:
    """Yield groups of linked chunks, and each chunk of ``rest`` without a link on its own."""
    sets: dict[tuple[int, int], set[tuple[int, int]]] = {
        (side, number): {(side, number)} for side, numbers in enumerate(rest) for number in numbers
    }
    for link in links:
        nodes = list(enumerate(link))
        small, large = sorted((sets.setdefault(node, {node}) for node in nodes), key=len)
        if small is not large:
            large |= small
            sets.update(dict.fromkeys(small, large))
    for group in {id(group): group for group in sets.values()}.values():
        olds, news = (tuple(sorted(n for on, n in group if on == side)) for side in (0, 1))
        yield olds, news
