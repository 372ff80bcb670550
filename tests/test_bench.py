"""What the benchmarks are made of and write; ``python -m tests.bench --smoke`` runs them."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from tests.bench.against import ROOT, find_documents
from tests.bench.against import main as compare_checkouts
from tests.bench.compare import positions, raised_on
from tests.bench.contenders import FLOOR
from tests.bench.corpus import CJK, ENGLISH, by_language, copies, load_corpus, of_size
from tests.bench.facts import Facts, Source, facts
from tests.bench.report import write_results
from tests.bench.tables import Table, as_markdown


def test_the_fixtures_have_both_languages() -> None:
    corpora = by_language(load_corpus(smoke=True))
    assert all("。" in text or "다." in text for text in corpora[CJK])
    assert len(corpora[CJK]) == 3
    assert len(corpora[ENGLISH]) > 30


def test_copies_differ_and_a_document_has_its_size_in_whole_lines() -> None:
    assert len(set(islice(copies(["One.", "Two."]), 9))) == 9
    text = of_size(["Größe 大小.\n" * 5, "```\nnever closed\n"], 1_000)
    assert 950 < len(text.encode()) <= 1_000
    assert text.endswith("\n")
    assert "```" not in text


def test_a_table_is_markdown_that_reads_as_text() -> None:
    table = Table("k", "Title", "Note.", (("", ""), ("share", ".1%")), (("a|b", 0.5), ("c", None)))
    assert as_markdown(table) == (
        "## Title\n\nNote.\n\n"
        "|      | share |\n"
        "| ---- | ----: |\n"
        "| a\\|b | 50.0% |\n"
        "| c    |     - |\n"
    )
    below = Table("k", "Title", "Note.", (("", ""),), (("a",),), ("*one*: how.", "*two*: how."))
    assert as_markdown(below).endswith("| a   |\n\n- *one*: how.\n- *two*: how.\n")


def test_the_results_have_the_tables(tmp_path: Path) -> None:
    table = Table(
        "throughput, English", "English", "", (("", ""), ("MB/s", ".2f")), ((FLOOR, 8.0),)
    )
    write_results(tmp_path, "About", [table])
    assert as_markdown(table) in (tmp_path / "RESULTS.md").read_text("utf-8")


# Front matter, which is no heading; headings with and without a body; a fence in a list, a
# fence too long, a table.
DOCUMENT = """\
---
title: Walks
---
# Walks

## Packing list

- What to run:

  ~~~sh
  pack --water 2

  pack --bread 1
  ~~~

```text
one two three four five six seven eight nine ten eleven twelve
```

## Distances
### By foot

| from | to |
| --- | --- |
| Oslo | Ås |

## Empty
"""
LIST = DOCUMENT.index("- What")
WATER = DOCUMENT.index("\n  pack --bread")
LONG = DOCUMENT.index("```text")
FOOT = DOCUMENT.index("### By")
ROW = DOCUMENT.index("| Oslo")
SOLID = len("".join(DOCUMENT.split()))


def slices(*edges: int) -> list[str]:
    """The document cut at these places, white space trimmed as every chunker does."""
    return [
        DOCUMENT[start:end].strip()
        for start, end in zip((0, *edges), (*edges, len(DOCUMENT)), strict=True)
    ]


def of_walks(chunks: list[str]) -> Facts:
    return facts(Source(DOCUMENT), chunks, lambda text: len(text) <= 60)


WHOLE = Facts(chunks=1, solid=SOLID, fences=1, tables=1, headings=4)


@pytest.mark.parametrize(
    ("chunks", "found"),
    [
        (slices(), {}),
        (slices(LIST), {"headings_left": 1}),
        (slices(WATER), {"fences_cut": 1}),
        (slices(LONG + 20), {}),
        (slices(FOOT), {"headings_left": 1}),
        (slices(ROW), {"tables_cut": 1}),
        (slices(DOCUMENT.index("## Empty")), {}),
        # A lost line; the fence it was part of is in no chunk as it was.
        (
            [DOCUMENT[:WATER], DOCUMENT[WATER + len("\n  pack --bread 1") :]],
            {"lost": 12, "fences_cut": 1},
        ),
        # White space changed alone: rebuilt, and nothing else.
        ([DOCUMENT.replace("\n\n", "\n")], {"rebuilt": 1}),
        # A character replaced: it alone is lost, what its chunk holds is found all the same.
        ([DOCUMENT.replace("Å", "\ufffd")], {"rebuilt": 1, "lost": 1, "tables_cut": 1}),
        # A chunk of one character that stands elsewhere by chance moves nothing.
        ([DOCUMENT[:LIST], "5", DOCUMENT[LIST:]], {"rebuilt": 1, "headings_left": 1}),
        # All that stood before is lost, nothing else.
        ([DOCUMENT[LIST:]], {"lost": len("".join(DOCUMENT[:LIST].split()))}),
    ],
)
def test_the_checks_find_what_was_done_to_chunks(chunks: list[str], found: dict[str, int]) -> None:
    assert of_walks(chunks) == replace(WHOLE, chunks=len(chunks), **found)


def test_the_checks_count_lines_as_markdown_does() -> None:
    for text in (DOCUMENT.replace("\n", "\r\n"), DOCUMENT.replace("\n", "\r")):
        assert facts(Source(text), [text], lambda text: len(text) <= 65) == WHOLE


def test_positions_are_compared_with_the_source() -> None:
    assert positions([("abcd", [(None, None, "ab")])]) == "none"
    assert positions([("abcd", [(0, None, "ab"), (2, None, "cd")])]) == "start, 100.00% right"
    wrong = [(0, 2, "ab"), (2, 3, "cd"), (-1, 4, "d"), (None, None, "c")]
    assert positions([("abcd", wrong)]) == "start and end, 25.00% right"


def test_a_panic_is_an_exception_too() -> None:
    class PanicException(BaseException):
        pass

    def chunk(text: str) -> None:
        if not text:
            raise PanicException
        text.encode()

    assert raised_on(chunk) == "lone surrogate: UnicodeEncodeError; empty: PanicException"


def test_an_other_checkout_is_compared_on_documents_of_a_size_once_each(tmp_path: Path) -> None:
    for name, text in (("b/one.md", "One.\n" * 300), ("a/two.md", "Two.\n" * 300)):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text, "utf-8")
    (tmp_path / "copy.md").write_text("One.\n" * 300, "utf-8")
    (tmp_path / "small.md").write_text("Three.\n", "utf-8")
    found = [source for source, _ in find_documents([tmp_path])]
    assert found == [str(Path("a/two.md")), str(Path("b/one.md"))]


@pytest.mark.slow
def test_a_checkout_equals_itself(capsys: pytest.CaptureFixture[str]) -> None:
    compare_checkouts([str(ROOT), "--limit", "2", "--only", "chunks", "--show", "1"])
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()]
    counts = [[cell.strip() for cell in row[1:]] for row in rows if row][2:]
    assert len(counts) == 12
    assert all(other == this and gone == "0" for other, this, gone, _ in counts)
