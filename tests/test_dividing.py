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
from tests.tables import cases
from tests.units import config, tokens


# Frames, and the marks of the containers around the code, have no words.
@cases("dividing", "code")
@pytest.mark.parametrize(
    ("first", "rest"), [("", ""), ("> ", "> "), ("- ", "  "), ("> 1. ", ">    ")]
)
def test_code_without_a_grammar(code: str, info: str, budget: int, first: str, rest: str) -> None:
    opening, *lines = f"```{info}\n{code}```\n".splitlines(keepends=True)
    inner = ((line.startswith("¦"), line.lstrip("¦")) for line in lines)
    marked = first + opening + "".join("¦" * cut + rest + line for cut, line in inner)
    text = marked.replace("¦", "")
    chunks = check_promises(text, config(budget))
    assert cuts(text, [chunk.start_index for chunk in chunks[1:]]) == marked


@cases("dividing", "parts")
def test_parts(marked: str, budget: int, frames: list[tuple[str, str]]) -> None:
    text = marked.replace("¦", "")
    chunks = check_promises(text, config(budget))
    assert cuts(text, [chunk.start_index for chunk in chunks[1:]]) == marked
    around = frames or [("", "")] * len(chunks)
    assert [chunk.embed_text for chunk in chunks] == [
        before + chunk.text + after for chunk, (before, after) in zip(chunks, around, strict=True)
    ]


@cases("dividing", "whole")
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


@cases("dividing", "regions and points")
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
