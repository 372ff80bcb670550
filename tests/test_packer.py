"""The packer and its parts on rows of units: what is worked out by hand, and small properties.

What holds for whole documents is in ``test_pack.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import BreakPoint, ProtectedRegion, best_cut
from chunkast.core.analysis.search import cut_value
from chunkast.core.joining import Joins, joined
from chunkast.core.layout import TRIMMED, Layout
from chunkast.core.overlap import Overlap
from chunkast.core.packer import pack
from chunkast.core.replaced import Replaced
from chunkast.core.sections import sections_of
from chunkast.model import Heading, Replacement
from chunkast.tokens import Counter
from tests.units import W_ALONE, W_ESTIMATED, Unit, W, row, tokens

Place = tuple[int, int]


def headings_in(layout: Layout, levels: Mapping[int, int]) -> list[Heading]:
    """Headings by their unit and level."""
    return [
        Heading(layout.pos[unit], layout.pos[unit + 1], level, "w", ("w",))
        for unit, level in levels.items()
    ]


def headed(levels: Mapping[int, int]) -> dict[int, str]:
    """The kinds of the points before headings and after them."""
    after = {unit + 1: "orphan-heading" for unit in levels}
    return after | {unit: f"h{level}" for unit, level in levels.items() if unit not in after}


def packed(
    units: Sequence[Unit],
    budget: int,
    levels: Mapping[int, int] | None = None,
    *,
    texts: Sequence[bool] | None = None,
    kinds: Mapping[int, str] | None = None,
    depths: Mapping[int, int] | None = None,
    silent: Collection[int] = (),
    **options: Any,
) -> list[Place]:
    """The pieces of a row in which ``levels`` has the units that are headings."""
    levels = levels or {}
    layout = row(units, budget, kinds={**headed(levels), **(kinds or {})}, **options)
    sections = sections_of(headings_in(layout, levels), layout)
    overlap = Overlap(layout, sections, lambda _: [])
    has_text = texts or [unit not in levels for unit in range(layout.units)]
    found = {unit: (depths or {}).get(unit, 0) for unit in range(layout.units + 1)}
    says = bytearray(text + 2 * (unit in silent) for unit, text in enumerate(has_text))
    return [*pack(layout, sections, overlap, says, found.__getitem__)]


def filled(units: Sequence[Unit], budget: int, *args: Any, **options: Any) -> list[Place]:
    """The pieces that "fill" makes of a row."""
    return packed(units, budget, *args, packing="fill", **options)


# The search


def points(*found: tuple[int, float]) -> list[BreakPoint]:
    return [BreakPoint(pos, score, "paragraph") for pos, score in found]


@pytest.mark.parametrize(
    ("score", "distance", "window", "decay", "value"),
    [
        (100, 0, 10, 0.7, 100),  # at the limit the whole score
        (100, 10, 10, 0.7, 30),  # at the window's end what decay leaves
        (100, 5, 10, 0.8, 80),  # half way a quarter of the decay
        (100, 3, 0, 0.7, 100),  # without a window distance costs nothing
    ],
)
def test_the_value_of_a_cut(
    score: float, distance: float, window: float, decay: float, value: float
) -> None:
    assert cut_value(score, distance, window, decay) == pytest.approx(value)


def test_the_best_cut() -> None:
    # Both ends of the window count, what lies before and after it does not.
    assert best_cut(points((10, 5)), 20, window=10) == 10
    assert best_cut(points((9, 5)), 20, window=10) == 20
    assert best_cut(points((20, 5), (21, 9)), 20, window=10) == 20
    assert best_cut(points((10, 5), (20, 4.5)), 20, window=10) == 20
    # The lowest of equals, in whatever order they are given; decay is 0.7 unless told.
    assert best_cut(points((18, 5), (15, 5), (17, 5)), 20, window=10, decay=0) == 15
    assert best_cut(points((10, 10), (20, 3)), 20, window=10) == 10
    assert best_cut(points((10, 10), (20, 3.1)), 20, window=10) == 20
    # A score of 0 is one, a score below never wins.
    assert best_cut(points((15, 0)), 20, window=10) == 15
    assert best_cut(points((15, -1)), 20, window=10, decay=0) == 20
    # Strictly inside a region, whichever it is, there is no cut; at its edges there is.
    regions = [ProtectedRegion(0, 3), ProtectedRegion(12, 16)]
    assert best_cut(points((15, 9), (16, 5)), 20, window=10, regions=regions) == 16
    assert best_cut(points((12, 9), (13, 90)), 20, window=10, regions=regions) == 12


# Sections


@given(st.lists(st.integers(1, 6), max_size=12))
def test_a_section_ends_where_one_of_its_level_or_above_begins(levels: list[int]) -> None:
    layout = row([1] * (2 * len(levels) + 1), 9)
    # Each heading with a unit of text, after one of text before all.
    found = sections_of(headings_in(layout, {2 * n + 1: x for n, x in enumerate(levels)}), layout)
    every = range(1, len(levels) + 1)
    assert [found.starts[number] for number in every] == [2 * number - 1 for number in every]
    assert (found.starts[0], found.end(0)) == (0, layout.units)
    children: dict[int, list[int]] = {number: [] for number in (0, *every)}
    open_: list[tuple[int, int]] = [(0, 0)]
    for number, level in enumerate(levels, 1):
        later = [other for other in every if other > number and levels[other - 1] <= level]
        assert found.end(number) == (found.starts[later[0]] if later else layout.units)
        open_ = [one for one in open_ if one[1] < level]
        children[open_[-1][0]].append(number)
        open_.append((number, level))
    assert {number: list(found.children(number)) for number in children} == children


def test_sections_are_nested_64_deep_at_most() -> None:
    layout = row([1] * 80, 9)
    found = sections_of(headings_in(layout, {unit: unit + 1 for unit in range(80)}), layout)
    depths = [sum(found.after[above] > n for above in range(1, n)) for n in range(1, 81)]
    assert depths == [*range(64), *[63] * 16]
    # The last of them lie beside each other.
    assert list(found.children(63)) == [*range(64, 81)]


# Layout


def trimmed(layout: Layout, first: int, last: int, *, trim: bool) -> tuple[int, int]:
    """The span of units without blank lines at its start and white space at its end."""
    start, end = layout.pos[first], layout.pos[last]
    text = layout.text[start:end]
    if not trim:
        return start, end
    end = start + len(text.rstrip())
    blank = len(text) - len(text.lstrip())
    return start + text.rfind("\n", 0, blank) + 1, end


COUNTERS = [W, W_ALONE, W_ESTIMATED]
SMALL_UNITS = st.lists(
    st.sampled_from(["w\n", "ww\n\n", "\n", " \n\n", "  w", "ww", " ", "\tw w\r\n", "wwwww"]),
    min_size=1,
    max_size=8,
)


@given(SMALL_UNITS, st.booleans(), st.sampled_from(COUNTERS), st.randoms(use_true_random=False))
def test_spans_and_counts_are_those_of_the_text(
    units: list[str], trim: bool, counter: Counter, random: Any
) -> None:
    # Pieces of a divided block begin where no count is known.
    divided = [unit for unit in range(1, len(units)) if not units[unit - 1].endswith("\n")]
    layout = row(units, 4, trim=trim, counter=counter, divided=divided)
    asked = [(i, j) for j in range(layout.units + 1) for i in range(j)]
    # What was asked before must not matter.
    random.shuffle(asked)
    for i, j in asked:
        start, end = trimmed(layout, i, j, trim=trim)
        if start < end:
            assert layout.span(i, j) == (start, end)
        else:
            assert layout.span(i, j)[0] == layout.span(i, j)[1]
        assert layout.count(i, j) == tokens("".join(units[i:j]))
        assert layout.fits(i, j) is (layout.count(i, j) <= 4)
        for room in range(6):
            fitting = [h for h in range(i, j + 1) if tokens("".join(units[i:h])) <= room]
            assert layout.furthest(i, j, room) == fitting[-1]
            assert layout.within(i, j, room) is (j in fitting)
    assert list(layout.before) == [tokens("".join(units[:unit])) for unit in range(len(units) + 1)]


def test_a_byte_order_mark_is_trimmed() -> None:
    layout = row(["\ufeff\n", "w\n", "w\n"], 4)
    assert layout.span(0, 2) == (2, 3)
    assert row(["\ufeffw\n", "w"], 4).start(0) == 1
    assert row(["\ufeffw\n", "w"], 4, trim=False).start(0) == 0


def test_tokens_before_the_pieces_of_a_block_are_sums_of_what_each_has_alone() -> None:
    """A word that was cut counts twice: what a piece has depends on no other."""
    words = Counter("words", lambda text: len(text.split()))
    # The block has 6 words, its four pieces 2, 2, 1 and 3.
    units = ["a b c\n", "a b", "c d", "e", " f g h\n", "a b\n", "a", "b\n", "c\n"]
    layout = row(units, 9, divided=[2, 3, 4, 7], counter=words)
    # The next block is one word in two pieces.
    assert list(layout.before) == [0, 3, 5, 7, 8, 11, 13, 14, 15, 16]
    # Pieces without a token.
    assert list(row([" ", " ", "w"], 9, divided=[1]).before) == [0, 0, 0, 1]


def test_points_outside_the_text_are_no_units() -> None:
    layout = row([1, 2, 3], 9)
    ends = points((0, 1), (3, 2), (7, 3), (12, 4))
    again = Layout(
        layout.text,
        layout.index,
        ends,
        layout.config,
        context_tokens=lambda _: 0,
        suffix_tokens=lambda _: 0,
    )
    assert list(again.pos) == [0, 3, 7, 12]
    assert list(again.score) == [0, 2, 3, 0]
    assert again.kind == ["", "paragraph", "paragraph", ""]
    assert again.units == 3
    assert again.frame(1) == 0
    assert [again.unit_at(pos) for pos in (0, 1, 3, 4, 12)] == [0, 1, 1, 2, 3]


def test_context_and_what_comes_after_a_unit_take_room() -> None:
    asked: list[int] = []

    def context(unit: int) -> int:
        asked.append(unit)
        return unit

    layout = row([2, 2, 2, 2], 6, context=context, suffix=lambda unit: 2 * (unit == 3))
    assert [layout.context(unit) for unit in (1, 2, 1, 2)] == [1, 2, 1, 2]
    # It may be long: it is asked for once.
    assert asked == [1, 2]
    # Units 1 and 2 have 4 tokens, and what comes after them 2 more.
    assert layout.fits(0, 2)
    assert not layout.fits(1, 3)
    assert layout.within(1, 3, 6)
    assert not layout.within(1, 3, 5)
    # Units 0 to 2 have 6: two too many with what comes after; to the end there is nothing after.
    assert layout.furthest(0, 3, 6) == 2
    assert layout.fits(2, 4)
    assert not layout.fits(2, 4, 1)
    # Nothing has nothing after it.
    assert layout.within(3, 3, 0)


def test_what_is_far_too_large_is_not_counted() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    layout = row([60, 60, 60], 9, counter=Counter("w", count))
    counted.clear()
    assert not layout.within(0, 3, 9)
    assert not counted
    # 180 are not far above 30.
    assert not layout.within(0, 3, 30)
    assert counted
    # Nor is it where something else is embedded; what comes before a span is no part of it.
    layout = row([60, 60, 60, 2, 2], 9, replaced={2: "w", 3: "w"}, counter=Counter("w", count))
    counted.clear()
    assert not layout.within(0, 3, 9)
    assert not counted
    assert layout.within(3, 5, 3)


def test_what_fits_in_any_case_is_not_counted() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    units = ["w " * size + "\n\n" for size in (2, 30, 40, 5)]
    layout = row(units, 99, counter=replace(W, count=count))
    counted.clear()
    assert layout.within(1, 3, 70 + TRIMMED)
    assert not counted
    assert layout.within(1, 3, 70 + TRIMMED - 1)
    assert counted
    # Nor is what has fewer characters, where no count is known to begin with.
    layout = row(
        ["w " * 40, "w " * 40, "w " * 40 + "\n"],
        99,
        divided=[1, 2],
        counter=replace(W, count=count),
    )
    assert layout.count(1, 2) == 40
    counted.clear()
    assert layout.has_at_most(1, 3, 161)
    assert layout.surely_within(1, 3, 161)
    assert not counted
    assert not layout.surely_within(1, 3, 160)
    assert layout.has_at_most(1, 3, 160)
    assert counted


def test_sums_tell_what_fits_whatever_comes_after_it() -> None:
    layout = row([9, 10, 10], 99)
    for i, j, size in ((0, 1, 9), (1, 2, 10), (1, 3, 20)):
        assert layout.surely_within(i, j, size + TRIMMED)
        assert not layout.surely_within(i, j, size + TRIMMED - 1)
    closed = row([9, 10, 10], 99, suffix={0: 0, 1: 4, 2: 6, 3: 5}.__getitem__)
    assert closed.surely_within(0, 1, 9 + TRIMMED + 6)
    assert not closed.surely_within(0, 1, 9 + TRIMMED + 5)
    assert not row([9, 10, 10], 99, replaced={0: "w"}).surely_within(0, 1, 99)
    # Of another's counter nothing is sure.
    assert not row([9, 10, 10], 99, counter=W_ALONE).surely_within(0, 1, 99)


REPLACED_UNITS = st.tuples(
    st.integers(1, 6), st.none() | st.integers(0, 8), st.sampled_from([-1.0, 0.0, 20.0])
)


@given(st.lists(REPLACED_UNITS, min_size=1, max_size=8), st.integers(1, 12), st.integers(0, 2))
def test_what_is_embedded_has_to_fit_and_its_text_unless_a_run_ends_it(
    units: list[tuple[int, int | None, float]], budget: int, after: int
) -> None:
    sizes = [size for size, _, _ in units]
    shown = {unit: "w" * part for unit, (_, part, _) in enumerate(units) if part is not None}
    scores = {unit: score for unit, (_, _, score) in enumerate(units)}
    layout = row(sizes, budget, replaced=shown, scores=scores, suffix=lambda _: after)
    for i, j in combinations(range(len(units) + 1), 2):
        whole = sum(sizes[i:j])
        embedded = sum(len(shown.get(unit, "w" * sizes[unit])) for unit in range(i, j))
        # One that nothing is embedded of is embedded as it is; one with a run is led in to it.
        embedded = embedded or whole
        run = sizes[j - 1] > budget and all(scores[unit] < 0 for unit in range(i + 1, j))
        for room in range(budget + 1):
            fits = embedded + after <= room and (whole <= budget or run)
            assert layout.within(i, j, room) is fits


def test_a_run_takes_along_what_leads_in_to_it_and_nothing_after_it() -> None:
    def fits(units: list[Unit], run: int, *scores: float) -> bool:
        layout = row(units, 10, replaced={run: "w"}, scores=dict(enumerate(scores, 1)))
        return layout.within(0, len(units), 10)

    assert fits([2, 2, 30], 2, -1, -1)
    assert not fits([2, 2, 30], 2, 0, -1)
    assert not fits([2, 2, 30], 2, -1, 0)
    assert not fits([30, 2], 0, -1)


def test_a_span_counts_where_it_is_whole_and_something_is_left() -> None:
    text = "ab--cd--\n\n--"
    found = Replaced(
        text, [Replacement(6, 12), Replacement(2, 4, "w"), Replacement(3, 6)], tokens, trim=True
    )
    assert found.body(0, 6) == ("abwcd", 1)
    assert found.body(0, 12) == ("abwcd", 1)
    assert found.body(4, 11) is found.body(3, 6) is None
    assert found.body(6, 12) is None, "nothing but white space is left"
    spaced = Replaced("a\n - \nb", [Replacement(1, 6, "+")], tokens, trim=True)
    assert [spaced.body(0, 4), spaced.body(3, 7)] == [("a+", 0), ("+b", 0)]
    assert spaced.body(0, 3) is None
    assert Replaced("a\n\nb", [Replacement(1, 3, "+")], tokens, trim=True).body(0, 2) is None
    assert Replaced("cd\n\n-", [Replacement(4, 5)], tokens, trim=True).body(0, 5) == ("cd", 0)
    untrimmed = Replaced(text, [Replacement(6, 8)], tokens, trim=False)
    assert untrimmed.body(4, 10) == ("cd\n\n", 0)
    assert not Replaced(text, [], tokens, trim=True)
    # Of those that overlap the first counts, of those that begin together the shortest.
    for spans in ([(2, 3), (0, 4)], [(0, 5), (0, 4)]):
        overlapping = [Replacement(start, end, str(end)) for start, end in spans]
        assert Replaced(text, overlapping, tokens, trim=True).body(0, 6) == ("4cd", 0)


def test_what_is_left_out_leaves_room_for_the_context() -> None:
    units: list[Unit] = [4, 2, 4, 9]
    assert not row(units, 10, context=lambda _: 2).fits(0, 3)
    assert row(units, 10, context=lambda _: 2, replaced={1: ""}).fits(0, 3)


def test_the_furthest_unit_is_found_from_any_estimate() -> None:
    size = 7
    layout = row([1] * size, 9)
    for i, j in combinations(range(size + 1), 2):
        for off in range(-size, size + 1):
            layout.before = [max(min(unit, i), unit + off * (unit > i)) for unit in range(size + 1)]
            for room in range(-1, size + 1):
                assert layout.furthest(i, j, room) == min(i + max(room, 0), j)


def test_the_furthest_of_many_units_is_found_with_few_counts() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    layout = row([1] * 1_000, 9, counter=Counter("w", count))
    # Exact, twice and half as much as there is: from an estimate that is right one or two.
    for factor, counts in ((1.0, 2), (2.0, 18), (0.5, 18)):
        layout.before = [int(unit * factor) for unit in range(1_001)]
        for i, j, room in ((0, 1_000, 500), (100, 1_000, 400), (0, 500, 500), (0, 500, 499)):
            counted.clear()
            assert layout.furthest(i, j, room) == i + room
            assert len(counted) <= counts


def test_only_the_pieces_of_divided_blocks_are_counted_for_estimates() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    row([1, 2, 3, 4], 9, divided=[2], counter=Counter("w", count))
    # The index counts the blocks.
    assert counted == ["w\n\n", "ww\n\nwww\n\n", "wwww\n\n", "ww\n\n", "www\n\n"]


def test_a_counter_that_does_not_add_up_is_asked_for_every_span() -> None:
    layout = row([1, 2, 3], 99, counter=Counter("squares", lambda text: tokens(text) ** 2))
    assert [layout.count(0, 2), layout.count(1, 3), layout.count(0, 3)] == [9, 25, 36]


def test_an_empty_text_and_a_blank_one() -> None:
    assert row([], 4).span(0, 1) == (0, 0)
    assert packed([], 4) == packed([], 4, packing="fill") == [(0, 1)]
    assert row(["\n\n", "w"], 4).end(1) == 0


# Joining

KINDS = st.sampled_from(["paragraph", "paragraph", "list-item-0", "h2", "lead-in"])


def joined_plainly(
    layout: Layout, bounds: Sequence[int], depths: Sequence[int], joins: Joins
) -> list[int]:
    """One boundary after the other, the first by what the order says, until all were tried."""
    kept, tried = list(bounds), set[int]()

    def key(place: tuple[int, int, int]) -> tuple[float, ...]:
        i, h, j = place
        before, score, pos = layout.before, layout.score[h], layout.pos[h]
        smaller = min(before[h] - before[i], before[j] - before[h])
        sample = layout.text[pos : pos + 20].encode(errors="replace")
        union = (before[j] - before[i]).bit_length()
        return score >= 0, -depths[h], score, smaller, crc32(sample) >> 12, union, h

    while True:
        triples = zip(kept, kept[1:], kept[2:], strict=False)
        left = [triple for triple in triples if triple[1] not in tried]
        if not left:
            return kept
        i, h, j = min(left, key=key)
        tried.add(h)
        if joins(i, h, j):
            kept.remove(h)


@given(
    st.lists(st.tuples(st.integers(1, 5), KINDS, st.integers(0, 2)), max_size=40),
    st.integers(1, 20),
    st.data(),
)
def test_boundaries_go_one_by_one_in_their_order(
    body: list[tuple[int, str, int]], budget: int, data: st.DataObject
) -> None:
    kinds = {unit: kind for unit, (_, kind, _) in enumerate(body)}
    layout = row([size for size, _, _ in body], budget, kinds=kinds)
    depths = [*(depth for _, _, depth in body), 0, 0]
    # Units that were joined before, and some that are not taken part of.
    units = range(layout.units + 1)
    bounds = sorted(data.draw(st.sets(st.sampled_from(units))))
    asked: list[tuple[int, int, int]] = []

    def joins(i: int, h: int, j: int) -> bool:
        asked.append((i, h, j))
        return layout.fits(i, j)

    found = joined(layout, bounds, depths.__getitem__, joins)
    once, asked = asked, []
    assert found == joined_plainly(layout, bounds, depths, joins)
    # Each is asked for once, with what its pieces are then.
    assert sorted(once) == sorted(asked)
    assert not any(layout.fits(i, j) for i, j in zip(found, found[2:], strict=False))


def test_the_order_of_boundaries() -> None:
    def order(
        units: Sequence[Unit],
        depths: Mapping[int, int],
        budget: int = 1,
        before: Sequence[int] = (),
        **options: Any,
    ) -> list[int]:
        layout = row(units, budget, **options)
        layout.before = before or layout.before
        asked: list[int] = []

        def joins(i: int, h: int, j: int) -> bool:
            asked.append(h)
            return layout.fits(i, j)

        every = [depths.get(unit, 0) for unit in range(layout.units + 1)]
        joined(layout, range(layout.units + 1), every.__getitem__, joins)
        return asked

    # What parts what belongs together goes first, however deep others are; of depths the deepest.
    scores = {1: -1, 2: 70, 3: 20, 4: 80}
    assert order([9, 9, 9, 9, 9], {4: 2, 2: 1, 3: 1}, scores=scores) == [1, 4, 3, 2]
    # A score of 0 is no penalty, nor is one a little above it.
    for score in (0, 0.5):
        assert order([9, 9, 9], {1: 2}, scores={1: score, 2: -0.5}) == [2, 1]
    # The smaller of the two pieces decides, not both together, nor before a score.
    assert order([9, 1, 40, 5, 5, 5], {})[:2] in ([1, 2], [2, 1])
    large = [0, 5 << 20, 10 << 20, (10 << 20) + 1, (10 << 20) + 2]
    assert order([9, 9, 9, 9], {}, scores={1: -1}, before=large)[0] == 1
    # Then the text that follows, of which 20 characters count.
    assert order([f"w{n}\n" for n in range(6)], {}) != [1, 2, 3, 4, 5]
    assert order([f"w{'x' * 18}{n}\n" for n in range(6)], {}) != [1, 2, 3, 4, 5]
    assert order([f"w{'x' * 19}{n}\n" for n in range(6)], {}) == [1, 2, 3, 4, 5]
    assert order(["w\ud800\n"] * 3, {}) == [1, 2]
    # These two differ in the last bit of their hash.
    assert order(["w\n", "w000000000000129582\n", "w000000000000400001\n"], {}) == [2, 1]
    # Then both pieces together, as they are when other boundaries have gone, and the first of equals.
    same = "x" * 20
    assert order([f"{same}{'w' * size}\n" for size in (40, 3, 3)], {}) == [2, 1]
    assert order([f"{same}{'w' * size}\n" for size in (7, 10, 4, 3)], {}, 9) == [3, 1, 2]
    for sizes in ((30, 12, 11, 4, 3), (20, 12, 5, 4, 3)):
        assert order([f"{same}{'w' * size}\n" for size in sizes], {}, 9) == [4, 3, 2, 1]


# Packing


# Units, the budget, the levels of those that are headings, other options, the pieces.
SECTIONS: dict[str, tuple[list[Unit], int, dict[int, int], dict[str, Any], list[Place]]] = {
    "a document that fits is one piece": (
        [1, 4, 1, 4], 10, {0: 1, 2: 2}, {}, [(0, 4)],
    ),
    "each section that fits is whole, though more would fit": (
        [1, 5, 1, 6, 1, 7], 14, {0: 1, 2: 1, 4: 1}, {}, [(0, 4), (4, 6)],
    ),
    "neighbours are merged while they fit": (
        [1, 2, 1, 2, 1, 2, 1, 2], 9, {0: 1, 2: 1, 4: 1, 6: 1}, {}, [(0, 6), (6, 8)],
    ),
    "a section is merged with the body before it": (
        [2, 1, 2, 1, 9], 10, {1: 1, 3: 1}, {}, [(0, 3), (3, 5)],
    ),
    "a section is not merged with the end of one that was cut": (
        [1, 9, 1, 5, 5, 1, 1], 10, {0: 1, 2: 1, 5: 1}, {}, [(0, 2), (2, 4), (4, 5), (5, 7)],
    ),
    "nor with the beginning of one": (
        [1, 1, 1, 5, 8], 10, {0: 1, 2: 1}, {}, [(0, 2), (2, 4), (4, 5)],
    ),
    "nor with the inner sections of one": (
        [1, 1, 1, 1, 1, 7, 1, 6], 12, {0: 1, 2: 1, 4: 2, 6: 2}, {}, [(0, 2), (2, 6), (6, 8)],
    ),
    "with 0 every section is a piece": (
        [1, 1, 1, 1, 1, 1], 10, {0: 1, 2: 2, 4: 2}, {"min_tokens": 0}, [(0, 2), (2, 4), (4, 6)],
    ),
    "with 0 a section without others is whole": (
        [1, 1, 1], 10, {0: 1}, {"min_tokens": 0}, [(0, 3)],
    ),
    "while one of both is smaller: the first": (
        [1, 2, 1, 4, 1, 4], 12, {0: 1, 2: 1, 4: 1}, {"min_tokens": 4}, [(0, 4), (4, 6)],
    ),
    "while one of both is smaller: the second": (
        [1, 7, 1, 4, 1, 2], 15, {0: 1, 2: 1, 4: 1}, {"min_tokens": 4}, [(0, 2), (2, 6)],
    ),
    "two that are not smaller stay apart": (
        [1, 3, 1, 3, 1, 7], 15, {0: 1, 2: 1, 4: 1}, {"min_tokens": 4}, [(0, 2), (2, 4), (4, 6)],
    ),
    "one token less, and they are merged": (
        [1, 2, 1, 3, 1, 8], 15, {0: 1, 2: 1, 4: 1}, {"min_tokens": 4}, [(0, 4), (4, 6)],
    ),
    "a heading goes with the text it heads": (
        [1, 1, 8, 1, 8], 10, {0: 1, 1: 2, 3: 2}, {}, [(0, 3), (3, 5)],
    ),
    "headings alone go with the first section that has text": (
        [1, 1, 1, 5, 1, 8], 10, {0: 1, 1: 2, 2: 2, 4: 2}, {}, [(0, 4), (4, 6)],
    ),
    "headings alone among sections go with the one after them": (
        [1, 5, 1, 1, 2, 1, 2, 1, 3], 9, {0: 1, 2: 2, 3: 2, 5: 2, 7: 2}, {"min_tokens": 0},
        [(0, 2), (2, 5), (5, 7), (7, 9)],
    ),
    "headings alone at the end go with the text before them": (
        [1, 7, 1, 5, 1, 1], 9, {0: 1, 2: 1, 4: 2, 5: 2}, {}, [(0, 2), (2, 6)],
    ),
    "where there is no room for them, they are a piece": (
        [1, 5, 1, 4, 1, 1], 6, {0: 1, 2: 1, 4: 1, 5: 1}, {}, [(0, 2), (2, 4), (4, 6)],
    ),
    "too many headings alone are cut": (
        [1, 9, 3, 4, 5], 10, {0: 1, 2: 1, 3: 1, 4: 1}, {}, [(0, 2), (2, 4), (4, 5)],
    ),
    "headings alone share a crumb where a user's score lets them": (
        [1, 9, 5, 5, 1], 10, {0: 1, 2: 1, 3: 1, 4: 1}, {"kinds": {3: "h1", 4: "h1"}},
        [(0, 2), (2, 3), (3, 5)],
    ),
    "headings and nothing else": (
        [3, 4, 5], 8, {0: 1, 1: 2, 2: 2}, {}, [(0, 2), (2, 3)],
    ),
    "a text before all headings is a piece": (
        [8, 1, 8], 10, {1: 1}, {}, [(0, 1), (1, 3)],
    ),
    "a unit larger than the budget is a piece": (
        [1, 30, 1, 2], 10, {0: 1, 2: 1}, {}, [(0, 1), (1, 2), (2, 4)],
    ),
    "a crumb, less than a tenth, joins the end of what was cut": (
        [1, 20, 25, 10, 1, 2], 40, {0: 1, 4: 1}, {}, [(0, 2), (2, 6)],
    ),
    "or its beginning": (
        [1, 2, 1, 20, 25, 10], 40, {0: 1, 2: 1}, {}, [(0, 4), (4, 6)],
    ),
    "a tenth is no crumb": (
        [1, 20, 25, 10, 1, 3], 40, {0: 1, 4: 1}, {}, [(0, 2), (2, 4), (4, 6)],
    ),
    "nor does one join what has no room": (
        [1, 20, 28, 10, 1, 2], 40, {0: 1, 4: 1}, {}, [(0, 2), (2, 4), (4, 6)],
    ),
    "with 0 there are crumbs": (
        [1, 20, 25, 10, 1, 2], 40, {0: 1, 4: 1}, {"min_tokens": 0}, [(0, 2), (2, 4), (4, 6)],
    ),
    "whatever is smaller than min_tokens is one": (
        [1, 20, 25, 8, 1, 3], 40, {0: 1, 4: 1}, {"min_tokens": 5}, [(0, 2), (2, 6)],
    ),
    "a piece of what was cut too": (
        [1, 38, 3, 1, 30], 40, {0: 1, 3: 1}, {}, [(0, 2), (2, 5)],
    ),
    "what stands before a section has no part in how it is joined": (
        [2, 1, 3, 5, 9], 10, {1: 1}, {"scores": {1: 5}}, [(0, 1), (1, 4), (4, 5)],
    ),
    "a unit larger than the budget at the end of a section": (
        [1, 2, 1, 30], 10, {0: 1, 2: 1}, {}, [(0, 3), (3, 4)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("units", "budget", "levels", "options", "pieces"), SECTIONS.values(), ids=SECTIONS
)
def test_sections(
    units: list[Unit],
    budget: int,
    levels: dict[int, int],
    options: dict[str, Any],
    pieces: list[Place],
) -> None:
    assert packed(units, budget, levels, **options) == pieces


def test_to_fill_sections_are_not_kept_apart() -> None:
    levels = {0: 1, 2: 1}
    assert packed([1, 1, 1, 1], 9, levels, min_tokens=0) == [(0, 2), (2, 4)]
    assert packed([1, 1, 1, 1], 9, levels, min_tokens=0, packing="fill") == [(0, 4)]


def test_context_yields_before_a_heading_is_parted_from_its_text() -> None:
    # The last two sections would be one piece but for the three tokens of a path.
    units: list[Unit] = [1, 5, 1, 6, 1, 1]
    levels = {0: 1, 2: 2, 4: 2}
    assert packed(units, 9, levels) == [(0, 2), (2, 6)]
    context = {2: 3}
    assert packed(units, 9, levels, context=lambda unit: context.get(unit, 0)) == [
        (0, 2),
        (2, 4),
        (4, 6),
    ]


# Units, the budget, other options, the pieces.
BODIES: dict[str, tuple[list[Unit], int, dict[str, Any], list[Place]]] = {
    "lower scores go first": (
        [2, 2, 2, 2], 4, {"scores": {1: 70, 2: 20, 3: 60}}, [(0, 1), (1, 3), (3, 4)],
    ),
    "but deeper places before all others": (
        [2, 2, 2, 2], 4, {"scores": {1: 70, 2: 20, 3: 60}, "depths": {1: 1}}, [(0, 2), (2, 4)],
    ),
    "and what parts what belongs together before these": (
        [2, 2, 2, 2], 4, {"scores": {1: 70, 2: -1, 3: 60}, "depths": {1: 1}},
        [(0, 1), (1, 3), (3, 4)],
    ),
    "the smallest pieces grow first": (
        [4, 3, 2, 5], 5, {}, [(0, 1), (1, 3), (3, 4)],
    ),
    "all but the first leave room for overlap, and a token where it ends": (
        [4, 4, 4, 3, 3, 4], 12, {"scores": {1: 1, 2: 2, 3: 70, 4: 5, 5: 6}, "overlap": 4},
        [(0, 3), (3, 5), (5, 6)],
    ),
    "where there is any": (
        [4, 4, 4, 3, 3, 4], 12, {"scores": {1: 1, 2: 2, 3: 70, 4: 5, 5: 6}}, [(0, 3), (3, 6)],
    ),
    "and where its end can be repeated": (
        [4, 4, 5, 3, 3, 4], 13, {"scores": {1: 1, 2: 2, 3: 70, 4: 5, 5: 6}, "overlap": 4},
        [(0, 3), (3, 6)],
    ),
    "context takes room": (
        [4, 2, 2, 9], 10, {"context": lambda unit: 6 * (unit == 0), "frame": lambda _: 4},
        [(0, 1), (1, 3), (3, 4)],
    ),
    "and yields before what belongs together is parted": (
        [4, 2, 2, 9], 10,
        {"context": lambda unit: 6 * (unit == 0), "frame": lambda _: 4, "scores": {1: -1}},
        [(0, 2), (2, 3), (3, 4)],
    ),
    "a score of 0 parts nothing": (
        [4, 2, 2, 9], 10,
        {"context": lambda unit: 6 * (unit == 0), "frame": lambda _: 4, "scores": {1: 0}},
        [(0, 1), (1, 3), (3, 4)],
    ),
    "and before a piece is left that says less than it": (
        [3, 3, 3, 9], 10, {"context": lambda _: 4, "scores": {3: 70}}, [(0, 3), (3, 4)],
    ),
    "of which the frame is no part": (
        [3, 3, 3, 9], 10, {"context": lambda _: 4, "frame": lambda _: 1, "scores": {3: 70}},
        [(0, 1), (1, 3), (3, 4)],
    ),
    "or is below a tenth of the budget": (
        [11, 2, 19], 21, {"context": lambda unit: 2 + 7 * (unit == 0)}, [(0, 2), (2, 3)],
    ),
    "rounded up": (
        [11, 2, 19], 20, {"context": lambda unit: 2 + 7 * (unit == 0)}, [(0, 1), (1, 2), (2, 3)],
    ),
    "unless a frame takes the room": (
        [11, 2, 20], 21,
        {"context": lambda unit: 2 + 7 * (unit == 0), "frame": lambda unit: 9 * (unit == 0)},
        [(0, 1), (1, 2), (2, 3)],
    ),
    "or fewer tokens are asked for": (
        [11, 2, 19], 21, {"context": lambda unit: 2 + 7 * (unit == 0), "min_tokens": 2},
        [(0, 1), (1, 2), (2, 3)],
    ),
    "or none": (
        [11, 2, 19], 21, {"context": lambda unit: 2 + 7 * (unit == 0), "min_tokens": 0},
        [(0, 1), (1, 2), (2, 3)],
    ),
    "but for 0 tokens too many": (
        [2, 9, 2, 9], 10, {"scores": {1: -1}}, [(0, 1), (1, 2), (2, 3), (3, 4)],
    ),
    "what has to be put after a piece counts": (
        [3, 3, 3, 3], 10, {"suffix": lambda unit: 5 * (unit == 2), "scores": {1: 1, 2: 2, 3: 3}},
        [(0, 1), (1, 4)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("units", "budget", "options", "pieces"), BODIES.values(), ids=BODIES)
def test_bodies_are_joined(
    units: list[Unit], budget: int, options: dict[str, Any], pieces: list[Place]
) -> None:
    assert packed(units, budget, **options) == pieces


# The window is two of ten tokens unless told; no decay unless told, so that scores decide.
CUTS: dict[str, tuple[list[Unit], int, dict[str, Any], list[Place]]] = {
    "at the best point of the window": (
        [6, 2, 1, 5], 10, {"scores": {1: 99, 2: 50}}, [(0, 2), (2, 4)],
    ),
    "the window's end counts": (
        [6, 2, 1, 5], 10, {"scores": {1: 50, 2: 40}, "window": 4}, [(0, 1), (1, 4)],
    ),
    "of equals the first": (
        [6, 1, 1, 1, 5], 10, {"window": 3}, [(0, 2), (2, 5)],
    ),
    "nearer points are worth more with decay": (
        [6, 1, 1, 1, 5], 10, {"window": 3, "decay": 0.1}, [(0, 4), (4, 5)],
    ),
    "a window without a point ends at the last one before it": (
        [3, 2, 2, 9], 10, {"scores": {1: 99, 2: 50}, "window": 2}, [(0, 2), (2, 3), (3, 4)],
    ),
    "and decay counts from there": (
        [3, 2, 2, 9], 10, {"scores": {2: 21}, "window": 2, "decay": 0.9}, [(0, 3), (3, 4)],
    ),
    "penalties do not count while there is another point": (
        [2, 2, 2, 2, 9], 10, {"scores": {2: -2, 3: -1, 4: -1}, "window": 2}, [(0, 1), (1, 4), (4, 5)],
    ),
    "of penalties the smallest": (
        [2, 2, 2, 2, 9], 10, {"scores": {1: -3, 2: -1, 3: -2, 4: -2}}, [(0, 2), (2, 4), (4, 5)],
    ),
    "of equal penalties the last": (
        [2, 2, 2, 2, 9], 10, {"scores": {1: -3, 2: -1, 3: -1, 4: -2}}, [(0, 3), (3, 4), (4, 5)],
    ),
    "a score of 0 is no better than a penalty": (
        [2, 2, 2, 2, 9], 10, {"scores": {1: 0, 2: 0, 3: -1, 4: -1}, "window": 9},
        [(0, 2), (2, 4), (4, 5)],
    ),
    "of low scores the best": (
        [2, 2, 2, 2, 9], 10, {"scores": {1: 0.5, 2: 0.5, 3: 0.6, 4: -1}, "window": 9},
        [(0, 3), (3, 4), (4, 5)],
    ),
    "the least score above it is": (
        [2, 2, 2, 2, 9], 10, {"scores": {1: 0.01, 2: -1, 3: -1, 4: -1}, "window": 9},
        [(0, 1), (1, 4), (4, 5)],
    ),
    "a point at the window's end leaves the window where it is": (
        [6, 2, 9], 10, {"scores": {1: 99, 2: 20}, "window": 2}, [(0, 2), (2, 3)],
    ),
    "distance counts from the window's own end": (
        [3, 2, 2, 14], 20, {"scores": {2: 25}, "window": 4, "decay": 0.7}, [(0, 2), (2, 4)],
    ),
    "what fits at the end is not cut": (
        [9, 3, 7], 10, {}, [(0, 1), (1, 3)],
    ),
    "a unit that does not fit is alone": (
        [2, 11, 2], 10, {}, [(0, 1), (1, 2), (2, 3)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("units", "budget", "options", "pieces"), CUTS.values(), ids=CUTS)
def test_cuts_of_the_search(
    units: list[Unit], budget: int, options: dict[str, Any], pieces: list[Place]
) -> None:
    assert filled(units, budget, **{"decay": 0, **options}) == pieces


def test_pieces_after_the_first_leave_room_for_overlap() -> None:
    # The second may repeat the last unit of the first, 2 tokens and one where they join: of
    # ten it has seven for itself.
    units: list[Unit] = [4, 4, 2, 3, 3, 3, 3, 5]
    assert filled(units, 10, overlap=2, window=0) == [(0, 3), (3, 5), (5, 7), (7, 8)]
    assert filled(units, 10, overlap=0, window=0) == [(0, 3), (3, 6), (6, 8)]
    # To "fill" a section may begin there: before a heading nothing is repeated.
    units = [4, 4, 2, 3, 3, 4, 3, 5]
    assert filled(
        units,
        10,
        {3: 1},
        texts=[True] * 8,
        kinds={4: "paragraph"},
        overlap=2,
        window=0,
    ) == [(0, 3), (3, 6), (6, 8)]


def test_context_takes_room_in_a_cut() -> None:
    units: list[Unit] = [2, 2, 2, 2, 2, 2, 2]
    context = {0: 4, 3: 6}
    assert filled(units, 10, context=lambda unit: context.get(unit, 0), window=0) == [
        (0, 3),
        (3, 5),
        (5, 7),
    ]


def test_a_point_beyond_the_room_is_taken_before_one_that_parts() -> None:
    """At the expense of context and overlap: the first within the budget, if any."""
    context = {0: 7}
    options: dict[str, Any] = {"context": lambda unit: context.get(unit, 0), "decay": 0}
    units: list[Unit] = [2, 2, 2, 2, 2, 9]
    assert filled(units, 10, scores={1: -1, 2: -1, 3: 1, 4: 9}, **options)[0] == (0, 3)
    # A score of 0 is no better than a penalty there either.
    assert filled(units, 10, scores=dict.fromkeys(range(6), 0), **options)[0] == (0, 5)
    # Beyond the budget it is no use.
    scores = {1: -1, 2: -3, 3: -2, 4: -3}
    assert filled(units, 9, scores=scores, **options)[0] == (0, 1)
    # The end of what is cut is such a point.
    assert filled([2, 2, 2], 9, scores={1: -1, 2: -1}, **options) == [(0, 3)]


def test_each_place_that_is_looked_at_is_counted_once_where_counts_are_estimates() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    pieces = filled([3] * 60, 30, counter=replace(W_ESTIMATED, count=count))
    assert len(counted) <= len(pieces) == 6


def test_what_has_to_be_put_after_a_piece_counts() -> None:
    """The next best point is taken where the best does not fit with it."""
    suffix = {3: 4}
    options: dict[str, Any] = {"suffix": lambda unit: suffix.get(unit, 0), "decay": 0}
    units: list[Unit] = [2, 2, 3, 2, 2, 6]
    scores = {1: 10, 2: 30, 3: 50, 4: 20}
    assert filled(units, 10, scores=scores, window=9, **options)[0] == (0, 2)
    assert filled(units, 10, scores=scores, window=1, **options)[0] == (0, 4)
    # So is one further back where none in the window fits.
    scores = {1: 10, 2: 10, 3: 50, 4: -1}
    assert filled(units, 10, scores=scores, window=1, **options)[0] == (0, 2)


# Crumbs: a last piece below a fifth of the budget.
CRUMBS: dict[str, tuple[list[Unit], dict[str, Any], list[Place]]] = {
    "it is shared as evenly as points allow": (
        [5, 5, 5, 5, 3], {}, [(0, 2), (2, 5)],
    ),
    "one of a fifth is none": (
        [5, 5, 5, 5, 4], {}, [(0, 4), (4, 5)],
    ),
    "only the last two pieces share": (
        [20, 5, 5, 5, 5, 3], {}, [(0, 1), (1, 3), (3, 6)],
    ),
    "the better point wins over the middle": (
        [5, 5, 5, 5, 3], {"scores": {3: 60}}, [(0, 3), (3, 5)],
    ),
    "decay says what distance from the middle costs": (
        [5, 5, 5, 5, 3], {"scores": {3: 21}, "decay": 0.9}, [(0, 2), (2, 5)],
    ),
    "of equals the lowest": (
        [5, 5, 5, 5, 3], {"decay": 0}, [(0, 1), (1, 5)],
    ),
    "not at a penalty": (
        [5, 5, 5, 5, 3], {"scores": {1: -1, 2: -1, 3: -1}}, [(0, 4), (4, 5)],
    ),
    "a score of 0 is no better than a crumb": (
        [5, 5, 5, 5, 3], {"scores": {1: 0, 2: 0, 3: 0}}, [(0, 4), (4, 5)],
    ),
    "the least score above it is": (
        [5, 5, 5, 5, 3], {"scores": {1: 0, 2: 0.5, 3: 0}}, [(0, 2), (2, 5)],
    ),
    "the first of both would be a crumb": (
        [3, 17, 3], {}, [(0, 2), (2, 3)],
    ),
    "the first of both is a fifth": (
        [4, 16, 3], {}, [(0, 1), (1, 3)],
    ),
    "the last would still be one": (
        [19, 0, 1, 2], {}, [(0, 3), (3, 4)],
    ),
    "the last would be a fifth": (
        [10, 8, 2, 2], {"scores": {1: -1}}, [(0, 2), (2, 4)],
    ),
    "the last would not fit": (
        [1, 19, 3], {}, [(0, 2), (2, 3)],
    ),
}  # fmt: skip


def test_what_says_nothing_joins_a_neighbour_at_the_expense_of_its_path() -> None:
    options: dict[str, Any] = {"context": lambda _: 6, "texts": [True] * 3}
    assert packed([12, 7], 20, **options) == [(0, 1), (1, 2)]
    assert packed([12, 7], 20, silent={1}, **options) == [(0, 2)]
    assert packed([12, 7], 20, silent={0}, **options) == [(0, 2)]
    assert packed([12, 9], 20, silent={1}, **options) == [(0, 1), (1, 2)]
    assert packed([12, 4, 4], 20, silent={1, 2}, **options) == [(0, 3)]
    assert packed([12, 4, 4], 20, silent={2}, **options) == [(0, 1), (1, 3)]
    assert packed([12, 7], 20, silent={1}, min_tokens=7, **options) == [(0, 2)]
    assert packed([12, 7], 20, silent={1}, min_tokens=0, **options) == [(0, 1), (1, 2)]
    # A heading alone is no text, and says nothing that could be joined.
    assert packed([12, 7], 20, {1: 1}, context=lambda _: 6) == [(0, 1), (1, 2)]
    # Neither is front matter, but that is to be joined.
    options["texts"] = [False, True]
    assert packed([7, 12], 20, silent={0}, **options) == [(0, 2)]


@pytest.mark.parametrize(("units", "options", "pieces"), CRUMBS.values(), ids=CRUMBS)
def test_crumbs_of_the_search(
    units: list[Unit], options: dict[str, Any], pieces: list[Place]
) -> None:
    assert filled(units, 20, **{"window": 0, **options}) == pieces


def test_a_fifth_is_rounded_down() -> None:
    assert filled([6, 6, 6, 6, 3], 24, window=0) == [(0, 2), (2, 5)]
    assert filled([6, 6, 6, 6, 4], 24, window=0) == [(0, 4), (4, 5)]
    assert filled([4, 20, 3], 24, window=0) == [(0, 1), (1, 3)]


def test_a_section_that_begins_a_crumb_is_not_shared_to_fill() -> None:
    options: dict[str, Any] = {"texts": [True] * 5, "window": 0}
    assert filled([5, 5, 5, 5, 3], 20, {4: 1}, **options) == [(0, 4), (4, 5)]
    assert filled([5, 5, 5, 5, 3], 20, {3: 1}, **options) == [(0, 3), (3, 5)]


def test_crumbs_leave_room_for_overlap_and_context() -> None:
    # The last three units, 15 tokens, would fit but for the 6 that the piece before takes in them.
    units: list[Unit]
    units = [3, 5, 6, 6, 3]
    assert filled(units, 20, window=0, overlap=5, scores={2: 90}) == [(0, 3), (3, 5)]
    assert filled(units, 20, window=0, overlap=4, scores={2: 90}) == [(0, 2), (2, 5)]
    # Of 20 the second piece has 9, for itself and what has to be put after it.
    units = [10, 10, 3, 3, 3, 2]
    for after, pieces in ((3, [(0, 2), (2, 4), (4, 6)]), (4, [(0, 2), (2, 5), (5, 6)])):
        suffix = {4: after}
        assert pieces == filled(
            units, 20, window=0, overlap=10, suffix=lambda unit, suffix=suffix: suffix.get(unit, 0)
        )
    # The first has all of it.
    suffix = {2: 10}
    assert filled([5, 5, 5, 5, 3], 20, window=0, suffix=lambda unit: suffix.get(unit, 0)) == [
        (0, 2),
        (2, 5),
    ]
    context = {2: 8}
    assert filled([5, 5, 5, 5, 3], 20, window=0, context=lambda unit: context.get(unit, 0)) == [
        (0, 3),
        (3, 5),
    ]
