"""Problems beside calls: dropped content, unsuitable arguments, tags that are never closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunker
from chunkast.toolcalls import (
    Text,
    ToolCall,
    ToolCallStream,
    ToolProblem,
    parse_tool_calls,
    tools_from_json,
)

FIXTURE = json.loads(Path("fixtures/tool_problems.json").read_text("utf-8"))
[WEATHER] = tools_from_json(FIXTURE["tools"])


def problems_of(text: str) -> list[tuple[str, str, str]]:
    """The path, the reason and the text of each problem."""
    reported: list[ToolProblem] = []
    parts = parse_tool_calls(text, [WEATHER], on_problem=reported.append)
    listed = [problem for part in parts if isinstance(part, ToolCall) for problem in part.problems]
    assert [problem for problem in reported if problem in listed] == listed
    return [(found.path, found.what, text[slice(*found.where)]) for found in reported]


@pytest.mark.parametrize("case", FIXTURE["cases"], ids=lambda case: case["name"])
def test_problems_are_reported_with_their_places(case: dict[str, Any]) -> None:
    text = f"Before <weather>{case['body']}</weather>"
    call = text.removeprefix("Before ")
    assert problems_of(text) == [(path, what, at or call) for path, what, at in case["problems"]]


def test_arguments_stay_as_they_were_read() -> None:
    [call] = parse_tool_calls("<weather><days>two</days></weather>", [WEATHER])
    assert isinstance(call, ToolCall)
    assert call.arguments == {"days": "two"}
    assert [str(problem) for problem in call.problems] == [
        "tool call 'weather' at 0: city: is required and missing",
        "tool call 'weather' at 15: days: \"two\" is not of type integer",
    ]


def test_a_repaired_body_has_problems_at_the_call() -> None:
    text = "<weather><city>Oslo</ city> more</weather>"
    assert problems_of(text) == [("", "text dropped: 'more'", text)]
    text = "<weather><city>A</town><days>2</days></weather>"
    [(path, what, where)] = problems_of(text)
    assert (path, where) == ("", text)
    assert what.startswith("its body was repaired: <city> at 0 ")


def test_what_stays_text_is_reported() -> None:
    assert problems_of("Say <weather> and <weather><city>A</city></weather>") == [
        ("", "it stays text, as it is never closed", "<weather>")
    ]
    failing = "<weather><city>A</weather>"
    [(_, what, at)] = problems_of(failing)
    assert what.startswith("it stays text, as its body cannot be read: ")
    assert at == failing
    long: list[ToolProblem] = []
    parse_tool_calls(
        "<weather>" + "x" * 99 + "</weather>", [WEATHER], on_problem=long.append, max_call_size=50
    )
    assert [found.what for found in long] == ["it stays text, as it is longer than 50 characters"]


@given(
    st.lists(
        st.sampled_from(["<weather>", "</weather>", "<city>", "</city>", "A", " "]), max_size=9
    ),
    st.integers(1, 40),
)
def test_a_stream_reports_the_same(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    at_once: list[ToolProblem] = []
    parts = parse_tool_calls(text, [WEATHER], on_problem=at_once.append, max_call_size=size)
    one_by_one: list[ToolProblem] = []
    stream = ToolCallStream([WEATHER], on_problem=one_by_one.append, max_call_size=size)
    streamed = [part for character in text for part in stream.feed(character)] + stream.close()
    assert one_by_one == at_once
    assert [part for part in streamed if not isinstance(part, Text)] == [
        part for part in parts if not isinstance(part, Text)
    ]


def test_a_chunker_notes_problems() -> None:
    notes = Chunker(tools=[WEATHER]).analyze("<weather>\n<days>1</days>\n</weather>").notes
    assert notes == ("tool call 'weather' at 0: city: is required and missing",)
    assert Chunker(tools=[WEATHER]).analyze("A <weather> tag.").notes == (
        "tool call 'weather' at 2: it stays text, as it is never closed",
    )
