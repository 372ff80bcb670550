"""Containers that begin with another region, that end with a heading, or that have long titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import ChunkConfig, Chunker
from chunkast.config import DEFAULT_EXTENSIONS
from tests.checks import check_promises
from tests.strategies import framed

BUDGETS = st.sampled_from([40, 60, 80, 100, 150])
OVERLAPS = st.sampled_from([0, 0.15])
WORDS = "Some words are here today. "


@given(framed(), BUDGETS, OVERLAPS)
def test_the_promises_hold(text: str, budget: int, overlap: float) -> None:
    chunker = Chunker(max_tokens=budget, overlap=overlap)
    chunks = check_promises(text, chunker.config)
    assert chunker.chunk(chunker.analyze(text), "doc.md") == chunks


@given(framed(), BUDGETS)
def test_a_heading_that_fits_is_in_the_context(text: str, budget: int) -> None:
    chunker = Chunker(max_tokens=budget, overlap=0)
    outline, count = chunker.outline(text), chunker.counter.count
    begun = {section.start_index for section in outline.sections}
    for chunk in chunker.chunk(text):
        path = outline.find(chunk).path
        titles = path[:-1] if chunk.start_index in begun else path
        if titles and not chunk.context and all(count(title) <= budget // 2 for title in titles):
            shortest = f"{titles[-1]}\n\n"
            assert count(shortest) > budget // 2 or count(shortest + chunk.text) > budget


@pytest.mark.parametrize(
    "opening", ["<details>\n<summary>Sum</summary>", "<details><summary>Sum</summary>"]
)
def test_a_pair_of_tags_is_whole_where_another_region_begins(opening: str) -> None:
    pair = f"{opening}\n\n## D\n\n{'Other words now. ' * 20}\n\n</details>"
    text = f"# A\n\n{'Some words here. ' * 12}\n\n{pair}\n\n{'End words here. ' * 10}\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=100))
    assert any(pair in chunk.text[chunk.overlap :] for chunk in chunks)


@pytest.mark.parametrize("opening", ['=== "T"', '!!! note "T"', "??? tip"])
@pytest.mark.parametrize(
    "below", ["```\n" + "code x\n" * 15 + "```\n", "| a | b |\n|--|--|\n" + "| c | d |\n" * 10]
)
@pytest.mark.parametrize("budget", [70, 100])
def test_a_heading_at_the_end_of_a_container_stays_with_the_region_below(
    opening: str, below: str, budget: int
) -> None:
    text = f"{opening}\n\n    {WORDS * 8}\n\n    ## E\n\n{below}"
    chunks = check_promises(text, ChunkConfig(max_tokens=budget, overlap=0))
    assert [chunk.text.split("\n")[0] for chunk in chunks[1:]] == ["    ## E"]


def test_a_heading_without_a_title_ends_the_section_in_chunks_and_outlines() -> None:
    text = (
        f"# A\n\n{WORDS * 8}\n\n## B\n\n{WORDS * 8}\n\n##\n\n{WORDS * 8}\n\n### C\n\n{WORDS * 8}\n"
    )
    chunker = Chunker(max_tokens=60, overlap=0)
    chunks = chunker.chunk(text)
    assert [chunk.text.partition("\n")[0] for chunk in chunks] == ["# A", "## B", "##", "### C"]
    paths = [chunk.headings for chunk in chunks]
    assert paths == [("A",), ("A", "B"), ("A",), ("A", "C")]
    sections = chunker.outline(text).sections[1:]
    assert [(section.path, section.end_line) for section in sections] == [
        (("A",), 15),
        (("A", "B"), 7),
        (("A", "C"), 15),
    ]


@pytest.mark.parametrize("above", ["", "<X/>\n\n"])
def test_a_component_in_a_quote_does_not_depend_on_others(above: str) -> None:
    text = f"{above}> <Tabs>\n>\n>     text\n>\n> </Tabs>\n"
    blocks = Chunker(extensions=(*DEFAULT_EXTENSIONS, "mdx")).analyze(text).blocks
    assert "code" not in {leaf.kind for leaf in blocks.leaves()}
