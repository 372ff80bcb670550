"""Where chunks begin and end, on documents whose sizes are known.

A token is a letter "w", so that the sizes of blocks add up whatever is between them. Tables
write a document as its blocks with a "/" wherever a chunk has to begin: a number is a paragraph
of so many tokens, ``3+2`` one of two sentences, ``#2`` a heading of the second level, ``#2x3``
one of three tokens. ``@50`` gives the place before the next block that score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import BreakPoint, Chunk, ProtectedRegion, best_cut
from chunkast.core.analysis import DocumentHeuristic
from chunkast.core.analysis.search import cut_value
from chunkast.heuristics import Heuristic, Patch
from chunkast.scores import SCORES
from tests.checks import check_promises
from tests.units import config, tokens

# The share of the budget below which "fill" shares the last piece with the one before.
CRUMB = 5
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
PACKINGS = st.sampled_from(["sections", "fill"])


def sentence(size: int) -> str:
    # A letter before a full stop would be an abbreviation.
    return f"X{' '.join('w' * size)} end."


def paragraph(*sizes: int) -> str:
    return " ".join(map(sentence, sizes)) + "\n\n"


def sizes(chunks: Sequence[Chunk]) -> list[int]:
    return [chunk.token_count for chunk in chunks]


def block(word: str) -> str:
    if word.startswith("#"):
        level, _, size = word[1:].partition("x")
        return f"{'#' * int(level)} {'w' * int(size or 1)}\n\n"
    return paragraph(*map(int, word.split("+")))


def chunked(written: str, budget: int, **options: Any) -> tuple[str, list[Chunk]]:
    """Chunk a document in the tables' notation; return the cuts in that notation, and the chunks."""
    text, points, at = "", [], {}
    for word in written.replace("/", "").split():
        if word.startswith("@"):
            points.append(BreakPoint(len(text), float(word[1:]), "mark"))
        else:
            at[len(text)] = word
            text += block(word)
    scored: DocumentHeuristic = Heuristic(
        "points", "post-parse", lambda draft: Patch(value=_with(draft.value, points))
    )
    chunks = check_promises(text, config(budget, heuristics=(scored,), **options))
    begun = {chunk.start_index + chunk.overlap for chunk in chunks[1:]}
    words = [f"/ {word}" if start in begun else word for start, word in at.items()]
    return " ".join(words), chunks


def _with(analysis: Any, points: list[BreakPoint]) -> Any:
    return analysis.plus(break_points=points)


def without_scores(written: str) -> str:
    return re.sub(r"@\S+ ", "", written)


Case = tuple[str, int, dict[str, Any]]

SECTIONS: dict[str, Case] = {
    "a document that fits is one chunk": ("#1 4 #2 4", 10, {}),
    "sections stay whole, though more would fit": ("#1 5 #1 6 / #1 7", 14, {}),
    "neighbours are joined while they fit": ("#1 2 #1 2 #1 2 / #1 2", 9, {}),
    "a section is joined to the text before it": ("2 #1 2 / #1 9", 10, {}),
    "but not to the end of one that was cut": ("#1 9 / #1 5 / 5 / #1 1", 10, {}),
    "nor to the beginning of one": ("#1 1 / #1 5 / 8", 10, {}),
    "nor to the inner sections of one": ("#1 1 / #1 1 #2 7 / #2 6", 12, {}),
    "with min_tokens=0 every section is a chunk": ("#1 1 / #2 1 / #2 1", 10, {"min_tokens": 0}),
    "of any number of paragraphs": ("#1 1 1", 10, {"min_tokens": 0}),
    "else joined while the first is smaller": ("#1 2 #1 4 / #1 4", 12, {"min_tokens": 4}),
    "or the second is": ("#1 7 / #1 4 #1 2", 15, {"min_tokens": 4}),
    "two that are not smaller stay apart": ("#1 3 / #1 3 / #1 7", 15, {"min_tokens": 4}),
    "one token less, and they are joined": ("#1 2 #1 3 / #1 8", 15, {"min_tokens": 4}),
    "a heading goes with the text it heads": ("#1 #2 8 / #2 8", 10, {}),
    "several go with the first that has text": ("#1 #2 #2 5 / #2 8", 10, {}),
    "among sections too": ("#1 5 / #2 #2 2 / #2 2 / #2 3", 9, {"min_tokens": 0}),
    "at the end they go with the text before": ("#1 7 / #1 5 #2 #2", 9, {}),
    "where that has no room they are alone": ("#1 5 / #1 4 / #1 #1", 6, {}),
    "too many headings are cut": ("#1 9 / #1x3 #1x4 / #1x5", 10, {}),
    "headings and nothing else": ("#1x3 #2x4 / #2x5", 8, {}),
    "text before all headings": ("8 / #1 8", 10, {}),
    "a block over the budget is alone": ("#1 / 30 / #1 2", 10, {"oversize": "keep"}),
    "at the end of a section too": ("#1 2 #1 / 30", 10, {"oversize": "keep"}),
    "less than a tenth joins the end of what was cut": ("#1 20 / 25 10 #1 2", 40, {}),
    "or its beginning": ("#1 2 #1 20 / 25 10", 40, {}),
    "a tenth does not": ("#1 20 / 25 10 / #1 3", 40, {}),
    "nor what has no room": ("#1 20 / 28 10 / #1 2", 40, {}),
    "nor anything with 0": ("#1 20 / 25 10 / #1 2", 40, {"min_tokens": 0}),
    "less than min_tokens does": ("#1 20 / 25 8 #1 3", 40, {"min_tokens": 5}),
    "so does a part of what was cut": ("#1 38 / 3 #1 30", 40, {}),
}
BODIES: dict[str, Case] = {
    "lower scores are joined first": ("2 / @70 2 2 / @60 2", 4, {}),
    "the smallest pieces grow first": ("4 / 3 2 / 5", 5, {}),
    "overlap takes room": ("4 @1 4 @2 4 / @70 3 @5 3 / @6 4", 12, {"overlap": 4}),
    "where there is any": ("4 @1 4 @2 4 / @70 3 @5 3 @6 4", 12, {}),
    "and where the end can be repeated": ("4 @1 4 @2 5 / @70 3 @5 3 @6 4", 13, {"overlap": 4}),
}
FILL: dict[str, Case] = {
    "at the best point of the window": ("6 @99 2 / @50 1 5", 10, {}),
    "the window's end counts": ("6 / @50 2 @40 1 5", 10, {"window": 4}),
    "of equals the first": ("6 1 / 1 1 5", 10, {"window": 3}),
    "nearer points are worth more with decay": ("6 1 1 1 / 5", 10, {"window": 3, "decay": 0.1}),
    "without a point in the window at the last before": ("3 @99 2 / @50 2 / 9", 10, {"window": 2}),
    "from where decay counts then": ("3 2 @21 2 / 9", 10, {"window": 2, "decay": 0.9}),
    "a point at the window's end is in it": ("6 @99 2 / @20 9", 10, {"window": 2}),
    "decay is a share of the window": ("3 2 / @25 2 14", 20, {"window": 4, "decay": 0.7}),
    "what fits at the end is not cut": ("9 / 3 7", 10, {}),
    "a block over the budget is alone": ("2 / 11 / 2", 10, {"oversize": "keep"}),
    "sections are not kept apart": ("#1 1 #1 1", 9, {"min_tokens": 0}),
    "no heading ends a chunk": ("4 / #1 2", 5, {"window": 0}),
    "nor several": ("3 / #1 #2 2", 5, {"window": 0}),
}
# Paragraphs have a penalty here.
PENALTIES: dict[str, Case] = {
    "do not count beside another point": ("2 / @20 2 @-2 2 @-1 2 / @-1 9", 10, {"window": 2}),
    "the smallest is taken": ("2 @-3 2 / @-1 2 @-2 2 / @-2 9", 10, {}),
    "of equals the last": ("2 @-3 2 @-1 2 / @-1 2 / @-2 9", 10, {}),
    "0 is no better": ("2 @0 2 / @0 2 @-1 2 / @-1 9", 10, {"window": 9}),
    "any more is": ("2 / @0.01 2 @-1 2 @-1 2 / @-1 9", 10, {"window": 9}),
    "a body is joined there first": ("2 / @-1 9 / @20 2 / @20 9", 10, {"packing": "sections"}),
}
# A last piece below a fifth of the budget, which "fill" shares with the one before.
CRUMBS: dict[str, Case] = {
    "it is shared as evenly as points allow": ("5 5 / 5 5 3", 20, {}),
    "one of a fifth is none": ("5 5 5 5 / 4", 20, {}),
    "a fifth is rounded down": ("6 6 6 6 / 4", 24, {}),
    "only the last two pieces share": ("20 / 5 5 / 5 5 3", 20, {}),
    "the better point wins over the middle": ("5 5 5 / @60 5 3", 20, {}),
    "decay prices the distance from the middle": ("5 5 / 5 @21 5 3", 20, {"decay": 0.9}),
    "of equals the lowest": ("5 / 5 5 5 3", 20, {"decay": 0}),
    "the first of both would be a crumb": ("3 17 / 3", 20, {}),
    "the first of both is a fifth": ("4 / 16 3", 20, {}),
    "the last would still be one": ("19 0 1 / 2", 20, {}),
    "the last would not fit": ("1 19 / 3", 20, {}),
    "a section is no crumb": ("5 5 5 / #1 5 3", 20, {}),
}


@pytest.mark.parametrize(("written", "budget", "options"), SECTIONS.values(), ids=SECTIONS)
def test_sections(written: str, budget: int, options: dict[str, Any]) -> None:
    assert chunked(written, budget, **options)[0] == written


@pytest.mark.parametrize(("written", "budget", "options"), BODIES.values(), ids=BODIES)
def test_bodies_are_joined(written: str, budget: int, options: dict[str, Any]) -> None:
    found = chunked(written, budget, scores={"paragraph": 0}, **options)[0]
    assert found == without_scores(written)


@pytest.mark.parametrize(("written", "budget", "options"), FILL.values(), ids=FILL)
def test_cuts_of_the_search(written: str, budget: int, options: dict[str, Any]) -> None:
    given_ = {"packing": "fill", "decay": 0, **options}
    assert chunked(written, budget, **given_)[0] == without_scores(written)


@pytest.mark.parametrize(("written", "budget", "options"), PENALTIES.values(), ids=PENALTIES)
def test_penalties(written: str, budget: int, options: dict[str, Any]) -> None:
    given_ = {"packing": "fill", "decay": 0, "scores": {"paragraph": -4}, **options}
    assert chunked(written, budget, **given_)[0] == without_scores(written)


@pytest.mark.parametrize(("written", "budget", "options"), CRUMBS.values(), ids=CRUMBS)
def test_crumbs_of_the_search(written: str, budget: int, options: dict[str, Any]) -> None:
    given_ = {"packing": "fill", "window": 0, **options}
    assert chunked(written, budget, **given_)[0] == without_scores(written)


# A document in one section, and how many tokens each chunk repeats of the one before.
OVERLAPS: dict[str, tuple[str, int, int, list[int]]] = {
    "the longest tail that the overlap's own budget holds": ("5 3 2 2 / @90 8", 14, 4, [0, 4]),
    "five are not within four": ("5 3 2 3 / @90 8", 14, 4, [0, 3]),
    "never the whole chunk": ("4 / @90 4", 7, 6, [0, 0]),
    "a shorter one where the longest has no room": ("5 1 2 3 / @90 9", 14, 6, [0, 5]),
    "or none": ("5 1 2 3 / @90 13", 14, 6, [0, 0]),
    "sentences of a paragraph that is too long": ("3+4+2 / @90 9", 13, 3, [0, 2]),
    "and of a chunk that is one paragraph": ("2+4 / @90 9", 14, 4, [0, 4]),
    "nothing without a budget": ("5 3 2 2 / @90 8", 14, 0, [0, 0]),
    "nothing of another section": ("2 2 / #1 8 1 / @90 5", 10, 3, [0, 0, 1]),
}


@pytest.mark.parametrize(
    ("written", "budget", "overlap", "repeated"), OVERLAPS.values(), ids=OVERLAPS
)
def test_overlaps(written: str, budget: int, overlap: int, repeated: list[int]) -> None:
    found, chunks = chunked(written, budget, overlap=overlap)
    assert found == without_scores(written)
    assert [tokens(chunk.text[: chunk.overlap]) for chunk in chunks] == repeated


# Sections of any shape


@dataclass(frozen=True)
class Section:
    """A heading of one token, paragraphs below it, and the sections inside."""

    level: int
    body: list[int]
    children: list[Section] = field(default_factory=list)

    @property
    def own(self) -> int:
        return 1 + sum(self.body)

    @property
    def size(self) -> int:
        return self.own + sum(child.size for child in self.children)

    @property
    def text(self) -> str:
        below = [*map(paragraph, self.body), *(child.text for child in self.children)]
        return f"{'#' * self.level} w\n\n{''.join(below)}"


def with_text(level: int, body: list[int], children: list[Section]) -> Section:
    """A section with text, of its own or further inside."""
    return Section(level, body or ([] if children else [2]), children)


def sections(level: int = 1, least: int = 1) -> st.SearchStrategy[Section]:
    """With at least ``least`` paragraphs of its own each."""
    body = st.lists(st.integers(1, 5), min_size=least, max_size=3)
    below = st.lists(sections(level + 1, least), max_size=3) if level < 4 else st.just([])
    return st.builds(with_text, st.just(level), body, below)


@given(sections(), st.integers(17, 60))
def test_sections_that_fit_stay_whole_and_are_joined_while_they_fit(
    section: Section, budget: int
) -> None:
    # Every body fits, so that no section is cut but at the sections inside it.
    chunks = check_promises(section.text, config(budget))
    cuts = {chunk.start_index for chunk in chunks} | {len(section.text)}
    for start, end, size in spans(section):
        if size <= budget:
            assert not any(start < cut < end for cut in cuts)
    for edges in families(section):
        for one, two, three in zip(edges, edges[1:], edges[2:], strict=False):
            if {one, two, three} <= cuts and not any(one < cut < three for cut in cuts - {two}):
                assert tokens(section.text[one:three]) > budget


def families(section: Section, start: int = 0) -> Iterator[list[int]]:
    """The edges of each section, of its own text and of its children."""
    at = start + len(section.text) - sum(len(child.text) for child in section.children)
    edges = [start, at]
    for child in section.children:
        yield from families(child, at)
        at += len(child.text)
        edges.append(at)
    yield edges


@given(sections(least=0), st.integers(10, 60), st.sampled_from(["sections", "fill"]), st.booleans())
def test_no_heading_is_parted_from_what_it_heads(
    section: Section, budget: int, packing: str, trim: bool
) -> None:
    # The headings before a paragraph, at most 4, and the paragraph, at most 5, fit together.
    chunks = check_promises(section.text, config(budget, packing=packing, trim=trim))
    for chunk in chunks[:-1]:
        assert not chunk.text.rstrip().rpartition("\n")[2].startswith("#")


def any_sections(level: int = 1) -> st.SearchStrategy[Section]:
    """Sections of which many have no text."""
    body = st.lists(st.integers(1, 5), max_size=2)
    below = st.lists(any_sections(level + 1), max_size=3) if level < 4 else st.just([])
    return st.builds(Section, st.just(level), body, below)


@given(any_sections(), st.integers(10, 60))
def test_headings_alone_are_a_chunk_only_where_they_do_not_fit_the_one_before(
    section: Section, budget: int
) -> None:
    chunks = check_promises(section.text, config(budget))
    for previous, chunk in pairwise(chunks):
        if "X" not in chunk.text:
            assert previous.token_count + chunk.token_count > budget


def spans(section: Section, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Where each section begins and ends, and its size."""
    yield start, start + len(section.text), section.size
    at = start + len(section.text) - sum(len(child.text) for child in section.children)
    for child in section.children:
        yield from spans(child, at)
        at += len(child.text)


@given(sections(), st.integers(6, 10), st.sampled_from([None, 0]), st.booleans())
def test_a_chunk_and_a_section_hold_each_other_or_nothing_of_each_other(
    section: Section, budget: int, least: int | None, trim: bool
) -> None:
    # A heading and any paragraph below it fit, and nothing is small enough to be a crumb, which
    # joins a part of the section beside it: a tenth of the budget is one token.
    text = section.text
    chunks = check_promises(text, config(budget, min_tokens=least, trim=trim))
    for start, end, size in spans(section):
        cuts = [chunk.start_index for chunk in chunks if start < chunk.start_index < end]
        if size <= budget and least != 0:
            assert not cuts
        stop = len(text[:end].rstrip())
        for chunk in chunks:
            first, last = chunk.start_index, len(text[: chunk.end_index].rstrip())
            inside = start <= first and last <= stop
            around = first <= start and stop <= last
            assert inside or around or last <= start or end <= first


# The scored search


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


# Where every block has a heading the search never has to choose among equals.
LEVELS = (0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 6)


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Blocks as (level, size); level 0 is a paragraph, and one comes after every heading."""
    found: list[tuple[int, int]] = []
    for level in draw(st.lists(st.sampled_from(LEVELS), min_size=25, max_size=50)):
        if level:
            found.append((level, 1))
        found.append((0, draw(st.sampled_from((1, 1, 2, 3, 6, 12)))))
    return found


def text_of(blocks: Sequence[tuple[int, int]]) -> str:
    return "".join(f"{'#' * level} w\n\n" if level else paragraph(size) for level, size in blocks)


def points_of(blocks: Sequence[tuple[int, int]]) -> list[BreakPoint]:
    """Places between the blocks: ``pos`` is how many tokens come before."""
    found: list[BreakPoint] = []
    at = 0
    for (before, size), (level, _) in pairwise(blocks):
        at += size
        kind = "orphan-heading" if before else f"h{level}" if level else "paragraph"
        found.append(BreakPoint(at, SCORES[kind], kind))
    return found


def searched(blocks: Sequence[tuple[int, int]], budget: int, window: int) -> list[int]:
    """Where the search cuts, by ``best_cut``: no search where the rest fits."""
    points = [point for point in points_of(blocks) if point.score > 0]
    total = sum(size for _, size in blocks)
    cuts = [0]
    while total - cuts[-1] > budget:
        within = [point for point in points if cuts[-1] < point.pos <= cuts[-1] + budget]
        nearest = within[-1].pos
        # Without a point in the window it ends at the nearest.
        target = nearest if cuts[-1] + budget - nearest > window else cuts[-1] + budget
        cuts.append(best_cut(within, target, window=window))
    return [*cuts, total]


@given(rows(), st.integers(16, 60), st.sampled_from([0, 1, 2, 3, 6, 15, 40]))
def test_fill_cuts_where_best_cut_says(
    blocks: list[tuple[int, int]], budget: int, window: int
) -> None:
    chunks = check_promises(text_of(blocks), config(budget, packing="fill", window=window))
    cuts = list(accumulate(sizes(chunks), initial=0))
    wanted = searched(blocks, budget, window)
    last = wanted[-1] - wanted[-2]
    headed = {point.pos for point in points_of(blocks) if point.kind in HEADINGS}
    if len(wanted) < 3 or last >= budget // CRUMB or wanted[-2] in headed:
        assert cuts == wanted
        return
    # A last piece that small, unless a section begins with it, is shared with the one before, as evenly as points allow.
    assert cuts[:-2] == wanted[:-2]
    assert cuts[-1] == wanted[-1]
    start, end = cuts[-3], cuts[-1]
    half = (end - start) / 2
    least = budget // CRUMB
    allowed = [
        (-cut_value(point.score, abs(point.pos - start - half), max(half, 1), 0.7), point.pos)
        for point in points_of(blocks)
        if start < point.pos < wanted[-2]
        and point.score > 0
        and point.pos - start >= least
        and end - point.pos >= least
        and end - point.pos <= budget
    ]
    better = [place for place in allowed if place[0] < 0]
    assert cuts[-2] == (min(better)[1] if better else wanted[-2])


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40), st.integers(30, 60))
def test_no_two_neighbours_of_a_body_would_fit_in_one_chunk(body: list[int], budget: int) -> None:
    chunks = check_promises("".join(map(paragraph, body)), config(budget))
    for one, two in pairwise(sizes(chunks)):
        assert one + two > budget


@pytest.mark.parametrize("seed", range(8))
def test_an_edit_at_the_start_of_a_long_section_moves_few_cuts(seed: int) -> None:
    chance = Random(seed)
    body = [chance.randint(2, 9) for _ in range(400)]
    # Paragraphs that differ, which hashes tell apart.
    lines = [f"{paragraph(size).strip()} {chance.random()}\n\n" for size in body]
    before = check_promises("".join(lines), config(40))
    after = check_promises(paragraph(7) + "".join(lines), config(40))
    same = {chunk.text for chunk in before} & {chunk.text for chunk in after}
    assert len(before) > 40
    assert len(before) - len(same) <= 12


# Overlap


@st.composite
def paragraphs(draw: st.DrawFn) -> list[list[int]]:
    """The sizes of the sentences of paragraphs, all in one section."""
    return draw(
        st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=10, max_size=30)
    )


def written(paragraphs_: Sequence[Sequence[int]]) -> tuple[str, list[int]]:
    """The text, and where its sentences begin."""
    text = ""
    starts: list[int] = []
    for sentences in paragraphs_:
        for size in sentences:
            starts.append(len(text))
            text += f"{sentence(size)} "
        text = text.rstrip(" ") + "\n\n"
    return text, starts


@given(
    paragraphs(),
    st.integers(24, 60),
    st.integers(0, 8),
    st.sampled_from(["sections", "fill"]),
    st.booleans(),
)
def test_overlap_is_the_longest_tail_of_sentences_within_its_own_budget(
    body: list[list[int]], budget: int, overlap: int, packing: str, trim: bool
) -> None:
    text, starts = written(body)
    options = config(budget, overlap=overlap, packing=packing, trim=trim)
    chunks = check_promises(text, options)
    for previous, chunk in pairwise(chunks):
        own_before = previous.start_index + previous.overlap
        tails = [
            start
            for start in starts
            if own_before < start < previous.end_index
            and tokens(text[start : previous.end_index]) <= overlap
        ]
        # There is room for it: blocks are small, and the packer leaves it free.
        assert chunk.start_index == min(tails, default=chunk.start_index + chunk.overlap)


@given(sections(), st.integers(6, 40), st.integers(1, 5), st.sampled_from(["sections", "fill"]))
def test_no_overlap_before_a_heading(
    section: Section, budget: int, overlap: int, packing: str
) -> None:
    for chunk in check_promises(section.text, config(budget, overlap=overlap, packing=packing)):
        own = chunk.text[chunk.overlap :]
        assert not own.startswith("#") or chunk.overlap == 0
        # To "fill" a chunk may hold the end of one section and the beginning of the next.
        if packing == "sections":
            assert "#" not in chunk.text[: chunk.overlap]


# Context


def shown(chunk: Chunk) -> str:
    """The heading path before a chunk, without a heading that the chunk begins with."""
    begins = chunk.text[chunk.overlap :].startswith("#")
    path = chunk.headings[:-1] if begins else chunk.headings
    return " > ".join(path) + "\n\n" if path else ""


@given(sections(), st.integers(24, 60), st.integers(0, 6), st.sampled_from(["sections", "fill"]))
def test_room_is_left_for_the_heading_path(
    section: Section, budget: int, overlap: int, packing: str
) -> None:
    # A path has at most four tokens, a paragraph five.
    options = config(budget, overlap=overlap, packing=packing, context="headings")
    for chunk in check_promises(section.text, options):
        path = shown(chunk)
        if chunk.embed_text == path + chunk.text:
            continue
        # Only a crumb joins a neighbour at the expense of the path: it is less than a tenth of
        # the budget, or says less than its own path.
        assert packing == "sections"
        assert chunk.token_count + tokens(path) > budget
        least = max(-(-budget // 10), 4)
        cuts = [found.start() for found in re.finditer(r"(?<=\n\n)(?=.)", chunk.text)]
        parts = [part for cut in cuts for part in (chunk.text[:cut], chunk.text[cut:])]
        assert any(tokens(part) < least for part in parts)


@given(st.lists(st.integers(1, 6), min_size=20, max_size=60), st.integers(24, 60), st.booleans())
def test_room_is_left_for_the_lines_of_a_divided_fence(
    lines: list[int], budget: int, trim: bool
) -> None:
    code = "".join(" ".join("w" * size) + "\n" for size in lines)
    text = f"```w\n{code}```\n"

    def ticks_too(part: str) -> int:
        return tokens(part) + part.count("`")

    options = config(budget, trim=trim, context="headings", encoding=ticks_too)
    chunks = check_promises(text, options)
    for chunk in chunks[1:]:
        assert chunk.embed_text.startswith("```w\n")
    for chunk in chunks:
        assert chunk.embed_text.rstrip().endswith("\n```")


@given(st.lists(st.integers(1, 6), min_size=20, max_size=60), st.integers(24, 60))
def test_room_is_left_for_the_header_of_a_divided_table(cells: list[int], budget: int) -> None:
    header = "| w | w |\n|---|---|\n"
    text = header + "".join(f"| {' '.join('w' * size)} | w |\n" for size in cells)
    for chunk in check_promises(text, config(budget, context="headings"))[1:]:
        assert chunk.embed_text.startswith(header)
