"""What a chunk says of the blocks that are open where it begins."""

from __future__ import annotations

from typing import Final

import pytest

from chunkast import Chunk, Chunker, count_tokens
from tests.tables import cases

_LONG: Final = "This sentence is here so that the block does not fit. " * 4


def last_context(text: str, **options: object) -> str:
    """The context of the last chunk."""
    return chunks(text, **options)[-1].context


def chunks(text: str, **options: object) -> list[Chunk]:
    config = {"max_tokens": 40, "overlap": 0} | options
    return Chunker(**config).chunk(text)  # type: ignore[arg-type]


@cases("openers", "openers")
def test_openers(text: str, context: str) -> None:
    text = text.replace("{long}", _LONG)
    assert last_context(text).strip("\n") == context
    windows = last_context(text.replace("\n", "\r\n"))
    assert windows.strip("\n") == context


def test_openers_are_counted_and_stay_within_half_the_budget() -> None:
    title = "word " * 60
    text = f"# A title\n\nDo all of these:\n\n- {title}\n\n  > {title}. Then. {_LONG}\n"
    for budget in (8, 16, 24, 40, 64, 128):
        for chunk in Chunker(max_tokens=budget, overlap=0.2).chunk(text):
            assert chunk.embed_token_count == count_tokens(chunk.embed_text) <= budget
            assert count_tokens(chunk.context) <= budget // 2
            assert chunk.embed_text == chunk.context + chunk.text


DEFINITION: Final = f"Term\n\n: One. {_LONG}\n\n    {_LONG}\n"


def test_a_definition_names_its_terms() -> None:
    extensions = ("deflists",)
    assert last_context(DEFINITION, extensions=extensions).strip() == "Term"


@pytest.mark.parametrize(
    ("line", "opener"),
    [
        ("- " + "word " * 60, "- " + " ".join(["word"] * 31)),
        ("- " + "word " * 20 + "end. " + "word " * 40, "- " + "word " * 20 + "end."),
        ("- " + "Wort," * 60, "- " + "Wort," * 10),
        (
            "- 火曜日と木曜日は、旧システムと新システムの両方に入力する。" * 4,
            "- 火曜日と木曜日は",
        ),
    ],
)
def test_openers_are_shortened_at_a_sentence_or_word(line: str, opener: str) -> None:
    text = f"{line}\n  - {_LONG}\n  - {_LONG}\n"
    context = last_context(text, max_tokens=128).strip("\n")
    assert context.startswith(opener)
    assert line.startswith(context)
    assert count_tokens(context) <= 32


def test_a_part_that_begins_with_a_turn_has_no_label() -> None:
    text = f"**Ann:** {_LONG}\n**Ben:** {_LONG}\n"
    contexts = [chunk.context.strip() for chunk in chunks(text)]
    begins = [chunk.text.startswith("**") for chunk in chunks(text)]
    assert contexts == ["", "**Ann:**", "", "**Ben:**"]
    assert begins == [True, False, True, False]


def test_an_overlap_gives_way_to_its_openers() -> None:
    """The text after a warning needs no opener, but a tail of the warning does."""
    warning = "> [!WARNING]\n> Never do this, please. Short one here. A tail here.\n"
    text = f"{warning}\n{'Other words stand here. ' * 5}\n"
    starts = set()
    for budget in range(30, 60):
        for chunk in Chunker(max_tokens=budget, overlap=0.4).chunk(text):
            assert chunk.embed_token_count <= budget
            if 0 < chunk.start_index < len(warning):
                starts.add(chunk.start_index)
                assert chunk.context == "[!WARNING]\nNever do this, please.\n\n"
    assert starts


def test_the_innermost_heading_goes_last() -> None:
    text = f"# A\n\n## B\n\nDo all of these:\n\n- Long item\n  - Inner item\n    - x\n    - {_LONG * 3}\n"
    said = {chunks(text, max_tokens=budget)[-2].context.strip() for budget in range(2, 56)}
    openers = ["Do all of these:", "- Long item", "- Inner item"]
    rest = ["\n".join(openers[number:]) for number in range(3)]
    assert said == {*(f"A > B\n{each}" for each in rest), f"B\n{rest[-1]}", "B", ""}


def test_an_opener_above_half_the_budget_alone_goes_first() -> None:
    text = (
        f"# A\n\nDo these:\n\n- {'Long words ' * 8}\n  - Inner item\n    - x\n    - {_LONG * 3}\n"
    )
    said = {chunks(text, max_tokens=budget)[-2].context.strip() for budget in (24, 28, 32)}
    assert said == {"A\nDo these:\n- Inner item"}


def test_context_chooses_what_is_said() -> None:
    text = f"# A\n\n> [!NOTE]\n> Wait. {_LONG}\n"
    assert last_context(text, context="headings") == "A\n[!NOTE]\nWait.\n\n"
    assert last_context(text, context="title") == "A\n\n"
    assert last_context(text, context="none") == ""


def test_the_context_is_what_stands_before_the_text() -> None:
    code = "\n".join(f"call({number})" for number in range(40))
    for chunk in chunks(f"# A\n\n```python\n{code}\n```\n", max_tokens=60)[1:-1]:
        assert chunk.context == "A\n\n```python\n"
        assert chunk.embed_text == f"{chunk.context}{chunk.text}\n```"


def test_the_context_of_a_chunk_with_replaced_text() -> None:
    data = "data:image/png;base64," + "Qk0x9Z" * 60
    text = f"# A\n\n![Photo]({data})\n\nText.\n\n<!-- page: 2 -->\n\nMore text.\n"
    for extra in ({}, {"page_markers": r"(?P<begins><!-- page: \d+ -->)"}):
        for chunk in chunks(text, max_tokens=24, opaque="keep", **extra):
            assert chunk.context == ("" if chunk.text.startswith("#") else "A\n\n")
