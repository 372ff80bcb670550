"""Ids, hashes, fingerprints and quotes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker, chunk_id, locate_quote, normalize_text, plan_writes
from chunkast.identity import fingerprint
from chunkast.text.source_map import encode
from chunkast.toolcalls import Tool
from tests.strategies import documents, markdown, spaced_text

GUIDE = """# Guide

Pack light, and read the forecast.

## Water

Springs run dry in July. Carry two litres.

## Food

The hut sells bread and soup.
"""


def test_a_plan_tells_what_to_embed_again_although_its_text_stays() -> None:
    table = "# Prices\n\n| Hut | Bed |\n|---|---|\n" + "".join(
        f"| Hut number {n} | {n} |\n" for n in range(40)
    )
    chunker = Chunker(max_tokens=100, overlap=0)
    before = chunker.chunk(table, "prices.md")
    after = chunker.chunk(table.replace("| Bed |", "| Cot |"), "prices.md")
    plan = plan_writes(after, before)
    assert plan.changed == (before[0].id,)
    assert plan.embed == tuple(chunk.id for chunk in after)
    assert len(plan.unchanged) == len(after) - 1 > 2


@given(documents(), st.sampled_from([0, 0.3]))
def test_part_numbers_do_not_depend_on_overlap(text: str, overlap: float) -> None:
    """The parts of a location are counted from 0 without a gap, whatever is repeated."""
    parts = Counter[str]()
    for chunk in Chunker(max_tokens=40, overlap=overlap).chunk(text, "doc.md"):
        place = " > ".join(chunk.headings)
        assert chunk.id == chunk_id("doc.md", chunk.headings, parts[place])
        parts[place] += 1


def naive_places(quote: str, text: str) -> list[tuple[int, int]]:
    """An independent search: a regular expression that lets white space differ."""
    space = r"[\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+"
    words = [word for word in re.split(space, quote) if word]
    pattern = space.join(map(re.escape, words))
    return [match.span() for match in re.finditer(pattern, text)] if words else []


@given(markdown() | spaced_text(), st.data(), st.sampled_from([0, 0.3]))
def test_a_quote_is_found_wherever_it_stands(
    text: str, data: st.DataObject, overlap: float
) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : start + data.draw(st.integers(1, 60))]
    spoken = data.draw(st.sampled_from([quote, re.sub(" ", "\n\t", quote), f"  {quote}\n"]))
    found = locate_quote(spoken, text)
    assert [(c.start_index, c.end_index) for c in found] == naive_places(spoken, text)
    for place in found:
        whole = text[place.start_index : place.end_index]
        assert normalize_text(whole) == normalize_text(quote)
        assert place.start_byte == len(encode(text[: place.start_index]))
        assert place.end_byte == len(encode(text[: place.end_index]))
    # Chunks know the same places, their ids and source besides.
    chunks = Chunker(max_tokens=30, overlap=overlap).chunk(text, "doc.md")
    in_chunks = locate_quote(spoken, chunks)
    place_of = attrgetter(
        "start_index", "end_index", "start_byte", "end_byte", "start_line", "end_line"
    )
    assert list(map(place_of, found)) == list(map(place_of, in_chunks))
    for place in in_chunks:
        assert place.source == "doc.md"
        assert place.chunk_ids == tuple(
            chunk.id
            for chunk in chunks
            if chunk.start_index <= place.start_index and place.end_index <= chunk.end_index
        )


def test_a_quote_over_a_cut_has_no_chunk_that_holds_it_whole() -> None:
    chunks = Chunker(max_tokens=12, overlap=0).chunk(GUIDE, "guide.md")
    (place,) = locate_quote("dry in July. Carry two", chunks)
    assert GUIDE[place.start_index : place.end_index] == "dry in July. Carry two"
    assert place.chunk_ids == ()
    # Chunks of two documents, with a gap between them, or in another order are searched apart.
    [at] = [chunk.index for chunk in chunks if chunk.text.endswith("July.")]
    one, two = chunks[at : at + 2]
    assert len(locate_quote("dry in July. Carry two", [one, two])) == 1
    for apart in (replace(two, source="b"), replace(two, index=two.index + 1)):
        assert locate_quote("dry in July. Carry two", [one, apart]) == ()
    assert locate_quote("dry in July. Carry two", [two, one]) == ()
    other = Chunker(max_tokens=12, overlap=0).chunk(GUIDE, "other.md")
    sources = [place.source for place in locate_quote("soup", [*chunks, *other])]
    assert sources == ["guide.md", "other.md"]


@pytest.mark.parametrize("character", ["\x1c", "\x1f", "\x85"])
def test_what_is_white_space_to_python_alone_is_never_trimmed(character: str) -> None:
    for text in (f"a{character}", f"{character}\n\nb", f"a\n\n{character}\n\nb\n\n{character}"):
        for budget in (2, 100):
            chunks = Chunker(max_tokens=budget, overlap=0).chunk(text)
            assert sum(chunk.text.count(character) for chunk in chunks) == text.count(character)
            assert len(locate_quote(character, chunks)) == len(locate_quote(character, text))


def test_an_id_is_the_hash_of_three_lines() -> None:
    for headings in ((), ("Å",), ("A", "B > C"), ("A", "B", "")):
        lines = f"guide.md\n{' > '.join(headings)}\n#7"
        assert chunk_id("guide.md", headings, 7) == sha256(lines.encode()).hexdigest()[:16]
    assert chunk_id("\ud800", ["\udfff"], 0) == chunk_id("\ufffd", ["\ufffd"], 0)


def test_the_fingerprint_tells_configurations_apart() -> None:
    def of(**options: Any) -> str:
        chunker = Chunker(**options)
        return fingerprint(chunker.config, chunker.counter.name)

    assert of() == of()
    assert of(overlap=0.15) == of(overlap=135)
    changes: list[dict[str, Any]] = [
        {},
        {"max_tokens": 901},
        {"encoding": "o200k_base"},
        {"scores": {"hr": 1}},
        {"context": "none"},
        {"extensions": ()},
    ]
    assert len({of(**change) for change in changes}) == len(changes)
    # The order in which scores and tools are given does not matter, nor what may be downloaded.
    scores = {"hr": 1.0, "word": 2.0}
    tools = (Tool("search", {"type": "object"}), Tool("add", {}))
    assert of(scores=scores) == of(scores=dict(reversed(scores.items())))
    assert of(tools=tools) == of(tools=tools[::-1])
    assert of(allow_download=True) == of()
