"""What holds for any packing, on documents whose sizes are known.

A token is a letter "w", so that the sizes of blocks add up whatever is between them. Where
the packing is determined by a few words of the design, it is written down here once more, as
plainly as possible, and compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from random import Random
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import BreakPoint, Chunk, ChunkConfig, best_cut
from chunkast.core.analysis.search import cut_value
from chunkast.scores import SCORES
from tests.checks import check_promises

# The share of the budget below which the last piece of a cut is shared with the one before.
CRUMB = 5
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def tokens(text: str) -> int:
    return text.count("w")


def config(budget: int, **options: Any) -> ChunkConfig:
    given_ = {"overlap": 0, "context": "none", "encoding": tokens, **options}
    return ChunkConfig(max_tokens=budget, **given_)


def sentence(size: int) -> str:
    # A letter before a full stop would be an abbreviation.
    return f"X{' '.join('w' * size)} end."


def paragraph(size: int) -> str:
    """One sentence of that many tokens."""
    return f"{sentence(size)}\n\n"


def sizes(chunks: Sequence[Chunk]) -> list[int]:
    return [chunk.token_count for chunk in chunks]


# Sections


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


@dataclass(frozen=True)
class Part:
    """Characters of a text, and whether no section was divided for them."""

    start: int
    end: int
    whole: bool = True


def packed(
    section: Section, text: str, budget: int, least: int | None, start: int = 0
) -> list[Part]:
    """The chunks of a section that begins at ``start``, in which every body fits."""
    if section.size <= budget and not (least == 0 and section.children):
        return [Part(start, start + len(section.text))]
    at = start + len(section.text) - sum(len(child.text) for child in section.children)
    parts = [Part(start, at)]
    for child in section.children:
        inner = packed(child, text, budget, least, at)
        parts += inner if len(inner) == 1 else [replace(part, whole=False) for part in inner]
        at += len(child.text)

    def size(part: Part) -> int:
        return tokens(text[part.start : part.end])

    def small(one: Part, two: Part, limit: int) -> bool:
        return min(size(one), size(two)) < limit

    def may(one: Part, two: Part) -> bool:
        whole = one.whole and two.whole
        crumb = -(-budget // 10) if least is None else least
        return size(one) + size(two) <= budget and (
            (least is None and whole) or small(one, two, crumb)
        )

    return joined(parts, text, size, may)


def joined(
    parts: Sequence[Part],
    text: str,
    size: Callable[[Part], int],
    may: Callable[[Part, Part], bool],
) -> list[Part]:
    """Neighbours made one, sections further down and small ones first, each boundary tried once."""
    parts = list(parts)
    tried = set[int]()

    def key(pair: tuple[Part, Part]) -> tuple[float, ...]:
        two = pair[1]
        following = text[two.start : two.start + 20]
        level = f"h{following.index(' ')}"
        union = sum(map(size, pair)).bit_length()
        sample = crc32(following.encode()) >> 12
        return SCORES[level], min(map(size, pair)), sample, union, two.start

    while left := [pair for pair in pairwise(parts) if pair[1].start not in tried]:
        one, two = min(left, key=key)
        tried.add(two.start)
        if may(one, two):
            place = parts.index(one)
            parts[place : place + 2] = [Part(one.start, two.end, one.whole and two.whole)]
    return parts


@given(sections(), st.integers(17, 60), st.sampled_from([None, None, 0, 4, 10]))
def test_sections_that_fit_stay_whole_and_are_joined_in_order(
    section: Section, budget: int, least: int | None
) -> None:
    text = section.text
    chunks = check_promises(text, config(budget, min_tokens=least))
    wanted = packed(section, text, budget, least)
    assert [chunk.start_index for chunk in chunks] == [part.start for part in wanted]


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


def test_sections_deeper_than_any_are_packed() -> None:
    text = "".join(f"{'#' * (1 + n % 6)} w\n\n{paragraph(3)}" for n in range(500))
    assert max(sizes(check_promises(text, config(9)))) == 8


# The scored search


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
