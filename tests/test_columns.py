"""Parts of tables are under their own columns, as a stock parser or a reader of HTML reads them.

Every word of a table names its column: "x2" belongs into the third.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chunkast import Chunk, ChunkConfig, Chunker
from tests.checks import check_promises

READER = MarkdownIt("commonmark").enable("table")
WORD = re.compile(r"x(\d+)")


def pipe_cells(markdown: str) -> Iterator[tuple[int, str]]:
    """The column and the text of each cell that a stock parser finds."""
    column = 0
    for token in READER.parse(markdown):
        column = 0 if token.type == "tr_open" else column + (token.type in ("td_close", "th_close"))
        if token.type == "inline":
            yield column, token.content


def tables(markdown: str) -> int:
    return sum(token.type == "table_open" for token in READER.parse(markdown))


def check_pipes(chunks: list[Chunk]) -> int:
    """Check the cells of all chunks that are read as tables; return how many these are."""
    found = 0
    for chunk in chunks:
        if tables(chunk.embed_text):
            found += 1
            for column, content in pipe_cells(chunk.embed_text):
                assert {int(name) for name in WORD.findall(content)} <= {column}, chunk.embed_text
    return found


def sentences(column: int, count: int) -> str:
    return " ".join(f"The x{column} has number {n} of these." for n in range(count))


def rows(columns: int, size: int, count: int) -> list[str]:
    """Rows without the outer pipes."""
    cells = [sentences(column, size) for column in range(columns)]
    return [
        " | ".join(f"x{column}" for column in range(columns)),
        " | ".join(["---"] * columns),
        *[" | ".join(cells)] * count,
    ]


EDGES = {"both": ("| ", " |"), "none": ("", ""), "first": ("|", ""), "last": ("", " |")}
CONTAINERS = {
    "alone": ("", ""),
    "in a quote": ("> ", "> "),
    "in an item": ("- ", "  "),
    "in a quote in an item": ("1. > ", "   > "),
    "in an item in a quote": ("> - ", ">   "),
    "in a tight quote": (">", ">"),
}


@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_parts_of_rows(container: tuple[str, str], edges: tuple[str, str]) -> None:
    overlap = 0.2 * (len(container[0]) % 2)
    lines = [f"{edges[0]}{row}{edges[1]}\n" for row in rows(3, 9, 2)]
    text = container[0] + container[1].join(lines)
    chunks = check_promises(text, ChunkConfig(max_tokens=80, overlap=overlap))
    assert len(chunks) > 7
    # Only beside a long overlap is there no room for the header.
    assert check_pipes(chunks) >= len(chunks) - (overlap > 0)


SHAPES = {
    "an escaped pipe": "| x0 \\| x0 x0. {0} | x1 \\| {1} |",
    "a pipe in code": "| `x0 | x1 x1`. {1} | x2. {2} |",
    "an escaped pipe in code": "| `x0 \\| x0 x0` {0} | x1. {1} |",
    "a pipe after two backslashes": "| x0 \\\\| x0 {0} | x1 {1} |",
    "empty cells": "|| | x2. {2} |",
    "too few cells": "| x0. {0}",
    "too many cells": "| x0. {0} | x1. {1} | x2. {2} | {2} | {2} |",
    "a long word": "| x0. | {long} | x2 {long} |",
    "backslashes": "| {slashes} | x1. {1} |",
}


@pytest.mark.parametrize("budget", [36, 60])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_shapes_of_rows(shape: str, budget: int) -> None:
    cells = [sentences(column, 7) for column in range(3)]
    row = shape.format(*cells, long="a" * 900, slashes="\\|" * 200)
    text = f"| x0 | x1 | x2 |\n|---|:-:|--:|\n{row}\n| x0 | x1 | x2 |\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=budget, overlap=0))
    assert len(chunks) > 2
    assert check_pipes(chunks) >= 1 + (budget > 40)


def test_a_header_that_does_not_fit_is_left_out() -> None:
    header = f"| {'long ' * 30}x0 | x1 |\n|---|---|\n"
    text = f"{header}| {sentences(0, 9)} | {sentences(1, 9)} |\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=40, overlap=0))
    assert not check_pipes(chunks[2:])
    for chunk in chunks[2:]:
        assert chunk.embed_text == chunk.text


WORDS = st.integers(0, 12)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


@given(
    sizes=st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=5),
    columns=st.integers(2, 4),
    container=st.sampled_from(list(CONTAINERS.values())),
    edges=st.sampled_from(list(EDGES.values())),
    line_end=LINE_ENDS,
    overlap=st.sampled_from([0, 0.2]),
    budget=st.integers(12, 90),
)
def test_cells_of_generated_tables(
    *,
    sizes: list[list[int]],
    columns: int,
    container: tuple[str, str],
    edges: tuple[str, str],
    line_end: str,
    overlap: float,
    budget: int,
) -> None:
    head = rows(columns, 0, 0)
    body = [
        " | ".join(f"x{column} \\| x{column}. " * size or "none" for column, size in enumerate(row))
        for row in sizes
    ]
    lines = [f"{edges[0]}{row}{edges[1]}{line_end}" for row in head + body]
    text = f"{container[0]}{container[1].join(lines)}"
    check_pipes(check_promises(text, ChunkConfig(max_tokens=budget, overlap=overlap)))


class HtmlReader(HTMLParser):
    """Reads the outermost tables as browsers do: each text with the columns of its cell."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[tuple[range, str]] = []
        self.reaching: dict[int, int] = {}  # column -> rows still to come
        self.depth = 0
        self.cell: range | None = None
        self.next = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag == "table"
        if self.depth != 1:
            return
        if tag in ("thead", "tbody", "tfoot"):
            self.reaching, self.cell = {}, None
        elif tag == "tr":
            self.row = {column: rows - 1 for column, rows in self.reaching.items() if rows}
            self.taken, self.reaching = set(self.row), dict(self.row)
            self.cell, self.next = None, 0
        elif tag in ("td", "th"):
            size = {key: int(value or 1) for key, value in attrs if key.endswith("span")}
            while self.next in self.taken:
                self.next += 1
            self.cell = range(self.next, self.next + size.get("colspan", 1))
            self.next = self.cell.stop
            self.reaching |= dict.fromkeys(self.cell, (size.get("rowspan", 1) or 99) - 1)

    def handle_endtag(self, tag: str) -> None:
        if self.depth == 1 and tag in ("td", "th", "tr", "thead", "tbody", "tfoot"):
            self.cell = None
        if tag in ("thead", "tbody", "tfoot"):
            self.reaching = {}
        self.depth -= tag == "table"

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.texts.append((self.cell, data))


def check_html(chunks: list[Chunk], head: str) -> int:
    """Check the cells of all chunks with the header; return how many these are."""
    found = 0
    for chunk in chunks:
        if head in chunk.embed_text:
            found += 1
            for columns, words in HtmlReader(chunk.embed_text).texts:
                names = {int(name) for name in WORD.findall(words)}
                assert names <= set(columns), chunk.embed_text
    return found


HTML_HEAD = "<tr><th>x0</th><th>x1</th><th>x2</th></tr>"
LONG = [sentences(column, 9) for column in range(3)]
HTML_TABLES = {
    "a long row": f"<tr><td>{LONG[0]}</td><td>{LONG[1]}</td><td>{LONG[2]}</td></tr>",
    "rows under a cell": (
        "<tr><td rowspan='3'>x0</td><td>x1</td><td>x2</td></tr>"
        + f"<tr><td>{LONG[1]}</td><td>{LONG[2]}</td></tr>" * 2
    ),
    "rows under a cell with much text": (
        f"<tr><td rowspan=3>{LONG[0]}</td><td>x1</td><td>x2</td></tr>"
        + f"<tr><td>{LONG[1]}</td><td>x2</td></tr>" * 2
    ),
    "rows under several cells": (
        f"<tr><td rowspan=4>x0</td><td rowspan=2>{LONG[1]}</td><td>x2</td></tr>"
        f"<tr><td>x2 {LONG[2]}</td></tr><tr><td rowspan=2>x1</td><td>{LONG[2]}</td></tr>"
        f"<tr><td>x2</td></tr><tr><td>x0</td><td>{LONG[1]}</td><td>x2</td></tr>"
    ),
    "rows under the last cell": (
        "<tr><td>x0</td><td>x1</td><td rowspan=5>x2</td></tr>"
        + f"<tr><td>{LONG[0]}</td><td>{LONG[1]}</td></tr>" * 4
    ),
    "rows under the middle cell": (
        "<tr><td>x0</td><td rowspan=5><b>x1</b></td><td>x2</td></tr>"
        + f"<tr><td>{LONG[0]}</td><td>{LONG[2]}</td></tr>" * 4
    ),
    "all rows under a cell": (
        "<tr><td rowspan=0>x0</td><td>x1</td><td>x2</td></tr>"
        + f"<tr><td>{LONG[1]}</td><td>x2</td></tr>" * 3
    ),
    "a cell that reaches out of its part": (
        "<tbody><tr><td rowspan=9>x0</td><td>x1</td><td>x2</td></tr></tbody>"
        f"<tbody><tr><td>x0</td><td>{LONG[1]}</td><td>x2 {LONG[2]}</td></tr></tbody>"
    ),
    "wide cells": (
        f"<tr><td colspan=2>x0 {LONG[1]}</td><td>{LONG[2]}</td></tr>"
        f"<tr><td>x0</td><td colspan=2>x1 {LONG[2]}</td></tr>"
        f"<tr><td colspan=2 rowspan=2>x0</td><td>{LONG[2]}</td></tr><tr><td>{LONG[2]}</td></tr>"
    ),
    "a table in a cell": (
        f"<tr><td>x0</td><td><table><tr><td>x1</td><td>{LONG[1]}</td></tr></table></td>"
        f"<td>{LONG[2]}</td></tr>"
    ),
    "a list in a cell": (
        f"<tr><td rowspan=2>x0</td><td><ul>{f'<li>{LONG[1]}</li>' * 3}</ul></td><td>x2</td></tr>"
        f"<tr><td>x1</td><td>{LONG[2]}</td></tr>"
    ),
}


@pytest.mark.parametrize(("line_end", "overlap"), [("", 0), ("\n  ", 0.2)])
@pytest.mark.parametrize("body", HTML_TABLES.values(), ids=HTML_TABLES)
def test_parts_of_html_tables(body: str, line_end: str, overlap: float) -> None:
    table = f"<table>{HTML_HEAD}<tbody>{body}</tbody><tbody>{body}</tbody></table>"
    text = re.sub("(?<=>)(?=<(?:tr|td|/t))", line_end, table)
    head = text[len(f"<table>{line_end}") : text.index("</tr>")]
    chunks = check_promises(text, ChunkConfig(max_tokens=160, overlap=overlap))
    assert len(chunks) > 2
    # The header is left out where a part begins inside a row.
    assert check_html(chunks, head) >= 1


HTML_CELLS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([1, 1, 2]), st.sampled_from([1, 1, 2, 3, 0])),
    min_size=1,
    max_size=4,
)


def html_row(sizes: list[tuple[int, int, int]], reaching: dict[int, int], end: str) -> str:
    """Return a row whose cells leave out the columns that earlier cells reach."""
    cells, column, taken = [], 0, {at for at, rows in reaching.items() if rows}
    reaching |= {at: rows - 1 for at, rows in reaching.items() if rows}
    for size, wanted, height in sizes:
        while column in taken:
            column += 1
        width = 1 if column + 1 in taken else wanted
        words = " ".join(f"Any x{column} is <b>x{column}</b>." for _ in range(size))
        tag = "td" + f" colspan={width}" * (width > 1) + f' rowspan="{height}"' * (height != 1)
        cells.append(f"<{tag}>{words}</td>{end}")
        reaching |= dict.fromkeys(range(column, column + width), (height or 99) - 1)
        column += width
    return f"<tr>{end}{''.join(cells)}</tr>{end}"


@given(
    bodies=st.lists(st.lists(HTML_CELLS, min_size=1, max_size=5), min_size=1, max_size=2),
    end=st.sampled_from(["", "\n", "\n> "]),
    has_parts=st.booleans(),
    overlap=st.sampled_from([0, 0.2]),
    budget=st.integers(30, 240),
)
def test_cells_of_generated_html_tables(
    *,
    bodies: list[list[list[tuple[int, int, int]]]],
    end: str,
    has_parts: bool,
    overlap: float,
    budget: int,
) -> None:
    body = ""
    reaching: dict[int, int] = {}
    for part in bodies:
        written = "".join(html_row(sizes, reaching, end) for sizes in part)
        body += f"<tbody>{end}{written}</tbody>{end}" if has_parts else written
        reaching = {} if has_parts else reaching
    text = f"{end.lstrip()}<table>{HTML_HEAD}{end}{body}</table>\n"
    chunks = check_promises(text, ChunkConfig(max_tokens=budget, overlap=overlap))
    check_html(chunks, HTML_HEAD)


def first_rows(head: str, rows: list[str]) -> list[bool]:
    """Whether each chunk of a table repeats its first row."""
    text = f"<table>{head}{''.join(rows)}</table>"
    chunks = Chunker(max_tokens=120, overlap=0).chunk(text)
    assert len(chunks) > 2
    return [head in chunk.embed_text for chunk in chunks]


def cells(*contents: str) -> str:
    return f"<tr>{''.join(f'<td>{content}</td>' for content in contents)}</tr>"


NUMBERS = [cells(f"Item{chr(65 + n % 26)} has words", f"{n}.50 EUR") for n in range(30)]
PHRASES = [cells("some words here", "more <b>bold</b> words here") for _ in range(30)]
FIRST_ROWS = {
    "digits in a column": (cells("Item", "Price"), NUMBERS, True),
    "a bold first row": (cells("<b>Item</b>", " <strong>Use</strong> "), PHRASES, True),
    "a bold first row in Markdown": (cells("**Item**", "**Use**"), PHRASES, True),
    "bold inside other elements": (cells("<p><b>A</b></p>", "<b><i>B</i></b>"), PHRASES, True),
    "a link in a cell is no link": (cells('<b>A <a href="b">b</a></b>', "<b>B</b>"), PHRASES, True),
    "a first row that is not bold": (cells("Item", "Use"), PHRASES, False),
    "partly bold": (cells("<b>Item</b> or part", "<b>Use</b>"), PHRASES, False),
    "others are bold": (cells("<b>A</b>", "<b>B</b>"), [cells("<b>C</b>", "d e")] * 30, False),
    "an empty cell": (cells("", "Price"), NUMBERS, False),
    "a cell of white space": (cells(" <br> ", "Price"), NUMBERS, False),
    "a link": (cells('<a href="b">Item</a>', "Price"), NUMBERS, False),
    "a link in Markdown": (cells("[Item](b)", "Price"), NUMBERS, False),
    "an image": (cells('<img src="b"> Item', "Price"), NUMBERS, False),
    "an image in Markdown": (cells("![Item](b) Item", "Price"), NUMBERS, False),
    "a row without digits": (cells("Item", "Price"), [*NUMBERS, cells("a", "b")], False),
    "digits in attributes": (
        cells("A", "B"), [cells("a b c d", '<i class="w3">e f g h</i>')] * 30, False,
    ),
    "header cells elsewhere": (
        cells("A", "B"), [f"<tr><th>a b c d</th><td>{n} e f</td></tr>" for n in range(30)], False,
    ),
    "a cell that reaches out of it": (
        "<tr><td rowspan=2>A</td><td>B</td></tr>", ["<tr><td>1</td></tr>", *NUMBERS], False,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("head", "rows", "repeated"), FIRST_ROWS.values(), ids=FIRST_ROWS)
def test_first_rows_as_headers(head: str, rows: list[str], repeated: bool) -> None:
    assert set(first_rows(head, rows)[1:-1]) == {repeated}


@pytest.mark.parametrize("rows", ["", "<tr></tr>" * 3, "<tr></tr><tr><td>1</td></tr>" * 3, "<td>1"])
def test_tables_without_rows(rows: str) -> None:
    check_promises(f"<table>{rows}<!-- {'w ' * 99} --></table>", ChunkConfig(max_tokens=20))


def test_two_rows_have_no_header() -> None:
    long = cells("long words. " * 100, "5")
    text = f"<table>{cells('Item', 'Price')}{long}</table>"
    for chunk in Chunker(max_tokens=100, overlap=0).chunk(text)[1:]:
        assert "Item" not in chunk.embed_text
