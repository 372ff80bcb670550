"""Overlap on rows of units: which end of a piece the next one repeats, and its room."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker, ProtectedRegion
from chunkast.core.divide import Divider
from chunkast.core.document import Document
from chunkast.core.layout import Layout
from chunkast.core.leaves import Leaves
from chunkast.core.overlap import Overlap, sentences_of
from chunkast.core.piece import Piece
from chunkast.core.refine import refine
from chunkast.core.sections import sections_of
from chunkast.model import Heading
from chunkast.tokens import Counter
from tests.units import W_ESTIMATED, Unit, W, config, nothing, row, tokens


def overlap_of(
    units: Sequence[Unit],
    overlap: int,
    *,
    sentences: Mapping[int, list[int]] | None = None,
    budget: int = 9_999,
    headed: Sequence[int] = (),
    **options: Any,
) -> Overlap:
    """The overlap of a row; ``sentences`` are the tokens in a unit before each later sentence.

    ``headed`` are the units that begin sections.
    """
    layout = row(units, budget, overlap=overlap, **options)
    headings = [Heading(layout.pos[unit], layout.pos[unit + 1], 1, "w", ("w",)) for unit in headed]

    def starts(unit: int) -> list[int]:
        return [layout.pos[unit] + before for before in (sentences or {}).get(unit, [])]

    return Overlap(layout, sections_of(headings, layout), starts)


def begun(overlap: Overlap, previous: tuple[int, int], piece: tuple[int, int], room: int) -> int:
    """How many tokens ``piece`` repeats of ``previous``."""
    layout = overlap._layout
    start, count = overlap.start(Piece(*previous), Piece(*piece), room)
    end = layout.end(piece[1])
    assert count == tokens(layout.text[start:end])
    return count - layout.count(*piece)


def reserved(overlap: Overlap, first: int, last: int) -> int:
    return overlap.reserve(Piece(first, last))


def test_a_tail_is_the_most_units_that_the_overlap_s_own_budget_holds() -> None:
    overlap = overlap_of([5, 3, 2, 2, 4], 4)
    assert begun(overlap, (0, 4), (4, 5), 99) == 4
    # A token more than it has: words may join after it.
    assert reserved(overlap, 0, 4) == 5
    # Five are not within four.
    assert reserved(overlap, 0, 3) == 3
    assert begun(overlap, (0, 3), (3, 5), 99) == 2
    assert reserved(overlap, 0, 2) == 4
    # Asked again, the same.
    assert reserved(overlap, 0, 4) == 5


def test_a_tail_is_never_the_whole_piece() -> None:
    overlap = overlap_of([2, 1, 1, 4], 9)
    assert reserved(overlap, 0, 3) == 3
    assert reserved(overlap, 0, 1) == 0
    assert begun(overlap, (0, 1), (1, 3), 99) == 0
    # Not the whole piece without the blank lines that it begins with either.
    assert reserved(overlap_of(["\n", 2, 4], 9), 0, 2) == 0


def test_without_a_budget_there_is_none() -> None:
    overlap = overlap_of([0, 0, 2], 0, sentences={1: [0]})
    assert reserved(overlap, 0, 2) == 0
    assert begun(overlap, (0, 2), (2, 3), 99) == 0
    # A tail without a token is one, with a budget.
    assert reserved(overlap_of(["x\n", "y\n", 2], 1), 0, 2) == 1


def test_a_shorter_tail_is_taken_where_the_longest_leaves_no_room() -> None:
    overlap = overlap_of([5, 1, 2, 3, 6], 6)
    for room, repeated in ((12, 6), (11, 5), (10, 3), (9, 3), (8, 0), (6, 0), (0, 0)):
        assert begun(overlap, (0, 4), (4, 5), room) == repeated


@pytest.mark.parametrize("kind", ["cell", "line", "blank-line", "statement", "word", "grapheme"])
def test_no_tail_begins_inside_a_divided_block(kind: str) -> None:
    overlap = overlap_of([5, 2, 1, 6], 6, kinds={2: kind}, sentences={2: [0]})
    assert reserved(overlap, 0, 3) == 4
    assert begun(overlap, (0, 3), (3, 4), 8) == 0
    assert reserved(overlap_of([5, 2, 1, 6], 2, kinds={2: kind}), 0, 3) == 0


@pytest.mark.parametrize("kind", ["lead-in", "orphan-heading"])
def test_no_tail_begins_after_what_belongs_to_it_but_a_sentence_may(kind: str) -> None:
    overlap = overlap_of([5, 4, 6], 4, kinds={1: kind}, sentences={1: [1]})
    assert begun(overlap, (0, 2), (2, 3), 99) == 3
    assert reserved(overlap_of([5, 4, 6], 4, kinds={1: kind}), 0, 2) == 0


@pytest.mark.parametrize("counter", [W, W_ESTIMATED])
def test_of_a_unit_that_is_too_long_later_sentences_fit(counter: Counter) -> None:
    sentences = {0: [2, 5], 1: [3, 4]}
    overlap = overlap_of([6, 5, 6], 2, sentences=sentences, counter=counter)
    assert begun(overlap, (0, 2), (2, 3), 99) == 2
    assert begun(overlap, (0, 2), (2, 3), 7) == 1
    assert begun(overlap, (0, 2), (2, 3), 6) == 0
    # Those of the unit before it are longer still; those of a piece's first unit may fit.
    assert begun(overlap_of([6, 5, 6], 6, sentences=sentences), (0, 2), (2, 3), 99) == 6
    assert begun(overlap_of([6, 6], 4, sentences=sentences), (0, 1), (1, 2), 99) == 4
    assert begun(overlap_of([6, 6], 3, sentences=sentences), (0, 1), (1, 2), 99) == 1
    # The piece itself begins with none of its sentences.
    assert begun(overlap_of([3, 6], 9, sentences={0: [0]}), (0, 1), (1, 2), 99) == 0


def test_no_tail_begins_in_the_white_space_at_a_piece_s_end() -> None:
    overlap = overlap_of([2, 3, "\n\n", "\n", 2], 4, sentences={1: [3], 2: [0]})
    assert reserved(overlap, 0, 4) == 4
    assert begun(overlap, (0, 4), (4, 5), 4) == 0
    assert overlap.start(Piece(0, 4), Piece(4, 5), 4)[0] == overlap._layout.start(4)


def test_a_longer_tail_without_more_tokens_is_longer() -> None:
    overlap = overlap_of([5, "x\n", 4, 6], 4)
    assert overlap.start(Piece(0, 3), Piece(3, 4), 99)[0] == overlap._layout.start(1)


def test_nothing_is_repeated_of_another_section_or_before_one() -> None:
    overlap = overlap_of([5, 1, 1, 1, 1, 4], 9, headed=[2, 5])
    # Of the section that begins with unit 2 all but its beginning.
    assert begun(overlap, (0, 5), (5, 6), 99) == 2
    assert reserved(overlap, 0, 5) == 0
    assert reserved(overlap, 0, 4) == 2
    assert reserved(overlap, 0, 3) == 0
    assert reserved(overlap, 0, 2) == 0


def test_a_piece_leaves_room_wherever_the_one_before_it_begins() -> None:
    overlap = overlap_of([1, 2, 3, 1, 5, 5], 4, budget=10)
    # Before the first piece there is nothing, before unit 4 at most 4 tokens and one.
    assert overlap.leaves_room(0, 4)
    assert overlap.leaves_room(4, 5)
    assert not overlap.leaves_room(4, 6)
    # Units of 6 tokens are not repeated, so that no room is taken.
    assert overlap_of([1, 6, 5, 5], 4, budget=10).leaves_room(2, 4)
    assert not overlap_of([1, 6, 5, 5], 6, budget=10).leaves_room(2, 4)
    assert not overlap_of([1, 6, 5, 6], 4, budget=10).leaves_room(2, 4)
    # Context takes some of it, the longest tail and the token after it all that is left.
    for context, fits in ((0, True), (2, True), (3, False)):
        overlap = overlap_of([1, 3, 4, 9], 3, budget=10, context=lambda _, size=context: size)
        assert overlap.leaves_room(2, 3) is fits
    # A section has nothing before it, without a budget nothing has.
    assert overlap_of([1, 4, 5, 5], 4, budget=10, headed=[2]).leaves_room(2, 4)
    assert not overlap_of([1, 4, 5, 5], 4, budget=10).leaves_room(2, 4)
    assert overlap_of([1, 4, 5, 5], 0, budget=10).leaves_room(2, 4)


@pytest.mark.parametrize("scale", [1, 6])
@given(
    st.lists(st.integers(0, 6), min_size=4, max_size=20),
    st.integers(0, 9),
    st.integers(0, 6),
    st.data(),
)
def test_what_leaves_room_has_it(
    scale: int, sizes: list[int], budget: int, context: int, data: st.DataObject
) -> None:
    # Context takes at most half of the budget.
    overlap = overlap_of(
        ["x" + "w" * size * scale + "\n\n" for size in sizes],
        budget * scale,
        budget=12 * scale,
        context=lambda _: context * scale,
    )
    layout = overlap._layout
    for first, last in combinations(range(1, len(sizes) + 1), 2):
        if overlap.leaves_room(first, last):
            begin = data.draw(st.integers(0, first - 1))
            assert layout.fits(first, last, reserved(overlap, begin, first))
        else:
            assert not layout.fits(first, last, reserved(overlap, 0, first))


KINDS = st.sampled_from(["paragraph", "paragraph", "line", "lead-in"])


@given(
    st.lists(st.tuples(st.integers(0, 3), KINDS), min_size=3, max_size=30),
    st.integers(0, 9),
    st.integers(0, 20),
    st.sampled_from([W, W_ESTIMATED]),
    st.data(),
)
def test_the_longest_tail_that_fits(
    body: list[tuple[int, str]], budget: int, room: int, counter: Counter, data: st.DataObject
) -> None:
    units: list[Unit] = ["x" + "w" * size + "\n\n" for size, _ in body]
    kinds = {unit: kind for unit, (_, kind) in enumerate(body)}
    first = data.draw(st.integers(0, len(body) - 2))
    last = data.draw(st.integers(first + 1, len(body) - 1))
    sizes = [size for size, _ in body]
    tails = [
        sum(sizes[unit:last])
        for unit in range(first + 1, last)
        if kinds[unit] == "paragraph" and sum(sizes[unit:last]) <= budget
    ]
    overlap = overlap_of(units, budget, kinds=kinds, counter=counter)
    assert reserved(overlap, first, last) == (max(tails) + 1 if tails and budget else 0)
    own = sizes[last]
    fitting = [tail for tail in tails if tail + own <= room and budget]
    assert begun(overlap, (first, last), (last, last + 1), room) == max(fitting, default=0)


def test_a_tail_among_hundreds_of_units_is_found_with_a_few_counts() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    for budget in (0, 1, 3, 60, 499, 900):
        overlap = overlap_of([1] * 1_001, budget, counter=Counter("w", count))
        counted.clear()
        assert reserved(overlap, 0, 1_000) == (budget + 1 if budget else 0)
        assert len(counted) <= 24
        # What is known of a piece is not looked for again.
        counted.clear()
        assert reserved(overlap, 0, 1_000) == (budget + 1 if budget else 0)
        assert not counted
    # Where the longest tail fits, no other is looked at.
    overlap = overlap_of([1] * 1_000, 900, counter=Counter("w", count))
    overlap.reserve(Piece(0, 999))
    counted.clear()
    assert begun(overlap, (0, 999), (999, 1_000), 2_000) == 900
    assert len(counted) <= 3


# The sentences of a document's units


def sentences_in(
    text: str, budget: int = 99, *, regions: Sequence[ProtectedRegion] = ()
) -> tuple[Layout, Callable[[int], list[int]]]:
    """The layout of a text, and the beginnings of sentences in its units."""
    given_ = config(budget)
    chunker = Chunker(given_)
    analysis = chunker.analyze(text)
    analysis = replace(analysis, regions=(*analysis.regions, *regions))
    document = Document.of(analysis, Leaves(text, analysis.blocks), given_, chunker.counter)
    divider = Divider(document)
    refined = refine(document, analysis.break_points, divider, extended=analysis.extended)
    layout = Layout(
        text,
        document.index,
        refined.points,
        given_,
        context_tokens=nothing,
        suffix_tokens=nothing,
    )
    return layout, sentences_of(document, layout, divider)


def test_sentences_of_prose_alone_count() -> None:
    blocks = [
        "\n",
        "First w one. Second w one. Third w one.\n\n",
        "Head. Line.\n===\n\n",
        "```\nFirst code. Second code.\n```\n\n",
        "- An item. Another one.\n\n",
        "> A quote. Another one.\n\n",
        "<tag>\nInside w. Not cut.\n</tag>\n",
    ]
    layout, sentences = sentences_in("".join(blocks))
    starts = list(accumulate(map(len, blocks), initial=0))
    assert list(layout.pos) == starts
    found = {
        unit: [layout.text[start:].partition(".")[0] for start in sentences(unit)]
        for unit in range(layout.units)
    }
    # A paragraph that a user's region covers is not cut, so no tail begins in it.
    covered = ProtectedRegion(starts[1], starts[2], "own")
    _, inside = sentences_in(layout.text, regions=[covered])
    assert [inside(unit) for unit in range(layout.units)][1] == []
    assert found == {
        0: [],
        1: ["Second w one", "Third w one"],
        2: ["Line"],
        3: [],
        4: ["Another one"],
        5: ["Another one"],
        6: [],
    }


def test_sentences_of_a_divided_paragraph_do_not_count() -> None:
    # They are units of their own, and what is left of one has none.
    text = "One w w w end. Then w w; w w w w w end. Last w end.\n"
    _, whole = sentences_in(text)
    assert [text[start:][:4] for start in whole(0)] == ["Then", "Last"]
    layout, sentences = sentences_in(text, 4)
    assert layout.units > 3
    assert [sentences(unit) for unit in range(layout.units)] == [[]] * layout.units


def test_overlap_leaves_the_room_of_the_heading_path() -> None:
    """A path is more than repeated text: what would push it out is not repeated."""
    text = f"# w\n\n{'w ' * 9}\n\nw w\n\n{'w ' * 10}\n"
    _, second = Chunker(config(12, overlap=3, context="headings")).chunk(text)
    assert (second.overlap, second.token_count, second.embed_token_count) == (0, 10, 11)
    assert second.embed_text == "w\n\n" + second.text
    # With a token more there is room for both.
    _, second = Chunker(config(13, overlap=3, context="headings")).chunk(text)
    assert second.token_count == 12
    assert second.embed_text == "w\n\n" + second.text
