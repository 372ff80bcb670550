"""Tables of Pandoc: grid, simple and multiline tables."""

from __future__ import annotations

import pytest

from chunkast import Chunker

GRID = "+---+----+\n| a | b  |\n+===+====+\n| # | d  |\n+---+----+\n"
SIMPLE = "Aa   Bb\n---  ----\n# c  d\ne    f\n"
MULTILINE = "---------\nAa   Bb\n---  ----\nc    d\n     e\n\nf    g\n---------\n"


def kinds(text: str) -> str:
    leaves = Chunker().analyze(text).blocks.leaves()
    return " ".join(leaf.kind for leaf in leaves if leaf.kind not in {"blank", "marker"})


def quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GRID, "text-table"),
        (f"x\n{GRID}\n# y\n", "paragraph text-table heading"),
        ("+:---+---:+\n| a | b |\n+---+---+\n", "text-table"),
        (f"{SIMPLE}\n# x\n", "text-table heading"),
        (f"{SIMPLE}---  ----\nx\n", "text-table paragraph"),
        ("  Aa     B\n----  ----\n c      d\n", "text-table"),
        ("#    B\n---  ----\nc    d\n", "text-table"),
        ("漢字  B\n----  ---\nc     d\n", "text-table"),
        (MULTILINE, "text-table"),
        ("---  ----\nc    d\n\ne    f\n---  ----\n\nx\n", "text-table paragraph"),
        (quoted(GRID), "text-table"),
        (quoted(SIMPLE) + "\nx\n", "text-table paragraph"),
        (
            "- x\n\n  " + MULTILINE.replace("\n", "\n  ").rstrip() + "\n\ny\n",
            "paragraph text-table paragraph",
        ),
        # Captions beside them.
        (f"{GRID}\n: Caption\n", "text-table legend"),
        (f"Table: Caption\n\n{SIMPLE}", "caption text-table"),
        # No table: no row, no columns, not closed, or in code.
        ("+---+\n\n| a |\n+---+\n", "paragraph paragraph"),
        ("+---+\n+---+\n\nx\n", "paragraph paragraph"),
        ("+---+\n| a |\nb\n+---+\n", "paragraph"),
        ("Aa   Bb\n---  ----\n\nx\n", "paragraph hr paragraph"),
        ("# Title\n--- ---\nx\n", "heading hr paragraph"),
        ("text and more\n--- ---\ntext\n", "paragraph hr paragraph"),
        ("--- ---\ntext\n\n--- ---\n", "hr paragraph hr"),
        ("---\n\nAa  Bb\n\n---\n\nx\n--- ---\n", "hr paragraph hr paragraph hr"),
        ("---  ----\nc    d\n\ne\n", "hr paragraph paragraph"),
        ("Aa\n---\nb\n", "heading paragraph"),
        ("a | b\n--- | ---\nc | d\n", "table"),
        (f"```\n{GRID}{SIMPLE}```\n", "fence"),
    ],
)
def test_text_tables_are_read_where_they_are_meant(text: str, expected: str) -> None:
    assert kinds(text) == kinds(text.replace("\n", "\r\n")) == expected


ROWS = {
    "grid": (
        "+-----+-----+\n| Aaa | Bbb |\n+=====+=====+\n",
        "| c{0} | d{0} |\n+-----+-----+\n",
        "",
    ),
    "simple": ("Aaa   Bbb\n----  ----\n", "c{0}    d{0}\n", ""),
    "multiline": (
        "-----------\nAaa   Bbb\n----  -----\n",
        "c{0}    d{0}\n      e{0}\n\n",
        "f     g\n-----------\n",
    ),
    "without": ("+-----+-----+\n", "| c{0} | d{0} |\n+-----+-----+\n", ""),
}


@pytest.mark.parametrize("quote", [False, True])
@pytest.mark.parametrize("name", ROWS)
def test_parts_repeat_the_header(name: str, quote: bool) -> None:
    header, row, end = ROWS[name]
    text = header + "".join(row.format(number) for number in range(10, 40)) + end
    text = quoted(text) if quote else text
    header = quoted(header) if quote else header
    chunks = Chunker(max_tokens=100, overlap=0).chunk(text, "a.md")
    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.kinds[-1] == "table"
        repeated = name != "without" or chunk is chunks[0]
        assert chunk.embed_text.startswith(header.strip()) == repeated
        # Rows are whole.
        assert chunk.text.count("c") == chunk.text.count("d")
        assert "+" not in chunk.text or chunk.text.endswith("+")


def test_a_row_over_budget_is_divided_at_its_lines() -> None:
    header = "+------+--------+\n| Aa   | Bb     |\n+======+========+\n"
    lines = "".join(f"| c{number} | - d {number} |\n" for number in range(10, 40))
    chunks = Chunker(max_tokens=100, overlap=0).chunk(f"{header}{lines}+------+--------+\n", "a.md")
    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.embed_text.startswith(header)
        assert chunk.text.startswith(("| c", "+-"))
        assert chunk.text.endswith(("|", "-+"))
