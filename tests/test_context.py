"""What ``embed_text`` puts before a chunk: heading paths, titles and values of front matter.

A token is a letter "w".
"""

from __future__ import annotations

from typing import Any

import pytest

from chunkast import Chunker
from tests.checks import check_promises
from tests.units import config


def prose(size: int) -> str:
    return f"X{' '.join('w' * size)} end.\n\n"


def put_before(text: str, budget: int, **options: Any) -> list[str]:
    """What is embedded before each chunk."""
    given = {"context": "headings", "front_matter_text": "drop", **options}
    chunks = check_promises(text, config(budget, **given))
    return [chunk.embed_text.removesuffix(chunk.text) for chunk in chunks]


def matter(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", ""])


TW = matter("title: Tw")
SECTIONS = f"{prose(2)}# Aw\n\n{prose(2)}## Bww\n\n{prose(2)}# Tw\n\n{prose(2)}"
# One chunk begins with the headings, and another is under them.
UNDER = "# Aw\n\n## Bww\n\n"
VALUES = matter("by: Mew", "on: Friday", "of: X")
KEYS = {"front_matter_keys": ("on", "no", "by")}
SHOWN = "on: Friday\nby: Mew\n"

# A document, the budget, options, what comes before each chunk.
CASES: dict[str, tuple[str, int, dict[str, Any], list[str]]] = {
    "the path in force, without a heading that the chunk begins with": (
        SECTIONS, 99, {"min_tokens": 0}, ["", "", "Aw\n\n", ""],
    ),
    "with the title in front matter as its root, unless the heading is the same": (
        TW + SECTIONS, 99, {"min_tokens": 0}, ["Tw\n\n", "Tw\n\n", "Tw > Aw\n\n", ""],
    ),
    "nothing": (TW + SECTIONS, 99, {"min_tokens": 0, "context": "none"}, [""] * 4),
    "the title alone": (TW + UNDER + prose(9) + prose(9), 14, {"context": "title"}, ["Tw\n\n"] * 2),
    "of values none if there is none": (VALUES + UNDER + prose(9), 14, {}, [""]),
    "values before the path": (
        VALUES + UNDER + prose(9) + prose(10), 14, KEYS, [f"{SHOWN}\n", f"{SHOWN}Aw > Bww\n\n"],
    ),
    "they are the first to be left out": (
        VALUES + UNDER + prose(9) + prose(11), 14, KEYS, [f"{SHOWN}\n", "Aw > Bww\n\n"],
    ),
    "a title that takes at most half the budget": (
        matter("title: Twwww") + prose(8) + prose(4), 8, {}, ["", "Twwww\n\n"],
    ),
    "a title and a first heading that are the same but for case and marks are one": (
        matter('title: "**Aw, w**"') + "# AW: w!\n\n" + prose(2) + "## Bww\n\n" + prose(2),
        99, {"min_tokens": 0}, ["", "AW: w!\n\n"],
    ),
    "also if only the title is embedded": (
        matter("title: aw") + "# Aw\n\n" + prose(9) + prose(9), 14, {"context": "title"},
        ["", "aw\n\n"],
    ),
    "titles of other words are two": (
        matter("title: Aw w") + UNDER + prose(9) + prose(9), 14, {}, ["Aw w\n\n", "Aw w > Aw > Bww\n\n"],
    ),
    "a larger one leaves its room to the headings": (
        matter("title: Twwww") + UNDER + prose(4) + prose(4), 7, {}, ["", "Aw > Bww\n\n"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "budget", "options", "wanted"), CASES.values(), ids=CASES)
def test_what_comes_before_a_chunk(
    text: str, budget: int, options: dict[str, Any], wanted: list[str]
) -> None:
    assert put_before(text, budget, **options) == wanted


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('+++\ntitle = "Quoted"\n+++\n', "Quoted"),
        # Else the first heading of the first level, wherever it is.
        ("---\nsubtitle: No\n title: no\nTitle: no\n---\n", "Cw"),
        (f"{prose(5)}## B\n\n", "Cw"),
    ],
)
def test_the_title_of_a_document(text: str, title: str) -> None:
    found = put_before(f"{text}# Cw\n\n{prose(5)}{prose(5)}", 7, context="title")
    assert found[-1] == f"{title}\n\n"


@pytest.mark.parametrize(
    ("front", "size", "path"),
    [
        ("", 11, "Aw > Bww\n\n"),
        ("", 12, "Bww\n\n"),
        ("", 13, ""),
        (TW, 10, "Tw > Aw > Bww\n\n"),
        (TW, 11, "Tw > Bww\n\n"),
        (TW, 12, "Bww\n\n"),
        (TW, 13, ""),
    ],
)
def test_a_path_is_shortened_from_outside_the_innermost_heading_last(
    front: str, size: int, path: str
) -> None:
    assert put_before(front + UNDER + prose(9) + prose(size), 14)[1] == path


@pytest.mark.parametrize(("budget", "path"), [(6, "Aw > Bww\n\n"), (4, "Bww\n\n"), (3, "")])
def test_a_path_takes_half_of_the_budget_at_most(budget: int, path: str) -> None:
    assert put_before(UNDER + prose(1) * 12, budget)[1] == path


@pytest.mark.parametrize(
    ("size", "before"),
    [
        (15, "Aw > Bww\n\n~~~ww\n"),
        (16, "Bww\n\n~~~ww\n"),
        (18, "~~~ww\n"),
        (19, ""),
    ],
)
def test_a_path_yields_to_a_frame_and_both_to_the_code(size: int, before: str) -> None:
    lines = [" ".join("w" * number) for number in (14, size, 14)]
    text = UNDER + "~~~ww\n" + "\n\n".join(lines) + "\n~~~\n"
    _, chunk, _ = check_promises(text, config(20, context="headings"))
    assert chunk.embed_text == before + lines[1] + ("\n~~~" if before else "")


@pytest.mark.parametrize(("budget", "before"), [(5, "Aw\n\n"), (6, "Aw\n\n~~~ww\n")])
def test_a_frame_takes_half_of_the_budget_at_most(budget: int, before: str) -> None:
    found = put_before("# Aw\n\n~~~ww\n" + "v w\n" * 30 + "~~~\n", budget)
    assert found[-1] == before


def test_overlap_leaves_the_room_of_the_heading_path() -> None:
    """A path is worth more than repeated text: what would push it out is not repeated."""
    text = f"# w\n\n{'w ' * 9}\n\nw w\n\n{'w ' * 10}\n"
    _, second = Chunker(config(12, overlap=3, context="headings")).chunk(text)
    assert (second.overlap, second.token_count, second.embed_token_count) == (0, 10, 11)
    assert second.embed_text == "w\n\n" + second.text
    # With a token more there is room for both.
    _, second = Chunker(config(13, overlap=3, context="headings")).chunk(text)
    assert second.token_count == 12
    assert second.embed_text == "w\n\n" + second.text


@pytest.mark.parametrize("context", ["headings", "title"])
@pytest.mark.parametrize("text", ["# A\n\ntext\n", "A\n=\n\ntext\n", "\n\n# A\n\ntext\n"])
def test_a_byte_order_mark_does_not_repeat_the_first_heading(text: str, context: Any) -> None:
    (chunk,) = Chunker(context=context).chunk("\ufeff" + text)
    assert chunk.embed_text == chunk.text
