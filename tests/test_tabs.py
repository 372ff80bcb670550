"""Tabs of Microsoft Learn: their ends, their labels, and the sections inside them."""

from __future__ import annotations

import pytest

from chunkast import Chunker
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.model import Block


def tree(text: str) -> str:
    """The kinds of all blocks with text, as in "heading tab[marker paragraph]"."""

    def shown(block: Block) -> str:
        inside = " ".join(shown(child) for child in block.children if child.kind != "blank")
        return f"{block.kind}[{inside}]" if inside else block.kind

    return shown(Chunker().analyze(text).blocks).removeprefix("document[").removesuffix("]")


A, B = "# [A](#tab/a)\n\na\n\n", "# [B](#tab/b)\n\nb\n\n"
TAB = "tab[marker paragraph]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Up to the next tab or a rule.
        (A, TAB),
        (f"{A}{B}---\n\nc\n", f"{TAB} tab[marker paragraph marker] paragraph"),
        (f"{A}***\n\n{B}", f"tab[marker paragraph marker] {TAB}"),
        (f"{A}{B}", f"{TAB} {TAB}"),
        ("#### [A](#tab/a/b)\n---\n\nc\n", "tab[marker marker] paragraph"),
        ("[A\nB](#tab/a)\n===\n\na\n", TAB),
        # Up to the end of the section around it.
        (f"## S\n\n{A}## T\n\nc\n", f"heading {TAB} heading paragraph"),
        (f"## S\n\n{A}# T\n", f"heading {TAB} heading"),
        (f"## S\n\n{A}<h2>T</h2>\n", f"heading {TAB} html-heading"),
        (f"## S\n\n{A}### T\n\nc\n", "heading tab[marker paragraph heading paragraph]"),
        (f"## S\n\n{A}### T\n\n{B}## U\n", f"heading tab[marker paragraph heading] {TAB} heading"),
        # In containers.
        (f"::: zone\n\n{A}:::\n\nc\n", f"container[marker {TAB} marker] paragraph"),
        (f"## S\n\n::: z\n\n{A}## T\n:::\n", f"heading container[marker {TAB} heading marker]"),
        ("- c\n\n  # [A](#tab/a)\n\n  a\n\n- d\n",
         f"list[item[paragraph {TAB}] item[paragraph]]"),
        (f"{A}> ## Q\n\n- x\n\n---\n\nc\n",
         "tab[marker paragraph quote[heading] list[item[paragraph]] marker] paragraph"),
        # Labels.
        ("# [**A**, [b] \\] c](#tab/a)\n\na\n", TAB),
        ('# <a id="a"></a>[A](#tab/a)\n\na\n', TAB),
        # Other headings, and other text.
        ("# The [A](#tab/a)\n\na\n", "heading paragraph"),
        ("# [A](#tab/a) and [B](#tab/b)\n\na\n", "heading paragraph"),
        ("# [A](#tabs)\n\na\n", "heading paragraph"),
        ("[A](#tab/a)\n\na\n", "paragraph paragraph"),
        ("```\n# [A](#tab/a)\n```\n", "fence"),
    ],
)  # fmt: skip
def test_where_tabs_begin_and_end(text: str, expected: str) -> None:
    assert tree(text) == expected
    assert tree(text.replace("\n", "\r\n")) == expected


def test_tabs_are_containers_and_need_the_extension() -> None:
    (region, *_) = Chunker().analyze(f"{A}---\n\nc\n").regions
    assert (region.kind, region.start, region.end) == ("tab", 0, len(f"{A}---"))
    (chunk,) = Chunker().chunk(A)
    assert chunk.kinds == ("container", "paragraph")
    without = tuple(name for name in DEFAULT_EXTENSIONS if name != "containers")
    assert [h.title for h in Chunker(extensions=without).analyze(A).headings] == ["A"]


def test_sections_in_a_tab_end_with_it_and_later_parts_name_its_label() -> None:
    text = (
        "## Install\n\nOne.\n\n# [**Linux**](#tab/linux)\n\n### Steps\n\n"
        "Get the packages first. Install them with the manager.\n\nThen start the service.\n\n"
        "---\n\nIt runs now.\n\n### Check\n\nAsk for its state.\n"
    )
    chunks = Chunker(max_tokens=24, overlap=0, min_tokens=0).chunk(text)
    found = {
        word: (chunk.headings, chunk.embed_text[: chunk.embed_text.index(chunk.text)])
        for word in ("Then", "runs", "state")
        for chunk in chunks
        if word in chunk.text
    }
    assert found["Then"] == (("Install", "Steps"), "Install > Steps\n**Linux**\n\n")
    assert found["runs"] == (("Install",), "Install\n\n")
    assert found["state"][0] == ("Install", "Check")
