"""Blocks larger than the budget: where they are divided, and what is embedded around the parts.

A token is a letter "w". A "¦" in a text marks where a chunk has to begin.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from chunkast import BreakPoint, ChunkConfig, Chunker, ProtectedRegion
from chunkast.core.analysis import DocumentHeuristic
from chunkast.heuristics import Heuristic, Patch
from tests.checks import check_promises
from tests.units import config, tokens

# A text and its budget.
PARTS: dict[str, tuple[str, int]] = {
    "prose at sentences": ("One w w end. ¦Two w w end. ¦Three w w end.\n", 3),
    "a sentence that does not fit at lines": (
        "One w w end. ¦Two w w\n¦and w w\nlast w end.\n", 3,
    ),
    "a line that does not fit at words": ("One w w ¦w w ¦w.\n", 2),
    "a character with its marks stays whole": ("w\u0301\u0301¦w\u0301¦w¦w\n", 1),
    "links and code that fit stay whole": ("w ¦[w w](u) w ¦`w w` w ¦w w\n", 3),
    "so do links to what is defined": ("w w ¦[w w][a] ¦[w w][b]\n\n[a]: u\n", 2),
    "a sentence inside a link is no place for a cut": (
        "w [One end. Two w end](u) ¦w w w.\n", 4,
    ),
    "sentences beside a heading that the paragraph does not fit with": (
        "# w\n\nOne w w end. ¦Six w w end.\n\n¦# w\n\nOne w w end. ¦Six w w end.\n", 4,
    ),
    "not in a quote": ("# w\n\n¦> One w w end. Six w w end.\n", 4),
    "bullets before sentences": ("One end. Two w w.\n¦• w w\n¦• w w w\n", 3),
    "indented code at blank lines": (
        "    w w\n¦    w w\n\n¦      w w\n\n¦    w w\n\n    w\n", 3,
    ),
    "a formula at lines, with its marks": ("$$\nw w w\n¦w w w\n¦w w w\n$$\n", 4),
    "front matter at lines, with its marks": ("---\nw: w w\n¦w: w w\n¦w: w\n---\n\nw\n", 3),
    "HTML at lines": ("<div w>\n¦w w w\n¦w w w\n¦w w w\n</div>\n", 3),
    "a table's header at cells": ("| w w ¦| w w |\n|---|---|\n", 3),
    "a row that does not fit at cells": (
        "| w w | w |\n|---|---|\n¦| w w w ¦| w w w |\n", 3,
    ),
    "text beside HTML tables": (
        "Text w w <table><tr><td>w</td></tr></table>¦ and w w ¦<table><tr><td>w</td></tr></table> w\n",
        3,
    ),
    "a quote at lines": ("> w w w\n¦> w w w\n", 3),
    "an item at lines": ("- w w w\n¦- w w w\n¦  w w w\n", 3),
    "a tag block at its blocks": ("<tag>\n\nw w\n\n¦w w\n\n</tag>\n\nw\n", 3),
    "not where it fits": ("<tag>\n\nw w\n\nw w\n\n</tag>\n\n¦w\n", 4),
}  # fmt: skip
BODY = "<table><caption>w</caption><thead><tr><th>w</th></tr></thead><tbody>"
# What is put before and after each chunk as well.
FRAMED: dict[str, tuple[str, int, list[tuple[str, str]]]] = {
    "a fence at blank lines, then lines": (
        "```py w\nw w\n¦w w\n\n¦  w w\n\n¦w w\n¦w w\n```\n", 4,
        [("", "\n```"), *[("```py w\n", "\n```")] * 3, ("```py w\n", "")],
    ),
    "a fence without an end": (
        "```\nw w\n¦w w\n\n¦  w w\n\n¦w w\n", 4, [("", "\n```"), *[("```\n", "\n```")] * 3],
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
        [("", ""), *[("| a | b |\n|---|---|\n", "")] * 3],
    ),
    "an HTML table at rows, with its head": (
        f"{BODY}<tr><td>w w</td></tr>¦<tr><td>w w</td><td>w w</td></tr></tbody></table>\n", 6,
        [("", "</tbody></table>"), (BODY, "")],
    ),
    "or without, where that takes more than half the budget": (
        "<table><caption>w</caption><thead>¦<tr><th>w</th></tr></thead><tbody>¦<tr><td rowspan='2'>w</td>¦<td>w</td></tr>¦<tr><td>w</td></tr>¦<tr><td>w</td>¦<td><p>w end. ¦Then w.</p>¦w<br>w</td></tr></tbody></table>\n",
        2,
        [
            ("", "</thead></table>"), ("<table><thead>", "</tbody></table>"),
            ("<table><tbody>", "</tr></tbody></table>"), ("<table><tbody><tr>", "</tbody></table>"),
            ("<table><tbody>", "</tbody></table>"), ("<table><tbody>", "</tr></tbody></table>"),
            ("<table><tbody><tr>", "</p></td></tr></tbody></table>"),
            ("<table><tbody><tr><td><p>", "</td></tr></tbody></table>"),
            ("<table><tbody><tr><td>", ""),
        ],
    ),
    "a table in a cell": (
        "<table><tr><td>w<table><tr>¦<td>w<td>w¦<tr><td>w</table><td>w<tr><td>w</table>\n", 3,
        [
            ("", "</tr></table></td></tr></table>"),
            ("<table><tr><td><table><tr>", "</table></td></tr></table>"),
            ("<table><tr><td><table>", ""),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("marked", "budget"), PARTS.values(), ids=PARTS)
def test_parts(marked: str, budget: int) -> None:
    text = marked.replace("¦", "")
    chunks = check_promises(text, config(budget))
    assert cuts(text, [chunk.start_index for chunk in chunks[1:]]) == marked
    assert all(chunk.embed_text == chunk.text for chunk in chunks)


@pytest.mark.parametrize(("marked", "budget", "frames"), FRAMED.values(), ids=FRAMED)
def test_parts_and_what_is_around_them(
    marked: str, budget: int, frames: list[tuple[str, str]]
) -> None:
    text = marked.replace("¦", "")
    chunks = check_promises(text, config(budget))
    assert cuts(text, [chunk.start_index for chunk in chunks[1:]]) == marked
    assert [chunk.embed_text for chunk in chunks] == [
        before + chunk.text + after for chunk, (before, after) in zip(chunks, frames, strict=True)
    ]


WHOLE = (
    "```\nw w\n\nw w\n```",
    "    w w\n\n    w w",
    "| w | w |\n|---|---|\n| w | w |\n| w | w |",
    "$$\nw w\nw w\n$$",
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


# Opaque data that is kept

RUN = "data:," + "w" * 256


def shown_too(text: str) -> int:
    """What is shown in place of a run has two tokens."""
    return tokens(text) + 2 * text.count("characters")


# A text in which "@" is opaque data, and its chunks.
RUNS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "alone in its block": ("@\n", 5, {}),
    "its line, where little else is on it": ("w w w w w\n¦x @\n¦w w w w w\n", 5, {}),
    "a link around it, if that takes at most half the budget": (
        "One w end. See ¦![w w](@)¦ w w w end. Two w end.\n", 8, {},
    ),
    "else itself": ("One w end. See ![w w w](¦@¦) w w w end. Two w end.\n", 8, {}),
    "tags side by side": ("w w w w w w w ¦<a @>¦<a @>¦ w w w w w w w\n", 7, {}),
    "in code": ("```\nw w w w w\n¦x @\n¦```\n", 5, {}),
    "sentences that begin or end on its line": (
        f"{'w ' * 24}end. ¦Two end goes\non here. See @ ends. So it\ngoes. ¦More {'w ' * 24}w.\n",
        40, {},
    ),
    "in a cell": ("| w | w |\n|---|---|\n| ¦@¦ | w |\n", 5, {}),
    "in one block and another": ("w w w w w w ¦@\n\n¦@\n", 6, {}),
    "with all that is too large": ("w w w w @ w @\n", 5, {"oversize": "keep"}),
}  # fmt: skip


@pytest.mark.parametrize(("marked", "budget", "options"), RUNS.values(), ids=RUNS)
def test_opaque_data_that_is_kept(marked: str, budget: int, options: dict[str, Any]) -> None:
    text = marked.replace("¦", "").replace("@", RUN)
    given_ = config(budget, encoding=shown_too, opaque="keep", **options)
    chunks = check_promises(text, given_)
    found = cuts(text, [chunk.start_index for chunk in chunks[1:]])
    assert found.replace(RUN, "@") == marked
    shown = "".join(chunk.embed_text for chunk in chunks)
    assert shown.count("[data URI, 262 characters]") == marked.count("@")


# A user's own regions and points


def marking(
    regions: list[tuple[int, int]] | None = None, points: list[tuple[int, float]] | None = None
) -> DocumentHeuristic:
    own = [ProtectedRegion(start, end, "own") for start, end in regions or []]
    marks = [BreakPoint(pos, score, "own") for pos, score in points or []]

    def run(draft: Any) -> Patch[Any]:
        return Patch(value=draft.value.plus(regions=own, break_points=marks))

    return Heuristic("own", "post-parse", run)


def own_texts(text: str, budget: int, heuristic: DocumentHeuristic, **options: Any) -> list[str]:
    given_ = {"overlap": 0, "context": "none", "encoding": len, "heuristics": (heuristic,)}
    chunks = Chunker(ChunkConfig(max_tokens=budget, **{**given_, **options})).chunk(text)
    return [chunk.text for chunk in chunks]


@pytest.mark.parametrize(
    ("regions", "budget", "texts"),
    [
        # It may begin and end inside blocks.
        ([(4, 20)], 16, ["One", "a. Two.\n\nThree b", ".\n\nFour."]),
        ([(4, 21)], 18, ["One", "a. Two.\n\nThree b.", "Four."]),
        ([(12, 16)], 14, ["One a. Two.", "Three b.", "Four."]),
        # It does not fit.
        ([(4, 21)], 14, ["One a. Two.", "Three b.", "Four."]),
        # Of two that cross both stay whole if they fit together, else the first does.
        ([(4, 20), (14, 28)], 25, ["One", "a. Two.\n\nThree b.\n\nFour."]),
        ([(4, 20), (14, 28)], 16, ["One", "a. Two.\n\nThree b", ".\n\nFour."]),
    ],
)
def test_a_users_region_stays_whole(
    regions: list[tuple[int, int]], budget: int, texts: list[str]
) -> None:
    text = "One a. Two.\n\nThree b.\n\nFour.\n"
    assert own_texts(text, budget, marking(regions)) == texts


@pytest.mark.parametrize(
    ("text", "points", "budget", "texts"),
    [
        ("One a two b.\n", [6], 9, ["One a", "two b."]),
        # Inside an inline construct or a region there is none.
        ("a `b c` d\n", [2, 5, 7], 7, ["a", "`b c` d"]),
        ("ab\n\n```\nc\nd\n```\n", [10], 13, ["ab", "```\nc\nd\n```"]),
    ],
)
def test_a_users_point(text: str, points: list[int], budget: int, texts: list[str]) -> None:
    heuristic = marking(points=[(pos, 150.0) for pos in points])
    found = own_texts(text, budget, heuristic, packing="fill", window=9, decay=0)
    assert found == texts


def test_a_fence_s_opening_line_is_never_alone() -> None:
    """A first line that does not fit beside the opening line is divided instead."""
    for length in range(20, 60):
        text = f"Run:\n\n```sh\n{'word ' * length}\n```\n"
        for chunk in Chunker(max_tokens=32, overlap=0, context="none").chunk(text):
            assert not chunk.text.endswith("```sh")
