"""HTML tables: found wherever they begin, divided at rows; each part is a table again."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import ChunkConfig, Chunker, count_tokens
from chunkast.text.html import VOID_ELEMENTS, tags_in
from tests.checks import check_promises
from tests.strategies import html_table

HEAD = "<thead><tr><th>No</th><th>Text</th></tr></thead>"
ROWS = [f"<tr><td>{n}</td><td>item {n}, with words.</td></tr>" for n in range(60)]


def kinds(text: str) -> list[tuple[str, str]]:
    leaves = Chunker().analyze(text).blocks.leaves()
    return [(leaf.kind, text[leaf.start : leaf.end]) for leaf in leaves]


def balanced(text: str) -> str:
    """``text`` with the tags that it lacks: opening ones before it, closing ones after it."""
    opened: list[str] = []
    before = ""
    for tag in tags_in(text, 0, len(text)):
        if not tag.closing:
            opened += [tag.name] * (tag.name not in VOID_ELEMENTS)
        elif not opened:
            before = f"<{tag.name}>{before}"
        else:
            assert opened.pop() == tag.name
    return before + text + "".join(f"</{name}>" for name in reversed(opened))


@pytest.mark.parametrize(
    ("end", "head"), [("", HEAD), ("\n\n", "<tr><th>No</th>\n<th>Text</th></tr>")]
)
def test_a_table_is_cut_at_rows_and_repeats_its_header(end: str, head: str) -> None:
    text = end.join(("<table border='1'>", head, *ROWS, "</table>\n"))
    first, *chunks = Chunker(max_tokens=200, overlap=0).chunk(text)
    assert len(chunks) > 4
    for chunk in (first, *chunks):
        assert chunk.kinds == ("html-table",)
        assert head in chunk.embed_text
        assert balanced(chunk.embed_text) == chunk.embed_text
    assert all(chunk.text.startswith("<tr><td>") for chunk in chunks)


def test_a_table_ends_at_its_closing_tag() -> None:
    text = "Before <table>\n<tr><td>a\n\n    more\n\n</td></tr>\n</table>\nAfter.\n"
    assert kinds(text) == [("html-table", text[: -len("After.\n")]), ("paragraph", "After.\n")]
    for text in (
        "Use `<table>` and `</table>`.\n",
        "<!-- <table><tr></table> -->\n",
        "<table><tr><td>\n\n- a list\n\n</td></tr></table>\n",
        "<table><tr><td>unclosed\n",
        '<script>"<table></table>"</script>\n',
    ):
        assert "html-table" not in dict(kinds(text)), text


def test_a_caption_stays_with_its_table() -> None:
    html = f"<table>{HEAD}{''.join(ROWS[:9])}</table>\n"
    pipes = "| No | Text |\n|---|---|\n" + "| 7 | item, with words. |\n" * 19
    chunker = Chunker(max_tokens=250, overlap=0)
    for table, caption in product((html, pipes), ("Table 3: Items.\n", "**Tab. IV** Items\n")):
        text = f"{'Some words here. ' * 30}\n\n{caption}\n{table}"
        cuts = {chunk.start_index for chunk in chunker.chunk(text)}
        assert text.index(caption) in cuts
        assert text.index(table) not in cuts
        text = f"{table}\n{caption}\n{'Some words here. ' * 40}\n"
        assert text.index(caption) not in {chunk.start_index for chunk in chunker.chunk(text)}
    for other in ("Tables 3 and 4\n", "Table of contents\n", f"Table 3: {'Long. ' * 100}\n"):
        assert kinds(f"{other}\n{pipes}")[0][0] == "paragraph"


INNER = "<table><tr><td>a</td></tr><tr><td>b</td></tr></table>"


@pytest.mark.parametrize(
    ("row", "start"),
    [
        ('<tr><td rowspan="3">{}</td><td>a</td></tr><tr><td>b</td></tr>', "<tr><td rowspan"),
        (f"<tr><td>{INNER}</td><td>{{}}</td></tr>", "<tr><td><table>"),
        (f"<tr><td>{'<div>' * 30}a{'</div>' * 30}</td><td>{{}}</td></tr>", "<tr><td><div>"),
    ],
    ids=["rows under one cell", "a table in a cell", "more elements than are read"],
)
def test_rows_that_fit_are_whole(row: str, start: str) -> None:
    text = f"<table>{''.join(row.format(number) for number in range(30))}</table>"
    budget = 4 * count_tokens(row)
    for chunk in Chunker(max_tokens=budget, overlap=0).chunk(text)[1:]:
        assert chunk.text.startswith(start)


def test_a_row_over_budget_is_cut_at_cells_and_sentences_without_the_header() -> None:
    items = "".join(f"<li>Item {n} has <b>a few</b> words. So it goes on.</li>" for n in range(30))
    row = f"<tr><td>1</td><td><ul>{items}</ul></td><td>{INNER}</td></tr>"
    first, *chunks = Chunker(max_tokens=100, overlap=0).chunk(f"<table>{HEAD}{row}{row}</table>")
    assert HEAD in first.text
    assert len(chunks) > 10
    for chunk in chunks:
        assert (HEAD in chunk.embed_text) == chunk.text.startswith("<tr>")
        assert chunk.text.count("has <b>a few</b> words.") == chunk.text.count("has")
        assert balanced(chunk.embed_text) == chunk.embed_text


@pytest.mark.parametrize(
    ("head", "repeated"),
    [
        ("<tr><th>a</th><th>b</th></tr>", True),
        ("<thead><tr><td>a</td></tr></thead>", True),
        ("<caption>w</caption>", True),
        # A row is a header only if all its cells are.
        ("<tr><th>a</th><td>b</td></tr>", False),
        ("<tr><td>a</td><th>b</th></tr>", False),
        ("<tr></tr>", False),
        ('<tr><th colspan="2">a</th></tr>', True),
        ('<tr><th colspan="2">a</th></tr><tr><th>b</th></tr>', True),
        ("<tr><td>a</td><td>x1</td></tr>" + "<tr><td>b</td><td>2</td></tr>" * 2, False),
    ],
)
def test_headers(head: str, repeated: bool) -> None:
    text = f"<table>{head}{'<tr><td>word word word</td></tr>' * 30}</table>"
    *chunks, _ = Chunker(max_tokens=100, overlap=0).chunk(text)[1:]
    for chunk in chunks:
        assert chunk.embed_text == f"<table>{head * repeated}{chunk.text}</table>"


@pytest.mark.parametrize(
    "head", ["<thead><tr><th>Head</th></tr></thead>", "<tr><th>Head</th></tr>", ""]
)
def test_a_row_that_names_the_rows_below_is_repeated_after_the_header(head: str) -> None:
    rows = "<tr><td>word word word</td></tr>" * 20
    groups = (f'<tr><th colspan="2">{name}</th></tr>{rows}' for name in ("Members", "Guests"))
    text = f"<table>{head}{''.join(groups)}</table>"
    for chunk in Chunker(max_tokens=100, overlap=0).chunk(text)[1:]:
        name = "Members" if chunk.start_index < text.index("Guests") - 20 else "Guests"
        row = f'<tr><th colspan="2">{name}</th></tr>'
        assert chunk.embed_text.startswith(f"<table>{head}{row}<tr><td>")


@pytest.mark.parametrize(
    ("first", "is_header"), [("Size", True), ("2024", True), ("0xCCDDEEFF", False), ("7", False)]
)
def test_a_first_row_is_a_header_above_numbers_if_it_has_none(first: str, is_header: bool) -> None:
    rows = "".join(f"<tr><td>name</td><td>{n}</td></tr>" for n in range(40))
    text = f"<table><tr><td>Name</td><td>{first}</td></tr>{rows}</table>"
    for chunk in Chunker(max_tokens=100, overlap=0).chunk(text)[1:]:
        assert (f"<td>{first}</td></tr>" in chunk.embed_text.split(chunk.text)[0]) == is_header


def test_each_table_has_its_own_header() -> None:
    rows = "<tr><td>word word word</td></tr>" * 20
    text = f"<table><tr><th>a</th></tr>{rows}</table> and <table><tr><th>b</th></tr>{rows}</table>"
    for chunk in Chunker(max_tokens=100, overlap=0).chunk(text):
        assert ("<th>a" in chunk.embed_text) != ("<th>b" in chunk.embed_text)


@given(st.integers(64, 300), st.integers(1, 5), st.sampled_from(["", "\n", "\n\n"]), st.booleans())
def test_a_part_closes_its_tags_if_they_fit(
    budget: int, columns: int, end: str, attributes: bool
) -> None:
    tag = '<td align="center" width="33%">' if attributes else "<td>"
    cells = [f"{tag}cell {n} of <b>a</b> row.</td>" for n in range(columns)]
    rows = [end.join(("<tr>", *cells, "</tr>"))] * 9
    text = end.join(
        ("<table><thead><tr><th>Head</th></tr></thead><tbody>", *rows, "</tbody></table>")
    )
    for chunk in check_promises(text, ChunkConfig(max_tokens=budget, overlap=0)):
        if balanced(chunk.embed_text) != chunk.embed_text:
            assert chunk.token_count + 24 > budget
        # A tag that fits is never cut, and an opening tag stays with its cell.
        assert chunk.text.count("<") == chunk.text.count(">")
        assert not chunk.text.endswith(tag)


@given(html_table(), st.sampled_from([1, 7, 40, 100]), st.sampled_from([0, 0.2]), st.booleans())
def test_promises(text: str, budget: int, overlap: float, trim: bool) -> None:
    check_promises(text, ChunkConfig(max_tokens=budget, overlap=overlap, trim=trim))
