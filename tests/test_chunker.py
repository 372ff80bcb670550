"""What the chunker does with whole documents: sections, cuts, context, overlap, batches."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import chunkast
from chunkast import Chunk, ChunkConfig, Chunker, ConfigError
from tests.checks import check_promises

DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"
SENTENCE = "The ferry leaves at nine and comes back before the tide turns. "


def read(name: str) -> str:
    return (DOCUMENTS / name).read_bytes().decode()


def texts(text: str, **options: Any) -> list[str]:
    return Chunker(**{"overlap": 0, "context": "none", **options}).split_text(text)


# Configuration


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens=0: must be a whole number of at least 1"),
        ({"max_tokens": True}, "max_tokens=True"),
        ({"max_tokens": 12.5}, "max_tokens=12.5"),
        ({"overlap": 1.0}, "overlap=1.0: must be a fraction of max_tokens"),
        ({"overlap": -0.1}, "overlap=-0.1"),
        ({"overlap": 900}, "overlap=900"),
        ({"overlap": float("nan")}, "overlap=nan"),
        ({"min_tokens": -1}, "min_tokens=-1"),
        ({"window": -1}, "window=-1"),
        ({"decay": 1.5}, "decay=1.5"),
        ({"packing": "section"}, "packing='section': must be one of 'sections', 'fill'"),
        ({"context": None}, "context=None"),
        ({"trim": 1}, "trim=1"),
        ({"oversize": "drop"}, "oversize='drop'"),
        ({"scores": {"sentense": 3}}, "scores='sentense': did you mean 'sentence'?"),
        ({"scores": {"h1": "high"}}, "scores['h1']='high'"),
        ({"extensions": ("table",)}, "extensions='table': did you mean 'tables'?"),
        ({"extensions": "tables"}, "extensions='tables'"),
        ({"max_token": 5}, "max_token=5: no such field; did you mean 'max_tokens'?"),
        ({"chunk_size": 5, "max_tokens": 6}, "max_tokens=6: max_tokens is given twice"),
    ],
)
def test_a_bad_configuration_says_field_value_and_what_is_allowed(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match="^" + re.escape(message)) as caught:
        Chunker(**options)
    assert isinstance(caught.value, ValueError)


def test_aliases_and_config_objects() -> None:
    assert Chunker(chunk_size=100, chunk_overlap=10).config == ChunkConfig(
        max_tokens=100, overlap=10
    )
    assert Chunker(ChunkConfig(max_tokens=100)).config.max_tokens == 100
    with pytest.raises(ConfigError, match="not both"):
        Chunker(ChunkConfig(), max_tokens=3)
    assert ChunkConfig(max_tokens=450).window_tokens == 100
    assert ChunkConfig(max_tokens=200, overlap=0.15).overlap_tokens == 30
    assert ChunkConfig(scores={"h1": 1}).score_table["h1"] == 1


# Sections


def test_a_lead_in_stays_with_its_list() -> None:
    items = "".join(f"- Item {number} of the list that is led in\n" for number in range(12))
    text = f"{SENTENCE * 4}\n\nDo the following:\n\n{items}"
    for chunk in texts(text, max_tokens=80):
        assert not chunk.endswith("following:")


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


def test_headings_inside_containers_and_tags_open_no_section() -> None:
    text = "# A\n\n> # Quoted\n\n- # Listed\n\n<note>\n\n# Tagged\n\n</note>\n\n## B\n\ntext\n"
    analysis = Chunker().analyze(text)
    assert [heading.path for heading in analysis.headings] == [("A",), ("A", "B")]
    scores = {point.kind: point.score for point in analysis.break_points}
    assert scores["h2"] == 90


def test_titles_are_plain_text() -> None:
    text = "# The `run` *command*, [linked](/u) &amp; **bold**\n\ntext\n\nSet\next\n---\n\nmore\n"
    paths = [heading.path for heading in Chunker().analyze(text).headings]
    assert paths[0] == ("The run command, linked & bold",)
    assert paths[1][-1] == "Set ext"


# Blocks larger than the budget


def test_quote_prefixes_and_crlf_are_kept() -> None:
    text = "> " + "\r\n> ".join([SENTENCE.strip()] * 12) + "\r\n"
    for chunk in check_promises(text, ChunkConfig(max_tokens=40)):
        assert chunk.text.startswith("> The ferry")


# Context and overlap


def test_context_before_the_embedded_text() -> None:
    text = f"---\ntitle: Guide\n---\n\n# One\n\n## Two\n\n{SENTENCE * 30}"
    second = Chunker(max_tokens=120, overlap=0).chunk(text)[2]
    assert second.headings == ("One", "Two")
    assert second.embed_text == f"Guide > One > Two\n\n{second.text}"
    titled = Chunker(max_tokens=120, overlap=0, context="title").chunk(text)[2]
    assert titled.embed_text.startswith("Guide\n\n")
    bare = Chunker(max_tokens=120, overlap=0, context="none").chunk(text)[2]
    assert bare.embed_text == bare.text
    assert second.metadata["front_matter"] == "---\ntitle: Guide\n---\n"


# The rest of the interface


def test_analysis_is_shared_between_budgets_and_scores_can_be_overridden() -> None:
    text = read("tutorial.md")
    analysis = Chunker().analyze(text)
    for budget in (100, 300):
        chunker = Chunker(max_tokens=budget)
        assert chunker.chunk(analysis) == chunker.chunk(text)
    points = Chunker(scores={"fence": 1, "lead-in": 20}).analyze(text).break_points
    assert {point.score for point in points if point.kind == "fence"} <= {1.0}


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


@pytest.mark.slow
def test_workers_change_nothing() -> None:
    names = sorted(path.name for path in DOCUMENTS.iterdir())
    documents = [read(name) for name in names] * 3
    chunker = Chunker(max_tokens=200)
    alone = chunker.chunk_batch(documents, sources=names * 3)
    assert chunker.chunk_batch(documents, sources=names * 3, workers=2) == alone
    lazily = chunker.iter_chunks(zip(names * 3, documents, strict=True))
    assert list(lazily) == [chunk for chunks in alone for chunk in chunks]


def kept_while_given_out(text: str) -> list[int]:
    """The bytes that are held when each chunk of a document comes."""
    lazily = Chunker().iter_chunks([("harbour.md", text)])
    tracemalloc.start()
    try:
        kept = [tracemalloc.get_traced_memory()[0] for _ in lazily]
    finally:
        tracemalloc.stop()
    assert len(kept) > 40
    return kept


def test_no_chunk_that_was_given_out_is_kept() -> None:
    # Sections of a list, prose and code, of a different text each.
    kept = kept_while_given_out(
        "".join(
            f"## Pier {n}\n\n- Berth {n}\n- Crane {n}\n\n{SENTENCE * 5}\n\n```\nmoor({n})\n```\n\n"
            for n in range(400)
        )
    )
    assert max(kept) < 1.05 * kept[0]


def test_batch_arguments_are_checked() -> None:
    with pytest.raises(ConfigError, match="sources=1: must be one per text"):
        Chunker().chunk_batch(["a", "b"], sources=["x"])
    with pytest.raises(ConfigError, match="workers=0"):
        Chunker().chunk_batch(["a"], workers=0)


def test_chunks_survive_json() -> None:
    for chunk in chunkast.chunk(read("emoji.md"), max_tokens=100, source="emoji.md"):
        assert Chunk.from_dict(json.loads(json.dumps(chunk.to_dict()))) == chunk


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\ufeff", "\ufeff\n", "\t\r\n"])
def test_nothing_to_chunk(text: str) -> None:
    assert Chunker().chunk(text) == []
    assert "".join(texts(text, trim=False)) == text


def test_trim_off_tiles_the_source() -> None:
    for path in sorted(DOCUMENTS.iterdir()):
        text = path.read_bytes().decode()
        assert "".join(texts(text, max_tokens=64, trim=False)) == text


def test_a_users_counter_may_raise() -> None:
    def broken(text: str) -> int:
        raise RuntimeError(text[:4])

    with pytest.raises(RuntimeError, match="some"):
        Chunker(encoding=broken).chunk("some text")


@pytest.mark.slow
@pytest.mark.parametrize("overlap", [0, 0.15])
def test_an_edit_in_a_long_list_does_not_move_every_cut_after_it(overlap: float) -> None:
    def changes(left_out: int | None) -> str:
        return "\n".join(
            f"* item {number}: {'many words, ' * (crc32(b'%d' % number) % 9)}and an end"
            for number in range(2_000)
            if number != left_out
        )

    chunker = Chunker(max_tokens=128, overlap=overlap)
    before = {chunk.text for chunk in chunker.chunk(changes(None))}
    for number in range(3, 2_000, 99):
        new = {chunk.text for chunk in chunker.chunk(changes(number))} - before
        assert len(new) <= 12, number
