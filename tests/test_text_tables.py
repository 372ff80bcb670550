"""Parts of Pandoc's tables: grid, simple and multiline tables."""

from __future__ import annotations

import pytest

from chunkast import Chunker


def quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines())


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
