"""Blocks larger than the budget: where they are divided, and what is embedded around the parts.

A token is a letter "w". A "¦" in a text marks where a chunk has to begin.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from chunkast import BreakPoint, Chunker, ProtectedRegion
from chunkast.heuristics import Heuristic, Patch
from tests.checks import check_promises
from tests.units import config, tokens

BODY = "<table><caption>w</caption><thead><tr><th>w</th></tr></thead><tbody>"
# A text, its budget, and what is embedded before and after each chunk, if anything is.
Frames = list[tuple[str, str]]
PARTS: dict[str, tuple[str, int] | tuple[str, int, Frames]] = {
    "prose at sentences": ("One w w end. ¦Two w w end. ¦Three w w end.\n", 3),
    "a sentence that does not fit at lines": (
        "One w w end. ¦Two w w\n¦and w w\nlast w end.\n", 3,
    ),
    "a line that does not fit at words": ("One w w ¦w w ¦w.\n", 2),
    "a character with its marks stays whole": ("w\u0301\u0301¦w\u0301¦w¦w\n", 1),
    "links and code that fit stay whole": ("w ¦[w w](u) w ¦`w w` w ¦w w\n", 3),
    "a sentence inside a link is no place for a cut": (
        "w [One end. Two w end](u) ¦w w w.\n", 4,
    ),
    "sentences beside a heading that the paragraph does not fit with": (
        "# w\n\nOne w w end. ¦Six w w end.\n\n¦# w\n\nOne w w end. ¦Six w w end.\n", 4,
    ),
    "and in a quote": ("# w\n\n> One w w end. ¦Six w w end.\n", 4),
    "the first sentence below a lead-in": ("w w:\n\n- One w w end. ¦Six w w w end.\n", 6),
    "not if it does not fit there": ("w w w w:\n\n¦- One w w end. Six w w w end.\n", 5),
    "the first child stays with its item": ("- w\n  - w w\n¦  - w w\n  - w w\n", 6),
    "or its first sentence": ("- w w\n  - One w w end. ¦Six w w end.\n", 5),
    "but a child of a child list does not": ("- w\n  - w w w\n¦  1. w w w\n", 6),
    "the first row of a table that is divided": (
        "w w:\n\n| a | b |\n|---|---|\n| w | w |\n¦| w | w |\n| w | w |\n", 5,
        [("", ""), ("| a | b |\n|---|---|\n", "")],
    ),
    "a sentence that goes on after a formula": (
        "One w w end. ¦Two w\n\n$$\nw\n$$\n\nall w end. ¦Six w w w end.\n", 5,
    ),
    "sentences around formulas pairwise, from the first": (
        "W w\n\n$$\nw w\n$$\n\n¦and w w\n\n$$\nw w\n$$\n\n¦all w w w w end.\n", 6,
    ),
    "text that leads in to the next formula goes with it": (
        "W w\n\n$$\nw w\n$$\n\n¦and w w\n\n$$\nw w\n$$\n\n¦all w w w w end.\n", 4,
    ),
    "not if the text after the formula begins a sentence": (
        "One w w end. Two w\n\n$$\nw\n$$\n\n¦All w end. Six w w w end.\n", 6,
    ),
    "bullets before sentences": ("One end. Two w w.\n¦• w w\n¦• w w w\n", 3),
    "a formula at lines, with its marks": ("$$\nw w w\n¦w w w\n¦w w w\n$$\n", 4),
    "in brackets": ("\\[\nw w w\n¦w w w\n¦w w w\n\\]\n", 4),
    "front matter at lines, with its marks": ("---\nw: w w\n¦w: w w\n¦w: w\n---\n\nw\n", 3),
    "a row that does not fit at cells": (
        "| w w | w |\n|---|---|\n¦| w w w ¦| w w w |\n", 3,
    ),
    "text beside HTML tables": (
        "Text w w <table><tr><td>w</td></tr></table>¦ and w w ¦<table><tr><td>w</td></tr></table> w\n",
        3,
    ),
    "an item at lines": ("- w w w\n¦- w w w\n¦  w w w\n", 3),
    "a tag block at its blocks": ("<tag>\n\nw w\n\n¦w w\n\n</tag>\n\nw\n", 3),
    "a fence at blank lines, then lines": (
        "```txt w\nw w\n¦w w\n\n  w\n\n¦w w\nw\n```\n", 4,
        [("", "\n```"), ("```txt w\n", "\n```"), ("```txt w\n", "")],
    ),
    "a fence without an end": (
        "```\nw w\n¦w w\n\n  w w\n\n¦w w\n", 4, [("", "\n```"), *[("```\n", "\n```")] * 2],
    ),
    "a fence in a quote": (
        "> ~~~ py\n> w w\n¦> w w\n> ~~~\n", 3, [("", "\n~~~"), ("~~~ py\n", "")],
    ),
    "a code cell, without its options": (
        "```{r}\n#| w: w\n¦#| w\n¦w w\n¦w w\n```\n", 3,
        [("", "\n```"), *[("```{r}\n", "\n```")] * 2, ("```{r}\n", "")],
    ),
    "a table at rows": (
        "| w | w |\n|---|---|\n| w | w |\n¦| w | w |\n¦| w | w |\n", 4,
        [("", ""), *[("| w | w |\n|---|---|\n", "")] * 2],
    ),
    "a cell at sentences, then words": (
        "| a | b |\n|---|---|\n| One w w end. ¦Two ¦w w end. ¦| w w |\n", 2,
        [("", ""), *[("| a | b |\n|---|---|\n| ", "")] * 3],
    ),
    "an HTML table at rows, with its head": (
        f"{BODY}<tr><td>w w</td></tr>¦<tr><td>w w</td><td>w w</td></tr></tbody></table>\n", 6,
        [("", "</tbody></table>"), (BODY, "")],
    ),
    "or with its tags alone, where the head takes more than half the budget": (
        f"{BODY.replace('<tr>', '¦<tr>')}<tr><td>w</td></tr>¦<tr><td>One w w end. ¦Six w w w.</td></tr></tbody></table>\n",
        3,
        [
            ("", "</thead></table>"), ("<table><thead>", "</tbody></table>"),
            ("<table><tbody>", "</td></tr></tbody></table>"), ("<table><tbody><tr><td>", ""),
        ],
    ),
}  # fmt: skip


# Code without a grammar. Frames, and the marks of the containers around it, have no words.
CODE: dict[str, tuple[str, int]] = {
    "at the least indented lines": ("w w\n  w w\n  w w\n¦w\n  w w w w\n", 6),
    "then one level further in": ("w\n  w w\n    w\n¦  w w\n    w\n    w\n", 5),
    "at blank lines first": ("w w\nw w\n\n¦w w\nw w\nw w\n", 7),
    "but not at deeper ones": ("w w\n\n  w w\n¦w w\n\n  w w\n", 4),
    "after what closes": ("w {\n  w w\n\n}\n¦w {\n  w w\n}\n", 3),
    "a bracket below its line": ("w w\n{\n    w w\n}\n¦w w\n{\n\tw w\n}\n", 4),
    "a bracket that begins a value": ("[\n  {\n    w: w\n  },\n¦  {\n    w: w\n  }\n]\n", 3),
    "from its middle on": ("    w w\n¦  w w\n    w w\n¦w w\n", 4),
    "a diff's files, hunks, and lines without a first column": (
        ("diff --git w\nindex w\n--- w\n+++ w\n@@ w @@\n+w w\n+  w w\n¦@@ w @@\n w w\n w w\n¦"
        "Index: w\n====\n--- w\n+++ w\n@@ w @@\n w w\n¦--- w\n+++ w\n w w\n+w w\n-  w w\n"), 10,
    ),
    "a diff without headers": ("- w w\n+ w w\n+   w w\n¦--- w\n+ w w\n", 6),
}  # fmt: skip


@pytest.mark.parametrize("name", CODE)
@pytest.mark.parametrize(
    ("first", "rest"), [("", ""), ("> ", "> "), ("- ", "  "), ("> 1. ", ">    ")]
)
def test_code_without_a_grammar(name: str, first: str, rest: str) -> None:
    code, budget = CODE[name]
    info = "diff" if "diff" in name else ""
    opening, *lines = f"```{info}\n{code}```\n".splitlines(keepends=True)
    inner = ((line.startswith("¦"), line.lstrip("¦")) for line in lines)
    marked = first + opening + "".join("¦" * cut + rest + line for cut, line in inner)
    text = marked.replace("¦", "")
    chunks = check_promises(text, config(budget))
    assert cuts(text, [chunk.start_index for chunk in chunks[1:]]) == marked


@pytest.mark.parametrize("case", PARTS.values(), ids=PARTS)
def test_parts(case: tuple[str, int, Frames]) -> None:
    marked, budget, *frames = case
    text = marked.replace("¦", "")
    chunks = check_promises(text, config(budget))
    assert cuts(text, [chunk.start_index for chunk in chunks[1:]]) == marked
    around = frames[0] if frames else [("", "")] * len(chunks)
    assert [chunk.embed_text for chunk in chunks] == [
        before + chunk.text + after for chunk, (before, after) in zip(chunks, around, strict=True)
    ]


WHOLE = (
    "```\nw w\n\nw w\n```",
    "    w w\n\n    w w",
    "| w | w |\n|---|---|\n| w | w |\n| w | w |",
    "$$\nw w\nw w\n$$",
    "\\[\nw w\nw w\n\\]",
    "\\(w = w. Xw w end. Xw w\\)",
    "\\[ w_1 w. Xw w end. Xw w \\]",
    "<div>\nw w\nw w\n</div>",
    "<table><tr><td>w</td></tr><tr><td>w w</td></tr></table>",
    "::: w\n\nw w\n\nw w\n\n:::",
    '!!! note "w"\n\n    w w\n\n    w w',
    "<tag>\n\nw w\n\nw w\n\n</tag>",
    "[w w. Xw w end. Xw w](u)",
    "`w w. Xw w end. Xw w`",
    "Xw w w w w end.",
)


@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("packing", ["sections", "fill"])
def test_what_fits_is_never_cut(whole: str, packing: str) -> None:
    for before in (1, 4, 8):
        text = f"X{' '.join('w' * before)} end.\n\n{whole}\n\nXw w w end. Xw w w end.\n"
        for budget in range(tokens(whole), tokens(whole) + 9, 4):
            for window in (0, budget):
                given = config(budget, packing=packing, window=window, decay=0)
                assert any(whole.strip() in part for part in Chunker(given).split_text(text))


def cuts(text: str, starts: list[int]) -> str:
    edges = [0, *starts, len(text)]
    return "¦".join(text[start:end] for start, end in pairwise(edges))


def test_parts_of_words_are_small_however_long_the_text() -> None:
    for text in ("w " * 600, "w" * 600, "x" * 600 + "w" * 60):
        chunks = check_promises(text, config(64))
        assert max(chunk.token_count for chunk in chunks) >= 48


# A user's own regions and points
OWN = "One a. Two.\n\nThree b.\n\nFour.\n"


@pytest.mark.parametrize(
    ("text", "regions", "points", "budget", "texts"),
    [
        # A region may begin and end inside blocks.
        (OWN, [(4, 20)], [], 16, ["One", "a. Two.\n\nThree b", ".\n\nFour."]),
        (OWN, [(12, 16)], [], 14, ["One a. Two.", "Three b.", "Four."]),
        # It does not fit.
        (OWN, [(4, 21)], [], 14, ["One a. Two.", "Three b.", "Four."]),
        # Of two that cross both stay whole if they fit together, else the first does.
        (OWN, [(4, 20), (14, 28)], [], 25, ["One", "a. Two.\n\nThree b.\n\nFour."]),
        (OWN, [(4, 20), (14, 28)], [], 16, ["One", "a. Two.\n\nThree b", ".\n\nFour."]),
        ("One a two b.\n", [], [6], 9, ["One a", "two b."]),
        # Inside an inline construct or a region there is no point.
        ("a `b c` d\n", [], [2, 5, 7], 7, ["a", "`b c` d"]),
        ("ab\n\n```\nc\nd\n```\n", [], [10], 13, ["ab", "```\nc\nd\n```"]),
    ],
)
def test_a_users_regions_and_points(
    text: str, regions: list[tuple[int, int]], points: list[int], budget: int, texts: list[str]
) -> None:
    own = [ProtectedRegion(start, end, "own") for start, end in regions]
    marks = [BreakPoint(pos, 150.0, "own") for pos in points]

    def run(draft: Any) -> Patch[Any]:
        return Patch(value=draft.value.plus(regions=own, break_points=marks))

    options: dict[str, Any] = {"packing": "fill", "window": 9, "decay": 0} if points else {}
    chunker = Chunker(
        max_tokens=budget,
        overlap=0,
        context="none",
        encoding=len,
        heuristics=(Heuristic("own", "post-parse", run),),
        **options,
    )
    assert chunker.split_text(text) == texts


def test_a_fence_s_opening_line_is_never_alone() -> None:
    """A first line that does not fit beside the opening line is divided instead."""
    for length in range(20, 60):
        text = f"Run:\n\n```sh\n{'word ' * length}\n```\n"
        for chunk in Chunker(max_tokens=32, overlap=0, context="none").chunk(text):
            assert not chunk.text.endswith("```sh")


@pytest.mark.parametrize("mark", ["", "> ", "> > ", "- > "])
@pytest.mark.parametrize("budget", [40, 60, 90])
def test_code_in_quotes_is_divided_at_blank_lines(mark: str, budget: int) -> None:
    code = "\n\n".join(f"first_{i} = compute({i})\nsecond_{i} = store(first_{i})" for i in range(9))
    lines = f"```text\n{code}\n```".split("\n")
    rest = mark.replace("-", " ")
    text = "\n".join((mark if n == 0 else rest) + line for n, line in enumerate(lines)) + "\n"
    for chunk in Chunker(max_tokens=budget, overlap=0, context="none").chunk(text)[1:]:
        assert chunk.text.lstrip(" >").startswith("first_")
