"""Fences cut by what is in them: sessions, settings, folder trees, CSV, and code in any language.

In the first tests, a token is a letter "w", and a "¦" marks where a chunk has to begin.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from chunkast import Chunker
from tests.checks import check_promises
from tests.tables import cases, each_case
from tests.units import config


@cases("fences", "parts")
@pytest.mark.parametrize("prefix", ["", "> ", "- ", "1. > "])
def test_a_fence_is_cut_by_what_is_in_it(
    info: str, code: str, budget: int, openers: list[str], prefix: str
) -> None:
    rest = "".join(mark if mark == ">" else " " for mark in prefix)
    lines = [f"```{info}\n", *code.splitlines(keepends=True), "```\n"]
    marked = "".join(
        "¦" * line.startswith("¦") + (rest if number else prefix) + line.lstrip("¦")
        for number, line in enumerate(lines)
    )
    text = marked.replace("¦", "")
    chunks = check_promises(text, config(budget))
    found = "¦".join(
        text[one.start_index : end]
        for one, end in zip(
            chunks, [*(chunk.start_index for chunk in chunks[1:]), len(text)], strict=True
        )
    )
    assert found == marked
    contexts = [chunk.embed_text[: chunk.embed_text.index(chunk.text)] for chunk in chunks]
    assert contexts == ["", *(f"```{info}\n{opener}" for opener in openers[1:])]


@each_case("fences", "documents")
def test_fences_that_people_met(case: dict[str, Any]) -> None:
    chunks = Chunker(max_tokens=case["max_tokens"], overlap=0).chunk(case["text"])
    expect = case["expect"]
    for line in expect.get("not_end", ()):
        assert [chunk for chunk in chunks[:-1] if chunk.text.rstrip().endswith(line)] == []
    for snippets in expect.get("together", ()):
        assert any(all(snippet in chunk.text for snippet in snippets) for chunk in chunks)
    for snippet in expect.get("starts", ()):
        assert any(chunk.text.startswith(snippet) for chunk in chunks)
    for snippet, said in expect.get("says", {}).items():
        chunk = next(chunk for chunk in chunks if snippet in chunk.text)
        assert [each for each in said if each not in chunk.embed_text] == []


@pytest.mark.parametrize("info", ["js", "bash", "python", "yaml", "text"])
@pytest.mark.parametrize("broken", ["", "...\n", "x = = )\n", "<<EOF\n"])
def test_code_is_cut_at_the_least_indented_lines_with_a_grammar_or_not(
    info: str, broken: str
) -> None:
    """Also where the grammar reads a statement around these lines, or cannot read them."""
    code = broken + "".join(f"name_{n}:\n  - first: {n}\n    other: {n}\n" for n in range(40))
    chunks = Chunker(max_tokens=96, overlap=0).chunk(f"```{info}\n{code}```\n")
    assert len(chunks) > 4
    assert all(chunk.text.startswith("name_") for chunk in chunks[1:])


@pytest.mark.parametrize("info", ["js", "text"])
def test_a_line_that_closes_never_begins_a_chunk(info: str) -> None:
    condition = "if (\n  a.first ||\n  a.second\n) {\n  call(a, b, c);\n  more(a, b, c);\n}\n"
    chunks = Chunker(max_tokens=64, overlap=0).chunk(f"```{info}\n{condition * 12}```\n")
    assert {chunk.text.split("\n")[0] for chunk in chunks[1:]} == {"if ("}


def test_openers_that_do_not_fit_are_left_out() -> None:
    text = f"```console\n$ {'run ' * 300}\n" + "output of a line\n" * 90 + "```\n"
    chunks = check_promises(text, Chunker(max_tokens=64, overlap=0).config)
    assert chunks[-1].embed_text.startswith("```console\noutput")


@pytest.mark.slow
def test_the_memory_for_a_staircase_is_in_proportion_to_its_text() -> None:
    def peak(depths: int) -> float:
        text = "```text\n" + "".join(f"{' ' * depth}a:\n" for depth in range(depths)) + "```\n"
        tracemalloc.start()
        Chunker(max_tokens=64, overlap=0).chunk(text)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most / len(text)

    assert peak(2_000) <= 1.5 * peak(1_000)
