"""HTML tables: found wherever they stand, divided at rows, each part a table again."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import example, given
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


def is_balanced(text: str) -> bool:
    """Whether every element that a text opens is closed in it, and the other way round."""
    return balanced(text) == text


def test_a_table_of_one_line_is_cut_at_rows_and_repeats_its_header() -> None:
    text = f"<table border='1'>{HEAD}<tbody>{''.join(ROWS)}</tbody></table>\n"
    chunks = Chunker(max_tokens=200, overlap=0).chunk(text)
    assert len(chunks) > 5
    for chunk in chunks:
        assert chunk.kinds == ("html-table",)
        assert HEAD in chunk.embed_text
        assert is_balanced(chunk.embed_text)
        assert re.match(r"<table|<tr>", chunk.text)
        assert chunk.text.endswith(("</tr>", "</table>"))


def test_the_lines_of_a_table_make_no_difference() -> None:
    text = "<table>\n<tr><th>No</th>\n<th>Text</th></tr>\n\n" + "\n\n".join(ROWS) + "\n</table>\n"
    chunks = Chunker(max_tokens=200, overlap=0).chunk(text)
    assert all("<th>Text</th></tr>" in chunk.embed_text for chunk in chunks)
    assert all(is_balanced(chunk.embed_text) for chunk in chunks)
    assert all(chunk.text.startswith("<tr>") for chunk in chunks[1:])


def test_a_table_ends_where_it_is_closed() -> None:
    text = "Before <table>\n<tr><td>a\n\n    more\n\n</td></tr>\n</table>\nAfter.\n"
    assert kinds(text) == [("html-table", text[: -len("After.\n")]), ("paragraph", "After.\n")]
    listed = "- item\n\n  <table><tr><td>a\n\n  b</td></tr></table>\n"
    assert [kind for kind, _ in kinds(listed)] == ["paragraph", "blank", "html-table"]


def test_what_is_no_table() -> None:
    for text in (
        "Use `<table>` and `</table>`.\n",
        "<!-- <table><tr></table> -->\n",
        "<table><tr><td>\n\n- a list\n\n</td></tr></table>\n",
        "<table><tr><td>unclosed\n",
        '<script>"<table></table>"</script>\n',
    ):
        assert "html-table" not in dict(kinds(text)), text
    [first, *_] = Chunker(extensions=()).analyze("<table><tr></tr></table>\n").blocks.leaves()
    assert first.kind == "html"


def test_a_caption_stays_with_its_table() -> None:
    html = f"<table>{HEAD}{''.join(ROWS[:9])}</table>\n"
    pipes = "| No | Text |\n|---|---|\n" + "| 7 | item, with words. |\n" * 19
    captions = ("Table 3: Items.\n", "**Table 3.** Items.\n", "Tab. IV Items\n")
    for table, caption in product((html, pipes), captions):
        before = f"{'Some words here. ' * 30}\n\n{caption}\n{table}"
        cuts = {chunk.start_index for chunk in Chunker(max_tokens=250, overlap=0).chunk(before)}
        assert before.index(caption) in cuts
        assert before.index(table) not in cuts
        after = f"{table}\n{caption}\n{'Some words here. ' * 40}\n"
        cuts = {chunk.start_index for chunk in Chunker(max_tokens=250, overlap=0).chunk(after)}
        assert after.index(caption) not in cuts
    for other in ("Tables 3 and 4\n", "Table of contents\n", f"Table 3: {'Long. ' * 100}\n"):
        leaves = Chunker().analyze(f"{other}\n{pipes}").blocks.leaves()
        assert [leaf.kind for leaf in leaves] == ["paragraph", "blank", "table"]


def test_rows_under_one_cell_stay_together() -> None:
    groups = [
        f'<tr><td rowspan="3">{n}</td><td>one word</td></tr>'
        "<tr><td>two words here</td></tr><tr><td>three</td></tr>"
        for n in range(30)
    ]
    text = f"<table>{''.join(groups)}</table>"
    for chunk in Chunker(max_tokens=150, overlap=0).chunk(text)[1:]:
        assert chunk.text.startswith("<tr><td rowspan")


def test_a_nested_table_belongs_to_its_cell() -> None:
    inner = "<table><tr><td>a</td></tr><tr><td>b</td></tr></table>"
    text = f"<table>{''.join(f'<tr><td>{inner}</td><td>{n}</td></tr>' for n in range(40))}</table>"
    for chunk in Chunker(max_tokens=150, overlap=0).chunk(text)[1:]:
        assert chunk.text.startswith("<tr><td><table>")
        assert is_balanced(chunk.embed_text)
    # Where the cell does not fit its rows are still whole.
    row = f"<tr><td><p>{'One. ' * 9}</p><p>{'Two. ' * 9}</p></td></tr>"
    large = f"<table><tr><td><table>{row * 20}</table></td></tr></table>"
    for chunk in Chunker(max_tokens=120, overlap=0).chunk(large)[1:]:
        assert chunk.text.startswith("<tr><td><p>One.")


def test_a_cell_too_large_is_cut_at_its_items_then_sentences() -> None:
    items = "".join(f"<li>Item {n} has a few words. So it goes on.</li>" for n in range(30))
    text = f"<table>{HEAD}<tr><td>1</td><td><ul>{items}</ul></td></tr></table>"
    chunks = Chunker(max_tokens=120, overlap=0).chunk(text)
    assert all(chunk.text.startswith("<li>") for chunk in chunks[1:-1])
    assert all(is_balanced(chunk.embed_text) for chunk in chunks)


@pytest.mark.parametrize(
    ("head", "repeated"),
    [
        ("<tr><th>a</th><th>b</th></tr>", True),
        ("<tr><th>a<tr><th>b", True),
        ("<thead><tr><td>a</td></tr></thead>", True),
        ("<caption>w</caption>", True),
        # A row of which not every cell is one is no header.
        ("<tr><th>a</th><td>b</td></tr>", False),
        ("<tr><td>a</td><th>b</th></tr>", False),
        ("<tr></tr>", False),
    ],
)
def test_what_a_header_is(head: str, repeated: bool) -> None:
    text = f"<table>{head}{'<tr><td>word word word</td></tr>' * 30}</table>"
    *chunks, _ = Chunker(max_tokens=100, overlap=0).chunk(text)[1:]
    for chunk in chunks:
        assert chunk.embed_text == f"<table>{head * repeated}{chunk.text}</table>"


@pytest.mark.parametrize("head", ["<tr><th>a</th></tr><tr><th>b</th></tr>", ""])
def test_a_table_of_headers_alone_has_none(head: str) -> None:
    text = f"<table>{head}{'<tr><th>word word word</th></tr>' * 30}</table>"
    for chunk in Chunker(max_tokens=100, overlap=0).chunk(text)[1:]:
        assert chunk.embed_text.startswith("<table><tr><th>word")


def test_each_table_has_its_own_header() -> None:
    rows = "<tr><td>word word word</td></tr>" * 20
    text = f"<table><tr><th>a</th></tr>{rows}</table> and <table><tr><th>b</th></tr>{rows}</table>"
    for chunk in Chunker(max_tokens=100, overlap=0).chunk(text):
        assert ("<th>a" in chunk.embed_text) != ("<th>b" in chunk.embed_text)


@pytest.mark.parametrize("depth", [3, 40])
def test_elements_in_each_other_hide_no_cell(depth: int) -> None:
    cell = "<div>" * depth + "a" + "</div>" * depth
    rows = [f"<tr><td>{cell}</td><td>{n}</td></tr>" for n in range(30)]
    budget = 3 * count_tokens(rows[0])
    for chunk in Chunker(max_tokens=budget, overlap=0).chunk(f"<table>{''.join(rows)}</table>")[1:]:
        assert chunk.text.startswith("<tr><td><div>")


@given(st.integers(60, 300), st.integers(1, 5), st.sampled_from(["", "\n", "\n\n"]))
@example(61, 5, "")
@example(63, 5, "")
def test_every_part_is_a_table(budget: int, columns: int, end: str) -> None:
    cells = [f"<td>cell {n} of a row.</td>" for n in range(columns)]
    rows = [end.join(("<tr>", *cells, "</tr>"))] * 30
    text = end.join(
        ("<table><thead><tr><th>Head</th></tr></thead><tbody>", *rows, "</tbody></table>")
    )
    for chunk in check_promises(text, ChunkConfig(max_tokens=budget)):
        # A row that fits is whole, also where nothing fits around it, or around it and the
        # tags that end its table.
        if not is_balanced(chunk.embed_text):
            assert chunk.embed_text == chunk.text
            assert count_tokens(balanced(chunk.text)) > budget


@given(st.integers(16, 80), st.integers(1, 3), st.integers(1, 30), st.booleans())
def test_a_part_of_a_row_closes_what_it_opens(
    budget: int, columns: int, words: int, attributes: bool
) -> None:
    tag = '<td align="center" width="33%">' if attributes else "<td>"
    cells = [f"{tag}<p>{'word ' * words}</p><ul><li>One.</li><li>Two.</li></ul></td>"] * columns
    row = f"<tr>{''.join(cells)}</tr>"
    text = f"<table><tbody>{row * 3}</tbody></table>\n"
    for chunk in check_promises(text, ChunkConfig(max_tokens=budget, overlap=0)):
        own = chunk.text.strip()
        if not is_balanced(chunk.embed_text):
            assert count_tokens(balanced(own)) > budget
        # A tag that fits is not cut.
        assert own.count("<") == own.count(">")


def test_an_opening_tag_stays_with_its_cell() -> None:
    cell = '<td class="wide">' + "Seven words that are in a cell. " * 3 + "</td>"
    text = f"<table><tr>{cell * 3}</tr></table>\n"
    for budget in range(24, 60):
        for chunk in Chunker(max_tokens=budget, overlap=0).chunk(text):
            assert not chunk.text.endswith('<td class="wide">'), budget


@given(
    html_table(),
    st.sampled_from([1, 7, 40, 100]),
    st.sampled_from([0, 0.2]),
    st.booleans(),
)
def test_promises(text: str, budget: int, overlap: float, trim: bool) -> None:
    check_promises(text, ChunkConfig(max_tokens=budget, overlap=overlap, trim=trim))
