"""Where chunks begin and end, on documents whose sizes are known.

A token is a letter "w", so that the sizes of blocks add up whatever is between them. Tables
write a document as its blocks with a "/" wherever a chunk has to begin: a number is a paragraph
of so many tokens, ``3+2`` one of two sentences, ``#2`` a heading of the second level, ``#2x3``
one of three tokens. ``@50`` gives the place before the next block that score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import BreakPoint, Chunk
from chunkast.analysis import DocumentHeuristic
from chunkast.heuristics import Heuristic, Patch
from tests.checks import check_promises, counter_of
from tests.units import config, tokens


def sentence(size: int) -> str:
    # A letter before a full stop would be an abbreviation.
    return f"X{' '.join('w' * size)} end."


def paragraph(*sizes: int) -> str:
    return " ".join(map(sentence, sizes)) + "\n\n"


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

    def score(draft: Any) -> Patch[Any]:
        return Patch(value=draft.value.plus(break_points=points))

    scored = Heuristic("points", "post-parse", score)
    chunks = check_promises(text, config(budget, heuristics=(scored,), **options))
    begun = {chunk.start_index + chunk.overlap for chunk in chunks[1:]}
    words = [f"/ {word}" if start in begun else word for start, word in at.items()]
    return " ".join(words), chunks


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
    "else joined while the first is smaller": ("#1 2 #1 4 / #1 4", 12, {"min_tokens": 4}),
    "one token less, and they are joined": ("#1 2 #1 3 / #1 8", 15, {"min_tokens": 4}),
    "a heading goes with the text it heads": ("#1 #2 8 / #2 8", 10, {}),
    "at the end they go with the text before": ("#1 7 / #1 5 #2 #2", 9, {}),
    "where that has no room they are alone": ("#1 5 / #1 4 / #1 #1", 6, {}),
    "too many headings are cut": ("#1 9 / #1x3 #1x4 / #1x5", 10, {}),
    "text before all headings": ("8 / #1 8", 10, {}),
    "a block over the budget is alone": ("#1 / 30 / #1 2", 10, {"oversize": "keep"}),
    "less than a tenth joins the end of what was cut": ("#1 20 / 25 10 #1 2", 40, {}),
    "a tenth does not": ("#1 20 / 25 10 / #1 3", 40, {}),
    "less than min_tokens does": ("#1 20 / 25 8 #1 3", 40, {"min_tokens": 5}),
    "so does a part of what was cut": ("#1 38 / 3 #1 30", 40, {}),
}
BODIES: dict[str, Case] = {
    "lower scores are joined first": ("2 / @70 2 2 / @60 2", 4, {}),
    "the smallest pieces grow first": ("4 / 3 2 / 5", 5, {}),
    "overlap takes room": ("4 @1 4 @2 4 / @70 3 @5 3 / @6 4", 12, {"overlap": 4}),
    "and where the end can be repeated": ("4 @1 4 @2 5 / @70 3 @5 3 @6 4", 13, {"overlap": 4}),
}
FILL: dict[str, Case] = {
    "at the best point of the window": ("6 @99 2 / @50 1 5", 10, {}),
    "the window's end counts": ("6 / @50 2 @40 1 5", 10, {"window": 4}),
    "of equals the first": ("6 1 / 1 1 5", 10, {"window": 3}),
    "nearer points are worth more with decay": ("6 1 1 1 / 5", 10, {"window": 3, "decay": 0.1}),
    "without a point in the window at the last before": ("3 @99 2 / @50 2 / 9", 10, {"window": 2}),
    "decay is a share of the window": ("3 2 / @25 2 14", 20, {"window": 4, "decay": 0.7}),
    "what fits at the end is not cut": ("9 / 3 7", 10, {}),
    "a block over the budget is alone": ("2 / 11 / 2", 10, {"oversize": "keep"}),
    "sections are not kept apart": ("#1 1 #1 1", 9, {"min_tokens": 0}),
    "no heading ends a chunk": ("4 / #1 2", 5, {"window": 0}),
}
# Paragraphs have a penalty here.
PENALTIES: dict[str, Case] = {
    "do not count beside another point": ("2 / @20 2 @-2 2 @-1 2 / @-1 9", 10, {"window": 2}),
    "the smallest is taken": ("2 @-3 2 / @-1 2 @-2 2 / @-2 9", 10, {}),
    "0 is no better": ("2 @0 2 / @0 2 @-1 2 / @-1 9", 10, {"window": 9}),
    "a body is joined there first": ("2 / @-1 9 / @20 2 / @20 9", 10, {"packing": "sections"}),
}
# A last piece below a fifth of the budget, which "fill" shares with the one before.
CRUMBS: dict[str, Case] = {
    "it is shared as evenly as points allow": ("5 5 / 5 5 3", 20, {}),
    "one of a fifth is none": ("5 5 5 5 / 4", 20, {}),
    "a fifth is rounded down": ("6 6 6 6 / 4", 24, {}),
    "the better point wins over the middle": ("5 5 5 / @60 5 3", 20, {}),
    "decay prices the distance from the middle": ("5 5 / 5 @21 5 3", 20, {"decay": 0.9}),
    "of equals the lowest": ("5 / 5 5 5 3", 20, {"decay": 0}),
    "the first of both would be a crumb": ("3 17 / 3", 20, {}),
    "a section is no crumb": ("5 5 5 / #1 5 3", 20, {}),
}


# The tables, with the options that all of their rows have.
TABLES: list[tuple[dict[str, Case], dict[str, Any]]] = [
    (SECTIONS, {}),
    (BODIES, {"scores": {"paragraph": 0}}),
    (FILL, {"packing": "fill", "decay": 0}),
    (PENALTIES, {"packing": "fill", "decay": 0, "scores": {"paragraph": -4}}),
    (CRUMBS, {"packing": "fill", "window": 0}),
]


@pytest.mark.parametrize(
    ("written", "budget", "options"),
    [
        pytest.param(written, budget, {**shared, **options}, id=name)
        for table, shared in TABLES
        for name, (written, budget, options) in table.items()
    ],
)
def test_cuts(written: str, budget: int, options: dict[str, Any]) -> None:
    assert chunked(written, budget, **options)[0] == without_scores(written)


# A document in one section, and how many tokens each chunk repeats of the one before.
OVERLAPS: dict[str, tuple[str, int, int, list[int]]] = {
    "the longest tail that the overlap's own budget holds": ("5 3 2 2 / @90 8", 14, 4, [0, 4]),
    "never the whole chunk": ("4 / @90 4", 7, 6, [0, 0]),
    "a shorter one where the longest has no room": ("5 1 2 3 / @90 9", 14, 6, [0, 5]),
    "or none": ("5 1 2 3 / @90 13", 14, 6, [0, 0]),
    "sentences of a paragraph that is too long": ("3+4+2 / @90 9", 13, 3, [0, 2]),
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
    def size(self) -> int:
        return 1 + sum(self.body) + sum(child.size for child in self.children)

    @property
    def text(self) -> str:
        below = [*map(paragraph, self.body), *(child.text for child in self.children)]
        return f"{'#' * self.level} w\n\n{''.join(below)}"


def sections(level: int = 1, least: int = 1) -> st.SearchStrategy[Section]:
    """With at least ``least`` paragraphs of its own each."""
    body = st.lists(st.integers(1, 5), min_size=least, max_size=3)
    below = st.lists(sections(level + 1, least), max_size=3) if level < 4 else st.just([])
    # With text, of its own or further inside.
    return st.builds(Section, st.just(level), body, below).map(
        lambda made: made if made.body or made.children else replace(made, body=[2])
    )


@given(sections(), st.integers(17, 60))
def test_sections_that_fit_stay_whole_and_are_joined_while_they_fit(
    section: Section, budget: int
) -> None:
    # Every body fits, so that no section is cut but at the sections inside it.
    chunks = check_promises(section.text, config(budget))
    cuts = {chunk.start_index for chunk in chunks} | {len(section.text)}
    for inner, edges in nested(section):
        if inner.size <= budget:
            assert not any(edges[0] < cut < edges[-1] for cut in cuts)
        for one, two, three in zip(edges, edges[1:], edges[2:], strict=False):
            if {one, two, three} <= cuts and not any(one < cut < three for cut in cuts - {two}):
                assert tokens(section.text[one:three]) > budget


def nested(section: Section, start: int = 0) -> Iterator[tuple[Section, list[int]]]:
    """Each section inside, and the edges of its own text and of its children."""
    at = start + len(section.text) - sum(len(child.text) for child in section.children)
    edges = [start, at]
    for child in section.children:
        yield from nested(child, at)
        at += len(child.text)
        edges.append(at)
    yield section, edges


@given(sections(least=0), st.integers(10, 60), st.sampled_from(["sections", "fill"]), st.booleans())
def test_no_heading_is_parted_from_what_it_heads(
    section: Section, budget: int, packing: str, trim: bool
) -> None:
    # The headings before a paragraph, at most 4, and the paragraph, at most 5, fit together.
    chunks = check_promises(section.text, config(budget, packing=packing, trim=trim))
    for chunk in chunks[:-1]:
        assert not chunk.text.rstrip().rpartition("\n")[2].startswith("#")


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40), st.integers(30, 60))
def test_no_two_neighbours_of_a_body_would_fit_in_one_chunk(body: list[int], budget: int) -> None:
    chunks = check_promises("".join(map(paragraph, body)), config(budget))
    for one, two in pairwise(chunks):
        assert one.token_count + two.token_count > budget


@given(
    st.lists(
        st.sampled_from(["harbour", "a", "mooring", "x1", "\u6f22\u5b57"]),
        min_size=90,
        max_size=250,
    ),
    st.sampled_from(["", "> ", "- "]),
    st.sampled_from(["sections", "fill"]),
    st.sampled_from(["cl100k_base", lambda text: math.ceil(len(text) / 8)]),
)
def test_no_two_neighbours_of_a_divided_block_would_fit_in_one_chunk(
    words: list[str], opening: str, packing: str, encoding: Any
) -> None:
    # Separate counts of words add up to twice as much as the text.
    text = opening + " ".join(words) + "\n"
    options = config(24, encoding=encoding, packing=packing, window=4)
    chunks = check_promises(text, options)
    count = counter_of(options)
    for one, two in pairwise(chunks[:-1]):
        assert count(text[one.start_index : two.end_index]) > 24


@pytest.mark.parametrize("seed", range(3))
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


@given(
    st.lists(st.integers(1, 6), min_size=20, max_size=60),
    st.integers(24, 60),
    st.booleans(),
    st.sampled_from([("```w\n", "", "```"), ("| w | w |\n|---|---|\n", "| ", "")]),
)
def test_room_is_left_for_what_makes_a_part_whole(
    lines: list[int], budget: int, trim: bool, block: tuple[str, str, str]
) -> None:
    """The lines of a divided fence, and the header of a divided table."""
    head, margin, foot = block
    rows = "".join(margin + " ".join("w" * size) + "\n" for size in lines)

    def ticks_too(part: str) -> int:
        return tokens(part) + part.count("`")

    options = config(budget, trim=trim, context="headings", encoding=ticks_too)
    chunks = check_promises(f"{head}{rows}{foot}\n", options)
    assert all(chunk.embed_text.startswith(head) for chunk in chunks)
    assert all(chunk.embed_text.rstrip().endswith(foot) for chunk in chunks)


@given(
    st.lists(
        st.tuples(st.integers(1, 25), st.integers(0, 25), st.lists(st.integers(2, 12), max_size=6)),
        min_size=2,
        max_size=5,
    ),
    st.sampled_from([10, 20]),
    st.booleans(),
)
def test_no_part_of_a_section_is_joined_with_the_section_before(
    sections: list[tuple[int, int, list[int]]], budget: int, by_heuristics: bool
) -> None:
    starts, text = [], ""
    for title, comment, body in sections:
        starts.append(len(text))
        text += f"# {' '.join('w' * title)}\n\n"
        text += "<!--\n" + "w\n" * comment + "-->\n\n" if comment else ""
        text += "".join(map(paragraph, [4, *body]))
    none: DocumentHeuristic = Heuristic("none", "post-parse", lambda _: None)
    extra = (none,) if by_heuristics else ()
    chunks = check_promises(text, config(budget, overlap=0, heuristics=extra))
    for chunk in chunks:
        for start, end in pairwise([*starts, len(text)]):
            if chunk.start_index < start < chunk.end_index < end:
                parts = text[chunk.start_index : start], text[start : chunk.end_index]
                rest = tokens(text[chunk.end_index : end])
                assert not rest or min(map(tokens, parts)) < budget / 10
