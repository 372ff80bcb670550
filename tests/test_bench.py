"""Smoke tests of the benchmarks; ``python -m tests.bench --smoke`` runs all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from chunkast.index import Hit
from tests.bench.against import main as compare_checkouts
from tests.bench.agent import spans_read
from tests.bench.context import count
from tests.bench.facts import Facts, Source, facts
from tests.bench.instructions import ROOT
from tests.bench.retrieval.chunkers import Chunked, Piece
from tests.bench.retrieval.dataset import Dataset, Question
from tests.bench.retrieval.scores import score
from tests.bench.search import recall_of

# Headings with and without a body, a fence in a list, a table.
DOCUMENT = """\
# Walks

## Packing list

- What to run:

  ~~~sh
  pack --water 2

  pack --bread 1
  ~~~

## Distances

| from | to |
| --- | --- |
| Oslo | Bergen |
"""
LIST = DOCUMENT.index("- What")
BREAD = DOCUMENT.index("\n  pack --bread")
ROW = DOCUMENT.index("| Oslo")


def test_flaws_of_chunks_are_counted() -> None:
    def of(*edges: int) -> Facts:
        ends = zip((0, *edges), (*edges, len(DOCUMENT)), strict=True)
        chunks = [DOCUMENT[start:end].strip() for start, end in ends]
        return facts(Source(DOCUMENT), chunks, lambda text: len(text) <= 60)

    whole = Facts(chunks=1, fences=1, tables=1, headings=3)
    assert of() == whole
    two = replace(whole, chunks=2)
    assert of(LIST) == replace(two, headings_left=1)
    assert of(BREAD) == replace(two, fences_cut=1)
    assert of(ROW) == replace(two, tables_cut=1)


def test_recall_is_the_share_of_an_answer_that_is_delivered() -> None:
    text = "# Walks\n\nTake water.\n\n# Maps\n\nBuy one in Bergen.\n"
    maps, buy = text.index("# Maps"), text.index("Buy")
    edges = ((0, maps), (maps, len(text)))
    pieces = tuple(Piece(0, start, end, 9, text[start:end]) for start, end in edges)
    question = Question(0, "prose", buy, len(text) - 1, "where")
    dataset, chunked = Dataset("own", (text,), (question,)), Chunked(9, pieces)
    for ranked, recall in (([1, 0], 1), ([0], 0)):
        found = score(dataset, chunked, {"r": [ranked]}, lambda given, _: len(given))
        assert found.by_question() == [recall]


def test_the_answers_of_a_search_are_measured_in_its_hits() -> None:
    text = "#Walks\n\nTake-water-with-you.\n\nBuy-a-map-in-Bergen.\n"
    buy, end = text.index("Buy"), len(text) - 1
    for start, recall in ((buy, 1), (text.index("Take"), 0.5)):
        question = Question(0, "prose", start, end, "Where do I buy a map?")
        dataset = Dataset("own", (text,), (question,))
        hit = Hit("a", "0", text[buy:end], buy, end, 5, 5, 9, (), 1.0)
        assert recall_of(dataset, question, [hit]) == pytest.approx(recall)
        assert recall_of(dataset, question, [replace(hit, source="1")]) == 0


def test_what_an_agent_has_read_is_taken_from_the_answers() -> None:
    text = "# Walks\n\nTake water.\n\n# Maps\n\nBuy one in Bergen.\n\n- Buy one\n"
    passage = text[text.index("Buy") : text.index("\n\n- ")]
    answer = (
        f"0:7-7  Maps  id=ab\n{passage}\n\n0:1-3  Walks  part  id=cd\n# Walks\n\nTake water.\n\n"
        "0:5-7  Maps  30 tokens  id=ef\n  Buy one in Bergen.\n2 more places"
    )
    spans = list(spans_read(answer, (text,)))
    assert [text[start:end] for _, start, end in spans] == [passage, text[: text.index("\n\n# M")]]
    page = "0:7-9  Maps  9 tokens\n7\tin Bergen.\n\n9\t- Buy one"
    spans = list(spans_read(page, (text,)))
    assert [text[start:end] for _, start, end in spans] == ["in Bergen.", "- Buy one"]
    assert spans[0][1] == text.index("in Bergen.")


@pytest.mark.slow
def test_a_checkout_equals_itself(capsys: pytest.CaptureFixture[str]) -> None:
    compare_checkouts([str(ROOT), "--limit", "2", "--only", "chunks", "--show", "1"])
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()]
    counts = [[cell.strip() for cell in row[1:]] for row in rows if row][2:]
    assert len(counts) == 12
    assert all(other == this and gone == "0" for other, this, gone, _ in counts)


ALONE = """\
# Huts

Bring these:

- Food for the first day, as follows:
  - bread from the baker
- Water

> [!WARNING]
> Never do this:
> light a fire.

!!! tip "Sleep"

    Bring a bag.

    Wear wool.

# [Bus](#tab/bus)

Take the bus.

---

## Last
"""
EDGES = ("- Food", "  - bread", "- Water", "> light", "    Wear", "Take")


def test_what_chunks_lose_is_counted() -> None:
    places = [0, *map(ALONE.index, EDGES), len(ALONE)]
    chunks = [ALONE[start:end].strip() for start, end in pairwise(places)]
    lost, of = count(ALONE, chunks, chunks)
    assert +lost == {"parent": 1, "list": 2, "item": 1, "alert": 2, "tab": 1}
    assert of == {"heading": 7, "parent": 1, "list": 2, "item": 1, "alert": 2, "tab": 1}
    openers = "\n".join((*ALONE.split("\n\n")[1:3], "[!WARNING]", '!!! tip "Sleep"', "Bus"))
    lost, _ = count(ALONE, chunks, [f"{openers}\n{chunk}" for chunk in chunks])
    assert +lost == {"parent": 1}


def test_headings_at_the_end_of_a_chunk_are_counted() -> None:
    text = "# Huts\n\n## Food\n\nSoup.\n\n## Last\n"
    for end, expected in (("## Food", 1), ("Soup", 1), ("## Last", 0)):
        at = text.index(end)
        chunks = [text[:at].strip(), text[at:].strip()]
        assert count(text, chunks, chunks)[0]["heading"] == expected
