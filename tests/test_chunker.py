"""What the chunker does with whole documents: sections, cuts, context, overlap, batches."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import chunkast
from chunkast import Chunk, ChunkConfig, Chunker, ConfigError

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


def test_chunks_survive_json() -> None:
    for chunk in chunkast.chunk(read("emoji.md"), max_tokens=100, source="emoji.md"):
        assert Chunk.from_dict(json.loads(json.dumps(chunk.to_dict()))) == chunk


def test_a_users_counter_may_raise() -> None:
    def broken(text: str) -> int:
        raise RuntimeError(text[:4])

    with pytest.raises(RuntimeError, match="some"):
        Chunker(encoding=broken).chunk("some text")


def test_arguments_are_checked() -> None:
    with pytest.raises(ConfigError, match="sources=1: must be one per text"):
        Chunker().chunk_batch(["a", "b"], sources=["x"])
    with pytest.raises(ConfigError, match="workers=0"):
        Chunker().chunk_batch(["a"], workers=0)
    hint = re.escape("must be a ChunkConfig, or keywords: Chunker(max_tokens=512)")
    with pytest.raises(ConfigError, match=f"^config=512: {hint}$"):
        Chunker(512)  # type: ignore[arg-type]
