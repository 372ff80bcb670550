"""``previous=``: what is cut where it was before an edit, and that every promise holds."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunk, ChunkConfig, Chunker, chunk, chunk_file
from tests.bench.stability import edited
from tests.checks import check_promises
from tests.hostile import CASES
from tests.strategies import documents, markdown, nasty_text
from tests.test_linear import TIME_LIMIT, chunker_of, time_growth
from tests.test_promises import configurations

# Edits of each document, one after the other.
DOCUMENTS, EDITS = 6, 16
VOCABULARY = [
    "the",
    "a",
    "of",
    "valve",
    "turn",
    "light",
    "key",
    "wait",
    "before",
    "after",
    "open",
    "close",
    "hose",
    "red",
    "green",
]
WORDS = "A sentence of ten words is put here for you. "


def new_texts(before: Sequence[Chunk], after: Sequence[Chunk]) -> int:
    """How many texts have to be embedded that were not there before."""
    texts = [Counter(each.embed_text for each in chunks) for chunks in (after, before)]
    return (texts[0] - texts[1]).total()


def own_texts(chunks: Sequence[Chunk]) -> list[str]:
    return [each.text[each.overlap :] for each in chunks]


def manual(chance: random.Random) -> str:
    """Sections of paragraphs, lists and code."""
    parts = ["# Manual"]
    for number in range(60):
        text = [" ".join(chance.choices(VOCABULARY, k=chance.randint(5, 40))) for _ in range(4)]
        made = (
            "\n\n".join(f"{each.capitalize()}." for each in text[: chance.randint(1, 3)]),
            "\n".join(f"- {each}" for each in text),
            "```\n" + "\n".join(each[:60] for each in text) + "\n```",
            f"{'#' * chance.randint(2, 3)} Part {number}\n\n{text[0]}.",
        )
        parts.append(chance.choice(made))
    return "\n\n".join(parts) + "\n"


def document(sections: int) -> str:
    return "".join(f"## Part {number}\n\n{WORDS * 6}\n\n" for number in range(sections))


def test_what_stands_elsewhere_now_is_cut_as_before() -> None:
    chunker = Chunker(max_tokens=100, overlap=0)
    text = document(8)
    before = chunker.chunk(text)
    parts = text.split("## ")
    moved = "## ".join([*parts[:2], *parts[4:], *parts[2:4]])
    assert own_texts(chunker.chunk(moved, previous=before)) == [
        before[number].text for number in (0, 3, 4, 5, 6, 7, 1, 2)
    ]


def test_a_chunk_that_was_edited_stays_one_while_it_fits() -> None:
    chunker = Chunker(max_tokens=60, overlap=0, context="none")
    text = f"# T\n\n{WORDS * 3}\n\n{WORDS * 3}\n\n{WORDS * 3}\n\n{WORDS * 3}\n"
    before = chunker.chunk(text)
    at = text.index("\n\n", before[1].start_index + 8)
    after = chunker.chunk(text[:at] + " More." + text[at:], previous=before)
    assert len(after) == len(before)
    assert new_texts(before, after) == 1


def test_what_is_new_joins_a_neighbour_that_has_room() -> None:
    chunker = Chunker(max_tokens=100, overlap=0)
    text = document(3)
    before = chunker.chunk(text)
    after = chunker.chunk(f"{text}One more line.\n", previous=before)
    assert own_texts(after)[:-1] == own_texts(before)[:-1]
    assert after[-1].text.startswith(before[-1].text)
    assert after[-1].text.endswith("One more line.")


def test_a_section_that_begins_inside_a_chunk_begins_one_of_its_own() -> None:
    chunker = Chunker(max_tokens=60, overlap=0, context="none")
    text = f"# T\n\n{WORDS * 3}\n\n{WORDS * 2}\n\n{WORDS * 3}\n\n{WORDS * 3}\n"
    before = chunker.chunk(text)
    at = before[0].end_index
    after = chunker.chunk(f"{text[:at]}\n\n# New{text[at:]}", previous=before)
    assert any(each.text.startswith("# New") for each in after)


def test_code_is_cut_where_it_was() -> None:
    code = "".join(f"def f{n}(a):\n    return [a, {n}, 'some words of it']\n" for n in range(40))
    chunker = Chunker(max_tokens=120, overlap=0)
    before = chunker.chunk(f"```python\n{code}```\n")
    after = chunker.chunk(f"```python\n{code.replace('f20(a):', 'f20(a:')}```\n", previous=before)
    assert new_texts(before, after) == 1


def test_one_chunk_for_each_section_where_that_is_asked_for() -> None:
    chunker = Chunker(max_tokens=100, overlap=0, min_tokens=0)
    before = chunker.chunk("# A\n\nOne.\n\nTwo.\n")
    after = chunker.chunk("# A\n\nOne.\n\n# B\n\nTwo.\n", previous=before)
    assert own_texts(after) == ["# A\n\nOne.", "# B\n\nTwo."]


def test_a_larger_budget_joins_no_chunk_that_stays() -> None:
    text = document(6)
    before = chunk(text, max_tokens=100, overlap=0)
    assert own_texts(chunk(text, max_tokens=400, overlap=0, previous=before)) == own_texts(before)


def test_a_smaller_budget_keeps_none_that_is_too_large() -> None:
    text = document(6)
    before = chunk(text, max_tokens=400, overlap=0)
    after = chunk(text, max_tokens=100, overlap=0, previous=before)
    assert after == chunk(text, max_tokens=100, overlap=0)


def test_cells_of_a_notebook_are_cut_as_before() -> None:
    def notebook(first: str) -> str:
        cells = [
            {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}
            for name, source in (("a", first), ("b", document(5)))
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    chunker = Chunker(max_tokens=150, overlap=0)
    before = chunker.chunk(notebook("Some."), "n.ipynb")
    other = Chunker(max_tokens=100, overlap=0).chunk(notebook("Some."), "n.ipynb")
    assert (
        own_texts(chunker.chunk(notebook("Any."), "n.ipynb", previous=before))[1:]
        == (own_texts(before)[1:])
    )
    assert (
        own_texts(chunker.chunk(notebook("Any."), "n.ipynb", previous=other))[1:]
        == (own_texts(other)[1:])
    )


def test_files_too(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(document(6), "utf-8", newline="")
    before = chunk_file(path, max_tokens=100, overlap=0)
    path.write_text(document(6).replace("ten", "9", 1), "utf-8", newline="")
    for after in (
        chunk_file(path, max_tokens=400, overlap=0, previous=before),
        Chunker(max_tokens=400, overlap=0).chunk_file(path, previous=before),
    ):
        assert own_texts(after)[-1] == own_texts(before)[-1]


@pytest.mark.parametrize("wrong", ["text", 5, ["text"], [None]])
def test_what_is_no_chunk_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"^previous.* must be a "):
        Chunker().chunk("Text.", previous=wrong)  # type: ignore[arg-type]


def test_an_iterator_of_chunks_may_be_given() -> None:
    chunks = chunk(document(4), max_tokens=100)
    assert chunk(document(4), max_tokens=100, previous=iter(chunks)) == chunks


@pytest.mark.parametrize(("packing", "more"), [("sections", 1.02), ("fill", 1.1)])
@pytest.mark.parametrize("overlap", [0, 0.15])
def test_fewer_texts_are_new_after_edits_and_chunks_stay_as_large(
    packing: Literal["sections", "fill"], more: float, overlap: float
) -> None:
    chunker = Chunker(max_tokens=128, overlap=overlap, context="none", packing=packing)
    chance = random.Random(0)
    new = dict.fromkeys(("previous", "alone"), 0)
    counts = dict(new)
    for _ in range(DOCUMENTS):
        text = manual(chance)
        states = dict.fromkeys(new, chunker.chunk(text))
        for _ in range(EDITS):
            text = edited(text, chance)
            after = {
                "previous": chunker.chunk(text, previous=states["previous"]),
                "alone": chunker.chunk(text),
            }
            for name, chunks in after.items():
                new[name] += new_texts(states[name], chunks)
            states = after
        for name, chunks in states.items():
            counts[name] += len(chunks)
    assert DOCUMENTS * EDITS <= new["previous"] < new["alone"]
    assert counts["previous"] <= more * counts["alone"]


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str]:
    """A text before and after an edit: a part of it is replaced, or moved to its end."""
    text = draw(documents() | markdown() | nasty_text())
    first, last = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    part = draw(st.sampled_from(["", "\n", "\n\n", "word ", "# T\n\n", "```\n"]) | markdown())
    moved = text[first:last] if draw(st.booleans()) else ""
    return text, text[:first] + part + text[last:] + moved


@given(edits(), configurations())
def test_every_promise_holds_after_an_edit(edit: tuple[str, str], config: ChunkConfig) -> None:
    before, after = edit
    check_promises(after, config, previous=Chunker(config).chunk(before))


@given(documents(), documents(), configurations())
def test_chunks_of_another_text_do_no_harm(one: str, two: str, config: ChunkConfig) -> None:
    check_promises(two, config, previous=Chunker(config).chunk(one)[::-1])


@given(documents() | nasty_text(), configurations())
def test_without_an_edit_nothing_moves(text: str, config: ChunkConfig) -> None:
    chunker = Chunker(config)
    chunks = chunker.chunk(text)
    assert chunker.chunk(text, previous=chunks) == chunks


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("prose-lines", "prose-paragraphs", "one-line-sentences", "items-of-one-character"),
        *("headings-of-all-levels", "table-rows", "fence-unclosed", "newlines-between", "brackets"),
    ],
)
def test_time_grows_with_the_length(name: str) -> None:
    chunker = chunker_of()

    def twice(text: str) -> None:
        middle = len(text) // 2
        after = f"x\n\n{text[:middle]}\n\ny\n\n{text[middle:]}"
        chunker.chunk(after, previous=chunker.chunk(text))

    assert time_growth(twice, CASES[name], 20_000) <= TIME_LIMIT
