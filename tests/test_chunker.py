"""What the chunker does with whole documents: sections, cuts, context, overlap, batches."""

from __future__ import annotations

import tracemalloc

import pytest

import chunkast
from chunkast import Chunker, ConfigError

SENTENCE = "The ferry leaves at nine and comes back before the tide turns. "


# Lead-ins


@pytest.mark.parametrize("end", [":", "：", "**such as:**", "by", "using `f`", "(the next one)"])
def test_what_ends_no_sentence_leads_in(end: str) -> None:
    (point, *_) = Chunker().analyze(f"It is given {end}\n\n```\ncode\n```\n").break_points
    assert point.kind == "lead-in"


@pytest.mark.parametrize(
    "before",
    ["It is given.\n\n", "It is (given.)\n\n", "- an item\n\n", "> quoted\n\n", "- a\n  - b\n\n"],
)
def test_a_sentence_or_a_container_that_ended_leads_in_to_nothing(before: str) -> None:
    points = Chunker().analyze(f"{before}```\ncode\n```\n").break_points
    assert [point.kind for point in points if point.pos == len(before)] == ["fence"]


# The rest of the interface


def test_ids_count_parts_under_a_heading_path_and_go_on_in_a_batch() -> None:
    text = "# A\n\none\n\n# A\n\ntwo\n"
    chunker = Chunker(max_tokens=4, min_tokens=0)
    first, second = chunker.chunk(text, source="x")
    assert (first.headings, second.headings) == (("A",), ("A",))
    assert first.id == chunkast.chunk_id("x", ("A",), 0)
    assert second.id == chunkast.chunk_id("x", ("A",), 1)
    batch = chunker.chunk_batch([text, "# B\n\nb\n", text], sources=["x", "y", "x"])
    assert batch[2][0].id == chunkast.chunk_id("x", ("A",), 2)
    assert [len(chunks) for chunks in chunker.chunk_batch([text, "", text])] == [2, 0, 2]


def test_documents_without_a_source_count_their_parts_on_their_own() -> None:
    text = "# A\n\na\n"
    chunker = Chunker()
    (wanted,) = chunker.chunk(text)
    pairs = [(None, text)] * 2
    assert list(chunker.iter_chunks(pairs)) == [wanted, wanted]
    assert list(chunker.chunk_documents(pairs)) == [[wanted], [wanted]]
    assert chunker.chunk_batch([text, text]) == [[wanted], [wanted]]


def test_no_chunk_that_was_given_out_is_kept() -> None:
    # Sections of a list, prose and code, of a different text each.
    text = "".join(
        f"## Pier {n}\n\n- Berth {n}\n- Crane {n}\n\n{SENTENCE * 5}\n\n```\nmoor({n})\n```\n\n"
        for n in range(400)
    )
    lazily = Chunker().iter_chunks([("harbour.md", text)])
    tracemalloc.start()
    try:
        kept = [tracemalloc.get_traced_memory()[0] for _ in lazily]
    finally:
        tracemalloc.stop()
    assert len(kept) > 40
    assert max(kept) < 1.1 * kept[0]


def test_arguments_are_checked() -> None:
    with pytest.raises(ConfigError, match="sources=1: must be one per text"):
        Chunker().chunk_batch(["a", "b"], sources=["x"])
    with pytest.raises(ConfigError, match="workers=0"):
        Chunker().chunk_batch(["a"], workers=0)
