"""What ``embed_text`` puts around a chunk: heading paths, titles and frames, and what they cost.

A token is a letter "w".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chunkast import Chunker
from chunkast.core.divide import Frame
from chunkast.core.embed import Context
from chunkast.model import Heading
from tests.units import config, tokens


def heading(start: int, level: int, *path: str) -> Heading:
    return Heading(start, start + 5, level, path[-1], path)


# Sections that begin at 10, 20 and 40; titles of 1, 2 and 3 tokens.
HEADINGS = (
    heading(10, 2, "Aw"),
    heading(20, 3, "Aw", "Bww"),
    heading(40, 1, "Cwww"),
)


def context(
    budget: int = 99,
    *,
    headings: tuple[Heading, ...] = HEADINGS,
    frames: tuple[Frame, ...] = (),
    front_matter: str = "",
    path: tuple[str, ...] = (),
    shown: str = "headings",
    count: Callable[[str], int] = tokens,
    text: str = "w" * 99,
    adds_up: Callable[[int], bool] = lambda _: False,
    **options: Any,
) -> Context:
    return Context(
        config(budget, context=shown, **options),
        headings,
        frames,
        front_matter,
        path=path,
        count=count,
        count_after=lambda before, start, end: count(before + text[: end - start]),
        adds_up=adds_up,
    )


def put_before(context: Context, pos: int, text: str = "x") -> str:
    return context.around(text, tokens(text), pos, pos, 1_000)[0]


def test_the_path_in_force_at_a_position() -> None:
    found = context(path=("Root",))
    paths = {pos: found.path(pos) for pos in (0, 9, 10, 19, 20, 39, 40, 99)}
    assert paths == {
        0: ("Root",),
        9: ("Root",),
        10: ("Aw",),
        19: ("Aw",),
        20: ("Aw", "Bww"),
        39: ("Aw", "Bww"),
        40: ("Cwww",),
        99: ("Cwww",),
    }
    assert [pos for pos in range(100) if found.is_heading(pos)] == [10, 20, 40]
    assert context(headings=()).path(5) == ()


def test_a_heading_that_a_chunk_begins_with_is_not_shown_twice() -> None:
    found = context()
    shown = {pos: put_before(found, pos) for pos in (5, 10, 15, 20, 21, 40, 41)}
    assert shown == {
        5: "",
        10: "",
        15: "Aw\n\n",
        20: "Aw\n\n",
        21: "Aw > Bww\n\n",
        40: "",
        41: "Cwww\n\n",
    }
    assert [found.tokens(pos) for pos in shown] == [0, 0, 1, 1, 3, 0, 3]
    # Before the first heading is the path that the document itself has.
    assert put_before(context(path=("Root",)), 5) == "Root\n\n"


def test_what_comes_after_a_definition_has_no_title_of_its_own() -> None:
    definitions = (heading(10, 1, "A"), Heading(20, 25, 1, "", ("A", "")))
    assert put_before(context(headings=definitions), 20) == "A\n\n"
    assert put_before(context(headings=definitions), 30) == "A\n\n"
    only = context(headings=(Heading(20, 25, 1, "", ("A", "")),), shown="title", path=("A",))
    assert put_before(only, 20) == "A\n\n"


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ({"front_matter": "author: me\ntitle: My  w \nx: y"}, "My  w"),
        ({"front_matter": 'title = "Quoted"'}, "Quoted"),
        ({"front_matter": "title\t: 'Single'"}, "Single"),
        ({"front_matter": "title: 'Xw\""}, "Xw"),
        ({"front_matter": "subtitle: No\n title: no\nTitle: no"}, "Cwww"),
        # The first heading of the first level, wherever it is.
        ({}, "Cwww"),
        ({"headings": (*HEADINGS, heading(60, 1, "Later"))}, "Cwww"),
        ({"headings": HEADINGS[:2]}, ""),
        ({"headings": HEADINGS[:2], "path": ("module", "class")}, "module"),
    ],
)
def test_the_title_of_a_document(options: dict[str, Any], title: str) -> None:
    found = context(shown="title", **options)
    wanted = title + "\n\n" if title else ""
    assert [put_before(found, pos) for pos in (5, 10, 25, 50)] == [wanted] * 4


def test_a_title_that_a_chunk_begins_with_is_not_shown_twice() -> None:
    found = context(shown="title")
    assert put_before(found, 40) == ""
    assert put_before(found, 41) == put_before(found, 39) == "Cwww\n\n"
    # Another heading does not stand in for it.
    assert put_before(found, 20) == "Cwww\n\n"


def test_none_shows_nothing() -> None:
    assert put_before(context(shown="none"), 25) == ""
    assert context(shown="none").tokens(25) == 0


def test_a_path_takes_half_of_the_budget_at_most_and_is_shortened_from_outside() -> None:
    # "Aw > Bww" has 3 tokens, "Bww" 2.
    for budget, shown in (
        (7, "Aw > Bww\n\n"),
        (6, "Aw > Bww\n\n"),
        (5, "Bww\n\n"),
        (4, "Bww\n\n"),
        (3, ""),
    ):
        assert put_before(context(budget), 25) == shown
        assert context(budget).tokens(25) == tokens(shown)


def test_a_path_is_shortened_until_the_chunk_fits() -> None:
    found = context(10)
    for size, shown in ((7, "Aw > Bww\n\n"), (8, "Bww\n\n"), (9, ""), (10, ""), (30, "")):
        assert found.around("w" * size, size, 25, 25, 99) == (shown, "", size + tokens(shown))


def test_a_long_path_is_not_counted_as_a_whole() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    titles = tuple(f"{number}{'w' * 50}" for number in range(20))
    found = context(100, headings=(heading(0, 1, *titles),), count=count)
    assert put_before(found, 5) == titles[-1] + "\n\n"
    # Each title, the last alone as it is shown, and with the text.
    assert max(map(len, counted)) < 60
    assert len(counted) <= 25


# A fence that is cut twice and more: 4 tokens before a piece, 2 after it.
FENCE = Frame(100, 200, "~~~wwww\n", "\n~ww")


def test_a_frame_is_put_around_what_is_inside_it() -> None:
    found = context(headings=(), frames=(FENCE,))
    before = {pos: found.tokens(pos) for pos in (99, 100, 101, 199, 200, 201)}
    assert before == {99: 0, 100: 0, 101: 4, 199: 4, 200: 0, 201: 0}
    assert [found.frame_tokens(pos) for pos in before] == [0, 0, 4, 4, 0, 0]
    # A token more than it has: its line end may join with the text before it.
    after = {pos: found.suffix_tokens(pos) for pos in (99, 100, 101, 199, 200, 201)}
    assert after == {99: 0, 100: 0, 101: 3, 199: 3, 200: 3, 201: 0}
    assert found.around("w", 1, 150, 150, 160) == ("~~~wwww\n", "\n~ww", 7)
    assert found.around("w", 1, 100, 100, 160) == ("", "\n~ww", 3)
    assert found.around("w", 1, 150, 150, 201) == ("~~~wwww\n", "", 5)
    # It belongs to where the text begins, overlap included; the path to its own part.
    found = context(headings=(heading(150, 1, "Aw"),), frames=(FENCE,))
    assert found.around("w", 1, 140, 151, 201) == ("Aw\n\n~~~wwww\n", "", 6)
    assert found.around("w", 1, 99, 151, 201) == ("Aw\n\n", "", 2)


def test_of_frames_in_any_order_the_last_before_a_position_counts() -> None:
    table = Frame(300, 400, "|ww|\n")
    found = context(headings=(), frames=(table, FENCE))
    assert [found.tokens(pos) for pos in (150, 250, 300, 350, 400)] == [4, 0, 0, 2, 0]
    assert [found.suffix_tokens(pos) for pos in (150, 350)] == [3, 0]


def test_a_frame_takes_half_of_the_budget_at_most() -> None:
    # 4 and 2 tokens, and one more: 7.
    assert context(14, headings=(), frames=(FENCE,)).tokens(150) == 4
    assert context(13, headings=(), frames=(FENCE,)).tokens(150) == 0
    # Without a suffix there is nothing more.
    table = Frame(100, 200, "|ww|\n")
    assert context(4, headings=(), frames=(table,)).tokens(150) == 2
    assert context(3, headings=(), frames=(table,)).tokens(150) == 0


def test_a_frame_has_less_before_a_piece_where_there_is_no_room_for_all() -> None:
    # 4 tokens with the header, 1 without, 1 after the piece, and one where that joins it.
    table = Frame(100, 200, "<table>wwww\n", "</w>", bare="<w>\n")
    # It takes at most half of the budget.
    assert [
        context(budget, headings=(), frames=(table,)).frame_tokens(150) for budget in (12, 11, 6, 5)
    ] == [4, 1, 1, 0]
    found = context(12, headings=(heading(0, 1, "Aw"),), frames=(table,))
    assert [found.around("w" * size, size, 150, 150, 160) for size in range(6, 12)] == [
        ("Aw\n\n<table>wwww\n", "</w>", 12),
        ("<table>wwww\n", "</w>", 12),
        ("<w>\n", "</w>", 10),
        ("<w>\n", "</w>", 11),
        ("<w>\n", "</w>", 12),
        ("", "", 11),
    ]


def test_a_path_yields_to_a_frame_and_both_to_the_text() -> None:
    found = context(20, headings=(heading(0, 1, "Aw", "Bww"),), frames=(FENCE,))

    def around(size: int) -> tuple[str, str, int]:
        return found.around("w" * size, size, 150, 150, 160)

    assert around(11) == ("Aw > Bww\n\n~~~wwww\n", "\n~ww", 20)
    assert around(12) == ("Bww\n\n~~~wwww\n", "\n~ww", 20)
    assert around(13) == ("~~~wwww\n", "\n~ww", 19)
    assert around(14) == ("~~~wwww\n", "\n~ww", 20)
    # What cannot be opened is not closed.
    assert around(15) == ("", "", 15)
    assert around(20) == ("", "", 20)
    assert around(40) == ("", "", 40)
    found = context(20, headings=(heading(0, 1, "Aw"),), frames=(FENCE,))
    assert found.around("w" * 19, 19, 99, 99, 160) == ("Aw\n\n", "", 20)


def test_what_adds_up_is_not_counted_again() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    found = context(count=count, adds_up=lambda pos: pos == 25)
    assert found.around("ww", 2, 25, 25, 99) == ("Aw > Bww\n\n", "", 5)
    assert found.around("ww", 2, 25, 25, 99) == ("Aw > Bww\n\n", "", 5)
    assert counted == ["Aw > Bww\n\n", "Bww\n\n"]
    # Elsewhere the whole text is; so is what has something put after it, or no line end before.
    assert found.around("ww", 2, 26, 26, 99) == ("Aw > Bww\n\n", "", 5)
    assert counted[2:] == ["Aw > Bww\n\nww"]
    counted.clear()
    framed = context(
        headings=(), frames=(FENCE, Frame(300, 400, "|ww|")), count=count, adds_up=lambda _: True
    )
    counted.clear()
    assert framed.around("ww", 2, 150, 150, 160)[2] == 8
    assert "~~~wwww\nww\n~ww" in counted
    assert framed.around("ww", 2, 350, 350, 500)[2] == 4
    assert "|ww|ww" in counted


def test_words_may_join_what_is_put_before_them() -> None:
    """The count is that of the whole, whichever way its parts count."""

    def words(text: str) -> int:
        return len(text.split())

    found = context(12, headings=(), frames=(Frame(100, 200, "| a b |", "c"),), count=words)
    assert found.around("d e", 2, 150, 150, 160) == ("| a b |", "c", 5)
    # Parts that are too much by a few tokens may fit together.
    text = "1 2 3 4 5 6 7 8 9"
    found = context(
        16, headings=(), frames=(Frame(100, 200, "a b c d e f g h"),), count=words, text=text
    )
    assert found.around(text, 9, 150, 150, 160) == ("a b c d e f g h", "", 16)


def test_what_is_too_much_by_far_is_not_counted() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    found = context(10, count=count)
    found.around("w" * 16, 16, 25, 25, 99)
    # 16 and 3 are more than 8 above the budget; 16 and 2 are not.
    assert "Aw > Bww\n\n" + "w" * 16 not in counted
    assert "Bww\n\n" + "w" * 16 in counted


def test_a_title_and_what_is_shown_of_a_path_are_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return tokens(text)

    found = context(count=count)
    for _ in range(3):
        assert [found.tokens(pos) for pos in (25, 30, 15, 45)] == [3, 3, 1, 3]
    assert len(counted) == len({*counted})


def test_the_title_in_front_matter_is_the_root_of_every_path() -> None:
    found = context(front_matter="title: Tw")
    shown = {pos: put_before(found, pos) for pos in (5, 10, 15, 20, 21, 41)}
    assert shown == {
        5: "Tw\n\n",
        10: "Tw\n\n",
        15: "Tw > Aw\n\n",
        20: "Tw > Aw\n\n",
        21: "Tw > Aw > Bww\n\n",
        41: "Tw > Cwww\n\n",
    }
    assert [found.tokens(pos) for pos in shown] == [1, 1, 2, 2, 4, 4]
    # It is not shown beside a heading of the same name, nor where nothing is.
    same = context(front_matter="title: Aw")
    assert {pos: put_before(same, pos) for pos in (10, 15, 21, 41)} == {
        10: "",
        15: "Aw\n\n",
        21: "Aw > Bww\n\n",
        41: "Aw > Cwww\n\n",
    }
    assert put_before(context(front_matter="title: Tw", shown="none"), 25) == ""


def test_values_of_front_matter_come_before_the_path_and_are_left_out_first() -> None:
    found = context(front_matter="by: Mew\non: Friday\nof: X", front_matter_keys=("on", "no", "by"))
    values = "on: Friday\nby: Mew\n"
    assert put_before(found, 25) == values + "Aw > Bww\n\n"
    assert put_before(found, 5) == values + "\n"
    assert found.tokens(25) == 4
    shown = [found.around("w" * size, size, 25, 25, 999)[0] for size in (95, 96)]
    assert shown == [values + "Aw > Bww\n\n", "Aw > Bww\n\n"]
    # What stands there is put there as it is.
    assert put_before(context(headings=(heading(0, 1, "Plan X"),)), 5) == "Plan X\n\n"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Tw", ["Tw > Aw > Bww\n\n", "Tw > Bww\n\n", "Tw\n\n", "Tw\n\n", ""]),
        ("Aw", ["Aw > Bww\n\n", "Aw > Bww\n\n", "Aw\n\n", "Aw\n\n", ""]),
        # Only where it is the root.
        ("Bww", ["Aw > Bww\n\n", "Aw > Bww\n\n", "Bww\n\n", "", ""]),
    ],
)
def test_where_a_path_is_shortened_the_title_goes_last(title: str, shown: list[str]) -> None:
    found = context(front_matter=f"title: {title}")
    sizes = range(95, 100)
    assert [found.around("w" * size, size, 25, 25, 999)[0] for size in sizes] == shown


def test_a_title_that_takes_more_than_half_of_the_budget_leaves_its_room_to_the_headings() -> None:
    # 4 tokens, of which half of 8 are none too many.
    assert put_before(context(8, front_matter="title: Twwww"), 25) == "Twwww\n\n"
    assert put_before(context(7, front_matter="title: Twwww"), 25) == "Aw > Bww\n\n"
    only = context(7, front_matter="title: Twwww", shown="title")
    assert put_before(only, 25) == ""


def test_a_documents_headings_are_those_of_the_document_alone() -> None:
    chunker = Chunker(max_tokens=40, overlap=0, min_tokens=0)
    *_, chunk = chunker.chunk("---\ntitle: Tides\n---\n# High\n\nOne.\n\n# Low\n\n## Ebb\n\nTwo.\n")
    assert chunk.embed_text == "Tides\n\n" + chunk.text
    assert chunk.headings == ("Low",)
