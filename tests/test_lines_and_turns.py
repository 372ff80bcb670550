"""Lines that end no sentence stay with what follows, and turns are cut where they begin."""

from __future__ import annotations

from typing import Final

import pytest

from chunkast import Chunk, Chunker, count_tokens
from chunkast.text.sentences import ends_sentence, sentence_starts

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


@pytest.mark.parametrize(
    "line",
    [
        "Mira Holt:",
        "Pia Lund: 00:01:02",
        "Pia Lund\u300000:01:02",
        "**Speaker 2** 00:21",
        "11.5.14.3 Access to the quay",
        "(2) Das Hafenamt gibt den Liegeplatz frei, wenn der Eigner",
        "He looked at the crane \u2013",
        "*Mira Holt:*",
        "Dear Mira,",
        "\u7b2c\u4e09\u7ae0 \u8d77\u91cd\u673a\u7684\u4f7f\u7528",
        "The tides (of spring)",
    ],
)
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


@pytest.mark.parametrize(
    ("line", "following"),
    [
        ("The crane is out of use.", LONG),
        ("Is it out of use?", LONG),
        ('He said: "No!"', LONG),
        ("Enjoy the tide! \N{WATER WAVE}", LONG),
        ("\u8d77\u91cd\u673a\u574f\u4e86\u3002", LONG),
        ("\u0e17\u0e48\u0e32\u0e40\u0e23\u0e37\u0e2d", LONG),
        ("See [the plan]", LONG),
        ("{{ crane }}", LONG),
        ("![The map](map.png)", LONG),
        ("[The map](map.html)", LONG),
        ("https://tide.example.com/map", LONG),
        (": a caption", LONG),
        ("Bread is ready ^bread", LONG),
        ("Bread is ready #baking", LONG),
        ("The crane lifts the boats in spring and in the autumn, " * 3 + "and lifts", LONG),
        ("The crane", "---"),
        ("The crane", "[crane]: crane.md"),
        ("- The crane", LONG),
        ("> The crane", LONG),
    ],
)
def test_other_lines_may_end_a_chunk(line: str, following: str) -> None:
    # The line fits beside the text before it, but not beside all of the text after it.
    after = following if following == LONG else f"{following}\n\n{LONG}"
    first, *_ = cut(f"The yard is open again. It opens at nine.\n\n{line}\n\n{after}", 64)
    assert first.text.endswith((line, following))


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


@pytest.mark.parametrize(
    "label",
    [
        "[12:01, 4/3/2026] Ana:",
        "12/03/2026, 12:01 - Ana:",
        "Ana Lund (00:21):",
        "Ana Lund 12:01 PM",
        "Ana Lund:",
        "00:00:29,500",
        "(00:21)",
        "\u5f20\u4e09\uff1a",
    ],
)
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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("By Eq. (3) it follows. It is short.", 2),
        ("See Figs. 2 and 3. Secs. 5 and 6 say more.", 2),
        ("It follows from Thm. 1 that it holds.", 1),
        (
            "\u5f7c\u306f\u300c\u3082\u3046\u9045\u3044\u3002\u300d\u3068\u8a00\u3063\u305f\u3002\u5f7c\u306f\u53bb\u3063\u305f\u3002",
            2,
        ),
        ("\u201c\u592a\u665a\u4e86\u3002\u201d\u5979\u8bf4\u3002\u4ed6\u8d70\u4e86\u3002", 2),
        (
            "\u300c\u592a\u665a\u4e86\u3002\u300d\u4ed6\u5c0f\u58f0\u8aaa\u3002\u4ed6\u8d70\u4e86\u3002",
            2,
        ),
        (
            "\u201c\u592a\u665a\u4e86\u3002\u201d\u8239\u7ec8\u4e8e\u5728\u65e9\u4e0a\u51fa\u53d1\u4e86\u3002",
            2,
        ),
    ],
)
def test_sentences_go_on(text: str, count: int) -> None:
    assert len(sentence_starts(text)) + 1 == count


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
