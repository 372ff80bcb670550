"""The promises as properties, over generated Markdown and over random strings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Analysis, BreakPoint, ChunkConfig, Chunker
from chunkast.analysis import DocumentDraft
from chunkast.heuristics import Heuristic, Patch
from tests.checks import check_promises
from tests.strategies import documents, markdown, nasty_text, nested, pages, spaced_text


def words(text: str) -> int:
    """A user's own counter, not additive: white-space separated words."""
    return len(text.split())


def configurations() -> st.SearchStrategy[ChunkConfig]:
    """Budgets from absurd to ordinary, with every switch either way."""
    return st.builds(
        ChunkConfig,
        max_tokens=st.sampled_from([1, 2, 3, 7, 16, 40, 64, 100, 200, 400]),
        overlap=st.sampled_from([0, 0.0, 0.15, 0.3, 0.9]),
        min_tokens=st.sampled_from([None, 0, 30]),
        encoding=st.sampled_from(["cl100k_base", "o200k_base"]),
        packing=st.sampled_from(["sections", "fill"]),
        window=st.sampled_from([None, 0, 10]),
        context=st.sampled_from(["none", "title", "headings"]),
        trim=st.booleans(),
        oversize=st.sampled_from(["split", "split", "keep"]),
        opaque=st.sampled_from(["split", "keep"]),
        front_matter_text=st.sampled_from(["keep", "drop"]),
        front_matter_keys=st.sampled_from([(), ("title", "tags")]),
        extensions=st.sampled_from([ChunkConfig().extensions, ()]),
    )


@given(markdown(), configurations())
def test_promises_on_markdown(text: str, config: ChunkConfig) -> None:
    check_promises(text, config)


@given(nasty_text(), configurations())
def test_promises_on_any_string(text: str, config: ChunkConfig) -> None:
    check_promises(text, config)


@given(st.text(), configurations())
def test_promises_on_plain_random_text(text: str, config: ChunkConfig) -> None:
    check_promises(text, config)


@given(documents(), configurations())
def test_promises_on_spliced_documents(text: str, config: ChunkConfig) -> None:
    check_promises(text, config)


@given(nested(), configurations())
def test_promises_on_headings_in_containers(text: str, config: ChunkConfig) -> None:
    check_promises(text, config)


@given(pages(), configurations())
def test_promises_on_pages_with_front_matter(text: str, config: ChunkConfig) -> None:
    check_promises(text, config)


@given(nested() | pages(), configurations())
def test_paths_name_the_sections_of_the_outline(text: str, config: ChunkConfig) -> None:
    chunker = Chunker(replace(config, trim=True))
    outline = chunker.outline(text)
    sections = [section for section in outline.sections[1:] if section.path]
    for chunk in chunker.chunk(text):
        own = chunk.start_index + chunk.overlap
        around = [each for each in sections if each.start_index <= own < each.end_index]
        innermost = max(around, key=lambda each: each.start_index, default=outline.sections[0])
        assert outline.find(chunk).path == innermost.path
        assert not innermost.path or chunk.sections[0] == innermost.path
        assert innermost.path[-len(chunk.headings) :] == chunk.headings or not chunk.headings


@given(spaced_text(), configurations())
def test_promises_amid_white_space_of_every_kind(text: str, config: ChunkConfig) -> None:
    check_promises(text, config)


@given(documents(), st.sampled_from([3, 20, 90]), st.sampled_from([len, words]), st.booleans())
def test_promises_with_the_users_own_counter(
    text: str, budget: int, counter: object, trim: bool
) -> None:
    check_promises(text, ChunkConfig(max_tokens=budget, encoding=counter, trim=trim))


def below_headings() -> st.SearchStrategy[str]:
    """Headings and paragraphs of a few short sentences."""
    sentence = st.integers(1, 7).map(lambda count: " ".join(["W", *["w"] * (count - 1)]) + ".")
    paragraph = st.lists(sentence, min_size=1, max_size=6).map(" ".join)
    heading = st.sampled_from(["# A b c", "## D", "> # E", "[f]: /g", "- h:"])
    return st.lists(heading | paragraph, min_size=1, max_size=8).map("\n\n".join)


@given(
    below_headings() | markdown(),
    configurations(),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([-5.0, 0.0, 30.0, 95.0])), max_size=12),
    st.booleans(),
)
def test_promises_with_the_users_own_break_points(
    text: str, config: ChunkConfig, places: list[tuple[float, float]], by_words: bool
) -> None:
    points = [BreakPoint(int(place * len(text)), score, "own") for place, score in places]

    def add(draft: DocumentDraft) -> Patch[Analysis]:
        assert draft.value is not None
        return Patch(value=draft.value.plus(break_points=points))

    own = Heuristic("own", "post-parse", add)
    encoding = words if by_words else config.encoding
    config = replace(config, heuristics=(own,), encoding=encoding)
    check_promises(text, config, own_points={point.pos for point in points})


# Longer texts in budgets of one or two tokens are thousands of chunks, three times each.
@given(documents().map(lambda text: text[:800]), configurations())
def test_the_same_input_gives_the_same_chunks_with_ids_of_their_own(
    text: str, config: ChunkConfig
) -> None:
    chunker = Chunker(config)
    once = chunker.chunk(text, "doc.md")
    assert Chunker(config).chunk(text, "doc.md") == once
    assert chunker.chunk(chunker.analyze(text), "doc.md") == once
    assert len({chunk.id for chunk in once}) == len(once)


@pytest.mark.parametrize("budget", [1, 5, 60])
def test_one_character_of_every_kind(budget: int) -> None:
    text = "".join(map(chr, [*range(0x250), 0xFEFF, 0xD800, 0xDFFF, 0x2028, 0x1F468, 0x200D]))
    check_promises(text, ChunkConfig(max_tokens=budget))
    check_promises(text, ChunkConfig(max_tokens=budget, trim=False))
