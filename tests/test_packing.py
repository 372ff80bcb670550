"""Where chunks begin and end, on documents whose sizes are known.

A token is a letter "w", so that the sizes of blocks add up whatever is between them. The notation
of the documents is explained in ``fixtures/tables/packing.json``.
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
from tests.tables import cases
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
    """Chunk a document of the table; return the cuts in that notation, and the chunks."""
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


@cases("packing", "sections", "bodies", "fill", "penalties", "crumbs")
def test_cuts(written: str, budget: int, options: dict[str, Any]) -> None:
    assert chunked(written, budget, **options)[0] == without_scores(written)


@cases("packing", "overlaps")
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
