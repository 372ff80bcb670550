"""Lines that end no sentence stay with what follows, and turns are cut where they begin."""

from __future__ import annotations

from typing import Final

import pytest

from chunkast import Chunk, Chunker, count_tokens
from chunkast.text.sentences import ends_sentence, sentence_starts
from tests.tables import cases

PARAGRAPH: Final = "The yard is open again. " * 10
AFTER: Final = (
    "It has been out of use since Monday. The yard has called twice about the spare part."
)

LONG: Final = "It has been out of use since Monday. " * 7


def cut(text: str, tokens: int) -> list[Chunk]:
    return Chunker(max_tokens=tokens, overlap=0, context="none").chunk(text)


def stays(line: str, following: str) -> bool:
    """Whether no chunk ends with ``line``, at any budget for which it could."""
    ends = (
        chunk.text.rstrip().endswith(line.rstrip())
        for tokens in range(40, 90, 3)
        for chunk in cut(f"{PARAGRAPH}\n\n{line}\n\n{following}\n", tokens)[:-1]
    )
    return not any(ends)


@cases("lines", "continued")
@pytest.mark.parametrize(
    "following",
    [
        AFTER,
        "1.  He has paid.\n2.  He has signed.",
        "> He has paid. He has signed.",
        "```\npaid = True\n```",
        "| a | b |\n| - | - |\n| c | d |",
        "$$\nx = 1\n$$",
        "::: warning\nHe has paid. He has signed.\n:::",
    ],
)
def test_a_short_line_that_ends_no_sentence_never_ends_a_chunk(line: str, following: str) -> None:
    assert stays(line, following)


@cases("lines", "ends")
def test_other_lines_may_end_a_chunk(line: str, following: str) -> None:
    # The line fits beside the text before it, but not beside all of the text after it.
    after = f"{following}\n\n{LONG}".lstrip("\n")
    first, *_ = cut(f"The yard is open again. It opens at nine.\n\n{line}\n\n{after}", 64)
    assert first.text.endswith((line, following or line))


def test_of_several_lines_only_the_last_goes_on() -> None:
    poem = "The tide comes in\n\nThe tide goes out\n\nThe boats remain\n\nThe gulls about"
    [first, second] = cut(f"{poem}\n\n{AFTER}", 32)
    assert first.text.startswith("The tide comes in")
    assert "The gulls about\n\nIt has been" in second.text


def test_only_the_first_sentence_is_needed_beside_the_line() -> None:
    chunks = cut(f"{PARAGRAPH}\n\nMira Holt:\n\nIt is out of use. {PARAGRAPH}", 64)
    [turn] = [chunk for chunk in chunks if "Mira Holt:" in chunk.text]
    assert "It is out of use." in turn.text


def test_a_region_or_a_sentence_that_fits_is_not_cut_for_a_line() -> None:
    fence = "```\n" + "x = 1\n" * 14 + "```"
    chunks = cut(f"{PARAGRAPH}\n\nMira Holt:\n\n{fence}", count_tokens(fence) + 1)
    assert fence in [chunk.text for chunk in chunks]


@pytest.mark.parametrize(
    "block", ["```\n" + "x = 1\n" * 8 + "```", "- one\n- two", "| a | b |\n| - | - |\n| c | d |"]
)
def test_a_last_sentence_stays_with_what_it_introduces(block: str) -> None:
    chunks = cut(f"{PARAGRAPH}A simple example is this:\n\n{block}\n", 64)
    [led] = [chunk for chunk in chunks if "A simple example" in chunk.text]
    assert "A simple example is this:\n\n" + block[:5] in led.text


def test_turns_are_cut_where_they_begin() -> None:
    talk = [
        "[00:00:01] Mira: Good morning. Let us start with the crane. It is out of use.",
        "[00:00:14] Odo: The part is on the way. Dr. Berg said it ships soon. We can hire one.",
        "[00:00:27] Mira: What does it cost",
        "[00:00:29] Odo: About 900 a day. I would hire it for two days only. It is dear.",
        "[00:00:41] Pia: I agree. The insurance covers half of it if we report it today.",
    ]
    for tokens in range(45, 90, 5):
        for chunk in cut("\n".join(talk), tokens):
            assert chunk.text.startswith("[00:00:")


@cases("lines", "labels")
def test_lines_with_a_label_are_turns(label: str) -> None:
    turn = f"{label} I would hire it for two days only. It is very dear.\n"
    chunks = cut(turn * 6, 56)
    assert len(chunks) > 1
    assert all(chunk.text.startswith(label) for chunk in chunks)


def test_a_part_of_a_turn_says_whose_it_is() -> None:
    turns = "".join(
        f"[00:0{n}:10] {name}: {PARAGRAPH}\n" for n, name in enumerate(("Ana", "Odo", "Pia"))
    )
    for chunk in Chunker(max_tokens=40, overlap=0).chunk(turns):
        opener = turns.rindex("[", 0, chunk.start_index + 1)
        label = turns[opener : turns.index(":", opener + 11) + 1]
        assert chunk.embed_text.startswith(label)


def test_a_colon_in_prose_is_no_turn() -> None:
    prose = "The crane is old. It has one rule: never\nlift two boats. Berg: the part ships.\nIt ships: soon."
    plain = prose.replace(":", ",")
    for tokens in (8, 12, 16):
        spans = [
            [(c.start_index, c.end_index) for c in cut(text, tokens)] for text in (prose, plain)
        ]
        assert spans[0] == spans[1]


@cases("lines", "sentences")
def test_sentences_go_on(text: str, count: int) -> None:
    assert len([*sentence_starts(text)]) + 1 == count


@pytest.mark.parametrize(
    "text",
    [
        "It is.",
        "It is\u2026",
        "\u0915\u093f\u0924\u093e\u092c\u0964",
        "(It is.)",
        "\u0e17\u0e48\u0e32",
    ],
)
def test_ends_of_sentences(text: str) -> None:
    assert ends_sentence(text)
    assert not ends_sentence(f"{text} and")
