"""Where the chunks of an earlier state are found in a text, and the units that these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunk, Chunker, chunk
from chunkast.core.document import Document
from chunkast.core.leaves import Leaves
from chunkast.core.previous import previous_edges, previous_pieces, previous_places
from tests.units import row

ANY_CHUNK = chunk("Text.")[0]
# More than the characters that a chunk is looked for by.
LONG = "These words are how each of two paragraphs begins, so that none of them tells which it is:"
REST = "What follows is the same in all of them, and makes them as long as chunks are."


def made(start: int, text: str, overlap: int = 0) -> Chunk:
    end = start + len(text)
    return replace(ANY_CHUNK, text=text, start_index=start, end_index=end, overlap=overlap)


def in_a_row(texts: Sequence[str]) -> list[Chunk]:
    """Chunks of paragraphs in order, a blank line between two of them."""
    chunks: list[Chunk] = []
    for text in texts:
        chunks.append(made(chunks[-1].end_index + 2 if chunks else 0, text))
    return chunks


def found(
    text: str, previous: Sequence[Chunk], *, trim: bool = True
) -> list[tuple[int, int] | None]:
    chunker = Chunker(trim=trim)
    analysis = chunker.analyze(text)
    leaves = Leaves(text, analysis.blocks)
    document = Document.of(analysis, leaves, chunker.config, chunker.counter)
    return [*previous_places(document, previous)]


# The paragraphs before and after an edit, and where in the latter each of the former is.
MOVES: dict[str, tuple[list[str], list[str], list[int | None]]] = {
    "nothing moved": (["One.", "Two."], ["One.", "Two."], [0, 1]),
    "something was put before it": (["One.", "Two."], ["New.", "One.", "Two."], [1, 2]),
    "one is gone": (["One.", "Two.", "Three."], ["One.", "Three."], [0, None, 1]),
    "all are gone": (["One.", "Two."], ["New."], [None, None]),
    "one is another now": (["One two.", "Two."], ["One.", "Two."], [None, 1]),
    "it only begins alike": (
        [f"{LONG} one.", "Two.", "Three."], ["New.", f"{LONG} another.", "Two."], [None, 2, None],
    ),
    "what comes last moved to the beginning": (
        ["One.", "Two.", "Three.", "Four."], ["Four.", "One.", "Two.", "Three."], [1, 2, 3, None],
    ),
    "of what changed places most are still in order": (
        ["0.", "1.", "2.", "3.", "4."], ["3.", "1.", "4.", "2.", "0."], [None, None, None, 0, 2],
    ),
    "one of two is gone": (
        ["Same.", "One.", "Same."], ["Some.", "Same.", "New.", "One.", "New."], [None, 3, None],
    ),
    "equal ones after what moved": (
        ["One.", "Same.", "Same.", "x"], ["New.", "One.", "Same.", "Same.", "y"], [1, 2, 3, None],
    ),
    "equal ones before what moved": (
        ["x", "Same.", "Same.", "One."], ["New.", "y", "Same.", "Same.", "One."], [None, 2, 3, 4],
    ),
    "equal ones before the end": (
        ["Same.", "Same.", "Same."], ["New.", "Same.", "Same.", "Same."], [1, 2, 3],
    ),
    "equal ones at the beginning": (
        ["Same.", "Same.", "x"], ["Same.", "Same.", "y", "z"], [0, 1, None],
    ),
    "equal ones on both sides": (
        ["Same.", "Same.", "One.", "Same.", "Same."],
        ["Same.", "Same.", "New.", "One.", "New.", "Same.", "Same."], [0, 1, 3, 5, 6],
    ),
    "one became two": (["One.", "Two."], ["One.", "One.", "Two."], [0, 2]),
    "what begins alike": (
        [f"{LONG} one.", f"{LONG} two."], ["New.", f"{LONG} one.", f"{LONG} two."], [1, 2],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "wanted"), MOVES.values(), ids=MOVES)
def test_where_chunks_stand_after_an_edit(
    before: list[str], after: list[str], wanted: list[int | None]
) -> None:
    paragraphs = [f"{each} {REST}" for each in after]
    spans = [(each.start_index, each.end_index) for each in in_a_row(paragraphs)]
    previous = in_a_row([f"{each} {REST}" for each in before])
    places = [None if number is None else spans[number] for number in wanted]
    assert found("\n\n".join(paragraphs) + "\n\n\n", previous) == places


@given(st.permutations(range(9)))
def test_of_what_changed_places_the_most_are_found(order: list[int]) -> None:
    after = [f"Paragraph {number}. {REST}" for number in order]
    places = found("\n\n".join(after) + "\n", in_a_row(sorted(after)))
    longest: list[int] = []
    for at, number in enumerate(order):
        before = (longest[place] for place in range(at) if order[place] < number)
        longest.append(1 + max(before, default=0))
    kept = [place for place in places if place is not None]
    assert len(kept) == max(longest)
    assert kept == sorted(kept)


def test_what_is_not_trimmed_is_found_from_its_end() -> None:
    chunks = [made(0, "Same.\n\n"), made(7, "Same.\n\n")]
    assert found("New.\n\nSame.\n\nSame.\n\n", chunks, trim=False) == [(6, 13), (13, 20)]


def test_white_space_at_the_end_changes_nothing() -> None:
    for end in ("", "\n", "\n\n \n"):
        assert found(f"New.\n\nSame.\n\nSame.{end}", in_a_row(["Same."] * 2)) == [(6, 11), (13, 18)]


def test_it_is_looked_for_by_its_own_text_without_overlap() -> None:
    text = "Same.\n\nSame.\n\nSame.\n\nEnd.\n"
    chunks = [made(0, "Same."), made(0, "Same.\n\nSame.", 7), made(7, "Same.\n\nSame.", 7)]
    assert found(text, chunks) == [(0, 5), (7, 12), (14, 19)]


def test_no_two_overlap() -> None:
    chunks = [made(0, "One two."), made(4, "two."), made(10, "")]
    assert found("One two.\n\nThree.\n", chunks) == [(0, 8), None, None]


def test_edges_are_where_chunks_begin_and_where_what_is_gone_began() -> None:
    text = "One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.\n"
    spans = [(each.start_index, each.end_index) for each in in_a_row(text.split())]
    one, two, three, four, five = spans
    assert previous_edges(text, spans) == [0, 6, 12, 20, 27, len(text)]
    assert previous_edges(text, [one, None, three, four, None]) == [0, 6, 12, 20, 27]
    assert previous_edges(text, [None, two, None, None, five]) == [6, 12, 27, len(text)]
    assert previous_edges(text, [None]) == []


def test_units_of_chunks() -> None:
    layout = row([2, "\n", 2, 2], 9)
    assert list(layout.pos) == [0, 4, 5, 9, 13]
    assert previous_pieces(layout, [(0, 2), (5, 7), (9, 11)]) == [(0, 2), (2, 3), (3, 4)]
    # Blank units after what is gone, or before it, belong to none.
    assert previous_pieces(layout, [(0, 2), None, (9, 11)]) == [(0, 1), None, (3, 4)]
    assert previous_pieces(layout, [(0, 2), (9, 11)]) == [(0, 1), (3, 4)]
    assert previous_pieces(layout, [(0, 7), (9, 11)]) == [(0, 3), (3, 4)]
    assert previous_pieces(layout, [(0, 2), (5, 11)]) == [(0, 2), (2, 4)]
    # A part of a unit is none.
    assert previous_pieces(layout, [(0, 1), (6, 7), (9, 11)]) == [None, None, (3, 4)]
