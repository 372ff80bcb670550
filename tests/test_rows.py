"""Tables as people and converters make them: where their headers and group rows are."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import ChunkConfig, Chunker, count_tokens
from tests import test_speaks
from tests.checks import check_promises
from tests.tables import cases, each_case


@each_case("rows", "documents")
def test_documents_with_tables(case: dict[str, Any]) -> None:
    test_speaks.test_chunks_speak(case)


@cases("rows", "lines")
def test_lines_of_cells_are_tables(text: str, kinds: list[str]) -> None:
    for each in (text, text.replace("\n", "\r\n")):
        leaves = list(Chunker().analyze(each).blocks.leaves())
        assert [leaf.kind for leaf in leaves] == kinds
        plain = Chunker(extensions=()).analyze(each).blocks.leaves()
        assert "table" not in {leaf.kind for leaf in plain}


def test_an_empty_header_is_never_repeated() -> None:
    rows = "".join(f"| `option_{name}` | `value_{name}` |\n" for name in "abcdefghijkl")
    first, *chunks = Chunker(max_tokens=64, overlap=0).chunk(f"|   |   |\n|---|---|\n{rows}")
    assert first.text.startswith("|   |   |\n|---|---|\n")
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.embed_text == chunk.text


def test_parts_of_a_row_begin_with_its_label() -> None:
    words = "Some words about it are here. " * 20
    header = "| Name     | Kind | Text   |\n|---|---|---|\n"
    text = f"{header}| `size` | *int* | {words}|\n| {words[:60]} | *str* | {words}|\n"
    chunks = Chunker(max_tokens=70, overlap=0).chunk(text)
    framed = [chunk.embed_text for chunk in chunks[1:] if chunk.text.startswith("Some")]
    assert len(framed) > 3
    for embed_text in framed:
        # A long label is not repeated.
        begins = ("| `size` | | Some", "| | | Some", "| | Some")
        head, _, part = embed_text.partition("|---|---|---|\n")
        assert head == "| Name | Kind | Text |\n"
        assert part.startswith(begins)
    assert sum("| `size` | | Some" in embed_text for embed_text in framed) == 3


def test_a_row_that_spans_others_leaves_room_for_the_header() -> None:
    head = "<tr><th>Part</th><th>Step</th><th>What is to be done in this step</th></tr>"
    row = "<tr><td>{0}</td><td>turn it {0} times by hand</td></tr>"
    group = f"<tr><td rowspan=4>Part</td>{row.format(0)[4:]}" + "".join(
        row.format(number) for number in range(1, 4)
    )
    budget = count_tokens(group)
    chunks = Chunker(max_tokens=budget, overlap=0).chunk(f"<table>{head}{group * 4}</table>")
    assert len(chunks) > 4
    for chunk in chunks:
        assert "What is to be done" in chunk.embed_text


GROUPS = st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=8), min_size=2, max_size=4)
FORMS = {
    "pipes": ("| | **Group {0}.** | |\n", "| x{1} | {2}| z |\n"),
    "html": (
        "<tr><td colspan=3><b>Group {0}.</b></td></tr>",
        "<tr><td>x{1}</td><td>{2}</td><td>z</td></tr>",
    ),
    "th": (
        '<tr>\n<th colspan="3">Group {0}.</th>\n</tr>\n',
        "<tr><td>x{1}</td><td>{2}</td><td>z</td></tr>",
    ),
}
HEADS = {
    "pipes": "| A | B | C |\n|---|---|---|\n",
    "html": "<table><tr><td><b>A</b></td><td><b>B</b></td><td><b>C</b></td></tr>",
    "th": "<table><thead><tr><th>A</th><th>B</th><th>C</th></tr></thead>",
}


@given(GROUPS, st.sampled_from([*FORMS]), st.integers(40, 160), st.sampled_from([0, 0.2]))
def test_rows_are_under_their_own_groups(
    groups: list[list[int]], form: str, budget: int, overlap: float
) -> None:
    name, row = FORMS[form]
    text, owners, number = HEADS[form], {}, 0
    for group, sizes in enumerate(groups):
        text += name.format(group)
        for size in sizes:
            owners[number] = group
            text += row.format(group, number, "some words " * size)
            number += 1
    text += "</table>" * (form != "pipes")
    chunks = check_promises(text, ChunkConfig(max_tokens=budget, overlap=overlap))
    for chunk, following in pairwise(chunks):
        assert not re.search(r"Group \d\.[^x]*\Z", chunk.text), following
    for chunk in chunks[1:]:
        told = re.findall(r"Group (\d)|\bx(\d+)", chunk.embed_text)
        current = ""
        for named, numbered in told:
            current = named or current
            assert numbered == "" or current in ("", str(owners[int(numbered)]))


@pytest.mark.parametrize("last", ["", "| **Sum** | | |\n"])
def test_a_last_row_names_nothing_and_neither_do_rows_that_are_all_alike(last: str) -> None:
    text = "| A | B | C |\n|---|---|---|\n" + "| **bold words** | | |\n" * 40 + last
    for chunk in Chunker(max_tokens=60, overlap=0).chunk(text)[1:]:
        assert chunk.embed_text == f"| A | B | C |\n|---|---|---|\n{chunk.text}"
