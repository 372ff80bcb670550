"""Where the chunks of a document's state before an edit stand in its text after the edit.

Most stand there word for word, at another place. Cut out again, they need not be embedded again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import Final, TypeAlias

from chunkast.core.document import Document
from chunkast.core.layout import Layout
from chunkast.core.piece import Piece
from chunkast.model import Chunk
from chunkast.text.spans import content_end, trim_start
from chunkast.text.white_space import is_blank

__all__ = ("Places", "previous_edges", "previous_pieces", "previous_places")

# Of each previous chunk the span of its own text, without its overlap; None if it is gone.
Places: TypeAlias = Sequence[tuple[int, int] | None]

# The first characters of a chunk by which one that was moved is found.
_HEAD: Final = 64


def previous_places(document: Document, previous: Sequence[Chunk]) -> Places:
    """Where each of the ``previous`` chunks stands now; their order is kept, and none overlap."""
    text, trim = document.text, document.config.trim
    texts = [chunk.text[chunk.overlap :] for chunk in previous]
    starts = [chunk.start_index + chunk.overlap for chunk in previous]
    found = _moved(text, document.leaves.starts, texts)
    numbers = range(len(previous))
    # By number where the next that was found so begins.
    limits = [*accumulate((found.get(number, len(text)) for number in numbers[::-1]), min)][::-1]
    # What begins like others stands where what is before it does, or else what is after it.
    last = content_end(text, 0, len(text)) if trim else len(text)
    for order, shift in ((numbers, 0), (numbers[::-1], last - previous[-1].end_index)):
        for number in order:
            place = found.get(number, starts[number] + shift)
            if number in found or (
                0 <= place <= limits[number] - len(texts[number])
                and text.startswith(texts[number], place)
            ):
                found[number] = place
                shift = place - starts[number]  # noqa: PLW2901 - of what comes next
    places: list[tuple[int, int] | None] = [None] * len(previous)
    end = 0
    for number, start in sorted(found.items()):
        if start >= end and texts[number]:
            end = start + len(texts[number])
            places[number] = start, end
    return places


def _moved(text: str, leaf_starts: Sequence[int], texts: Sequence[str]) -> dict[int, int]:
    """By number where those of the ``texts`` stand that begin like no other, as a block begins.

    None of fewer than ``_HEAD`` characters is, except at the end. Of those that changed places it
    is the most that are still in order.
    """
    heads: dict[str, int] = {}
    for number, head in enumerate(each[:_HEAD] for each in texts):
        heads[head] = -1 if head in heads else number
    starts: dict[int, int] = {}
    for start in leaf_starts:
        number = heads.get(text[start : start + _HEAD], -1)
        if number >= 0:
            starts[number] = -1 if number in starts else start
    single = [
        (number, start)
        for number, start in sorted(starts.items())
        if start >= 0 and text.startswith(texts[number], start)
    ]
    return dict(map(single.__getitem__, _ascending([start for _, start in single])))


def _ascending(values: Sequence[int]) -> Iterator[int]:
    """The numbers of ``values``, last to first, that make up a longest row of ascending ones."""
    # By the length of a row less one: the least value that such a row ends with, and its number.
    lowest: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, value in enumerate(values):
        length = bisect_left(lowest, value)
        before.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [value]
        ends[length : length + 1] = [number]
    number = ends[-1] if ends else -1
    while number >= 0:
        yield number
        number = before[number]


def previous_edges(text: str, places: Places) -> list[int]:
    """Where the chunks at ``places`` begin, and the lines at which what is gone begins, sorted."""
    edges: list[int] = []
    for place, following in zip_longest(places, places[1:]):
        if place is not None:
            edges.append(place[0])
            if following is None:
                edges.append(trim_start(text, place[1], len(text)))
    return edges


def previous_pieces(layout: Layout, places: Places) -> list[Piece | None]:
    """The units of each chunk at ``places``; None where these are no whole units.

    Blank units between two of them belong to the first.
    """
    pieces: list[Piece | None] = []
    for place, following in zip_longest(places, places[1:]):
        piece = None
        if place is not None:
            first, last = _unit_of(layout, place[0]), bisect_left(layout.pos, place[1])
            if following is not None and is_blank(layout.text[place[1] : following[0]]):
                last = max(last, _unit_of(layout, following[0]))
            if layout.span(first, last) == place:
                piece = Piece(first, last)
        pieces.append(piece)
    return pieces


def _unit_of(layout: Layout, pos: int) -> int:
    """The unit that ``pos`` lies in."""
    return bisect_right(layout.pos, pos) - 1
