"""Tool calls in every protocol: the shapes in fixtures/tool_calls.json, and any text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import ConfigError
from chunkast.toolcalls import (
    PROTOCOLS,
    ArgumentsDelta,
    Event,
    Part,
    Protocol,
    Text,
    Tool,
    ToolCall,
    ToolCallFailed,
    ToolCallStart,
    ToolCallStream,
    ToolProblem,
    parse_tool_calls,
    protocol_table,
    tools_from_json,
)
from chunkast.toolcalls.finder import KINDS
from tests.tables import cases
from tests.test_toolcalls import check_tiling, joined

FIXTURE: Final = json.loads(Path("fixtures/tool_calls.json").read_text(encoding="utf-8"))
TOOLS: Final = tools_from_json(FIXTURE["tools"])
SHAPES: Final[list[dict[str, Any]]] = FIXTURE["shapes"]
WEATHER: Final = TOOLS[0]


def described(problem: ToolProblem) -> str:
    return f"{problem.path}: {problem.what}" if problem.path else problem.what


def plain(parts: list[Part]) -> list[Any]:
    return [
        part.text
        if isinstance(part, Text)
        else {"name": part.name, "arguments": part.arguments, "raw": part.raw}
        for part in joined(parts)
    ]


def by_character(text: str, **options: Any) -> list[Part]:
    stream = ToolCallStream(TOOLS, **options)
    return [part for character in text for part in stream.feed(character)] + stream.close()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s['protocol']}: {s['shape']}")
def test_shapes(shape: dict[str, Any]) -> None:
    problems: list[ToolProblem] = []
    options: Any = {"protocols": (shape["protocol"],), "on_problem": problems.append}
    parts = parse_tool_calls(shape["text"], TOOLS, **options)
    assert plain(parts) == shape["parts"]
    assert [described(problem) for problem in problems] == shape["problems"]
    assert plain(by_character(shape["text"], **options)) == shape["parts"]
    assert problems[len(problems) // 2 :] == problems[: len(problems) // 2]


ROWS: Final = [row for rows in PROTOCOLS.values() for row in rows]
MARKS: Final = {row: KINDS[row.kind].marks(row, "(?:weather|now)", ROWS) for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_part_of_a_mark_is_kept_back(row: Protocol) -> None:
    """A row with a longer mark fails here: the pattern of its cut marks has to match it."""
    marks = re.compile(MARKS[row], re.DOTALL)
    text = "\n".join(shape["text"] for shape in SHAPES)
    found = [mark for mark in marks.finditer(text) if mark.lastgroup != "cut"]
    assert found
    for mark in {mark[0]: mark for mark in found}.values():
        for end in range(mark.start() + 1, mark.end()):
            cut = marks.match(text, mark.start(), end)
            # A part that is a mark of its own is no part of a longer one, such as a bracket.
            assert cut, (mark, text[mark.start() : end])
            assert cut.lastgroup in ("cut", mark.lastgroup), (mark, text[mark.start() : end])


def test_a_mark_that_is_not_kept_back_is_found() -> None:
    row = replace(PROTOCOLS["qwen3-coder"][0], value_end=f"</parameter {'x' * 800}>")
    marks = re.compile(KINDS[row.kind].marks(row, "weather", ROWS), re.DOTALL)
    text = f"</parameter {'x' * 800}>"
    assert marks.match(text)
    assert not marks.match(text, 0, len(text) - 1)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s['protocol']}: {s['shape']}")
def test_auto_reads_each_call_once(shape: dict[str, Any]) -> None:
    parts = parse_tool_calls(shape["text"], TOOLS, protocols="auto")
    assert plain(parts) == shape["parts"]


def test_every_protocol_has_shapes() -> None:
    assert {shape["protocol"] for shape in SHAPES} == PROTOCOLS.keys()
    assert len(SHAPES) >= 175


def test_the_table_has_a_row_for_each_form() -> None:
    forms = [name for name, rows in PROTOCOLS.items() for _ in rows]
    assert [line.split("`")[1] for line in protocol_table().splitlines()[2:]] == forms


@pytest.mark.parametrize("protocols", ["yaml", (), ("xml", "yaml"), 1, [None]])
def test_unknown_protocols(protocols: Any) -> None:
    with pytest.raises(ConfigError, match="protocols="):
        parse_tool_calls("", TOOLS, protocols=protocols)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_that_is_not_chosen_is_reported_once(name: str) -> None:
    shape = next(shape for shape in SHAPES if shape["protocol"] == name)
    problems: list[ToolProblem] = []
    other = "glm" if name != "glm" else "xml"
    text = shape["text"] + "\n" + shape["text"]
    parts = parse_tool_calls(text, TOOLS, protocols=(other,), on_problem=problems.append)
    assert all(isinstance(part, Text) for part in parts)
    found = [problem.what for problem in problems if f"`{name}`" in problem.what]
    assert found == [f"it looks like a call in the protocol `{name}`, which is not chosen"]


def test_strict_calls_have_no_problems() -> None:
    text = '<tool_call>{"name": "weather", "arguments": {"days": "x"}}</tool_call><now/>'
    errors: list[str] = []
    parts = parse_tool_calls(
        text,
        TOOLS,
        protocols="auto",
        strict=True,
        on_error=lambda message, _: errors.append(message),
    )
    assert [type(part) for part in parts] == [Text, ToolCall]
    assert errors == ["tool call 'weather' at 0: it stays text, as it has problems"]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "json_repair", None)
    problems: list[ToolProblem] = []
    text = '<tool_call>{"name": "weather", "arguments": {"city": "Oslo",}}</tool_call>'
    [part] = parse_tool_calls(text, TOOLS, protocols="auto", on_problem=problems.append)
    assert isinstance(part, Text)
    assert problems[0].what.endswith("needs json-repair: pip install 'chunkast[toolcalls]'")


@pytest.mark.parametrize("strict", [False, True])
def test_a_missing_jsonschema_loses_no_call(monkeypatch: pytest.MonkeyPatch, strict: bool) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jsonschema", None)
    problems: list[ToolProblem] = []
    text = "<now/> <weather><days>two</days></weather> <weather/>"
    parts = parse_tool_calls(text, TOOLS, on_problem=problems.append, strict=strict)
    calls = [part for part in parts if isinstance(part, ToolCall)]
    assert [(call.arguments, call.problems) for call in calls] == [
        ({}, ()),
        ({"days": "two"}, ()),
        ({}, ()),
    ]
    needs = "needs jsonschema: pip install 'chunkast[toolcalls]'"
    assert [str(found) for found in problems] == [
        f"tool call 'weather' at 7: no arguments are checked: {needs}"
    ]


@cases("tool_calls", "checks")
def test_arguments_are_checked(schema: Any, arguments: Any, problems: list[str]) -> None:
    text = f"<n>{json.dumps(arguments)}</n>"
    [call] = parse_tool_calls(text, [Tool("n", schema)])
    assert isinstance(call, ToolCall)
    assert call.arguments == arguments
    assert [described(problem) for problem in call.problems] == problems


@pytest.mark.parametrize("schema", [{"$ref": "https://example.org/schema"}, {"pattern": "("}])
def test_a_schema_that_cannot_be_used_is_a_problem(schema: Any) -> None:
    [call] = parse_tool_calls("<n><x>text</x></n>", [Tool("n", {"properties": {"x": schema}})])
    assert isinstance(call, ToolCall)
    assert call.arguments == {"x": "text"}
    [problem] = call.problems
    assert problem.what.startswith("its schema cannot be used: ")


@cases("tool_calls", "ids")
def test_ids(text: str, ids: list[str | None]) -> None:
    for parts in (
        parse_tool_calls(text, TOOLS, protocols="auto"),
        by_character(text, protocols="auto"),
    ):
        calls = [part.to_dict() for part in parts if isinstance(part, ToolCall)]
        assert [call["id"] for call in calls] == ids
        fields = ["name", "arguments", "raw", "start_index", "end_index", "problems", "id"]
        assert [*json.loads(json.dumps(calls[0]))] == fields


# Deltas


def streamed_calls(
    text: str, pieces: Iterable[str], **options: Any
) -> tuple[list[Part], list[tuple[ToolCall, str]]]:
    """The parts of a stream with deltas, and each call with its deltas; checks the events."""
    stream = ToolCallStream(TOOLS, deltas=True, **options)
    found: list[Part | Event] = [part for piece in pieces for part in stream.feed(piece)]
    parts: list[Part] = []
    calls = []
    started: ToolCallStart | None = None
    deltas, end = "", 0
    for part in [*found, *stream.close()]:
        if isinstance(part, ToolCallStart):
            assert started is None
            started, deltas, end = part, "", part.start_index
        elif isinstance(part, ArgumentsDelta):
            assert started is not None
            assert part.text == text[part.start_index : part.end_index] != ""
            assert part.start_index == end or not deltas
            deltas, end = deltas + part.text, part.end_index
        elif isinstance(part, ToolCallFailed):
            assert started is not None
            assert (started.name, started.start_index) == (part.name, part.start_index)
            started = None
        elif isinstance(part, ToolCall):
            assert started is not None
            assert (started.name, started.start_index) == (part.name, part.start_index)
            assert end <= part.end_index
            # The pieces of a call that had to be repaired depend on how they came.
            calls.append((part, "" if part.problems else deltas))
            parts.append(part)
            started = None
        else:
            assert started is None
            parts.append(part)
    assert started is None
    return parts, calls


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s['protocol']}: {s['shape']}")
def test_deltas_are_the_text_of_the_arguments(shape: dict[str, Any]) -> None:
    text, options = shape["text"], {"protocols": (shape["protocol"],)}
    parts, calls = streamed_calls(text, text, **options)
    assert plain(parts) == shape["parts"]
    assert streamed_calls(text, [text], **options)[1] == calls
    row = PROTOCOLS[shape["protocol"]][0]
    for call, deltas in calls:
        if row.kind == "json" and row.name != "llama" and not call.problems:
            assert (json.loads(deltas) if deltas else {}) == call.arguments


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_arguments_arrive_before_the_call_is_complete(row: Protocol) -> None:
    value = "a long letter " * 50
    names = {"N": "write", "K": "text", "v": value}
    text = re.sub(r"\b[NKv]\b", lambda name: names[name[0]], row.form)
    stream = ToolCallStream(TOOLS, deltas=True, protocols=(row.name,))
    start, *deltas = [part for character in text[:600] for part in stream.feed(character)]
    assert isinstance(start, ToolCallStart)
    assert sum(len(d.text) for d in deltas if isinstance(d, ArgumentsDelta)) > 480


@pytest.mark.parametrize(
    ("members", "deltas"),
    [
        ('"args": {"city": "Oslo"}', ""),
        ('"meta": {"arguments": {"city": "Rome"}}, "arguments": {"city": "Oslo"}', "Oslo"),
        ('"id": [{}, {}, {}, {}], "arguments": {"city": "Oslo"}', "Oslo"),
    ],
)
def test_deltas_are_of_the_member_with_the_arguments(members: str, deltas: str) -> None:
    values = f'{{"name": "weather", {members}}}\n{{"name": "now", "arguments": {{}}}}'
    stream = ToolCallStream(TOOLS, deltas=True, protocols=("hermes",))
    parts = [part for c in f"<tool_call>{values}</tool_call>" for part in stream.feed(c)]
    parts += stream.close()
    calls = "".join(part.text for part in parts if isinstance(part, ArgumentsDelta))
    assert calls == (f'{{"city": "{deltas}"}}' if deltas else "") + "{}"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s['protocol']}: {s['shape']}")
def test_a_complete_call_is_kept_before_one_that_is_cut_off(shape: dict[str, Any]) -> None:
    text, calls = shape["text"], [part for part in shape["parts"] if isinstance(part, dict)]
    first = text.index(calls[0]["raw"]) + len(calls[0]["raw"]) if calls else len(text)
    for end in range(first, len(text)):
        parts = plain(parse_tool_calls(text[:end], TOOLS, protocols=(shape["protocol"],)))
        found = [part["arguments"] for part in parts if isinstance(part, dict)]
        # A list in Python that only lacks its last bracket is no list.
        assert found[:1] == [calls[0]["arguments"]] or text[:end].endswith(")")


@pytest.mark.parametrize("more", [0, 9, 90])
def test_a_call_ends_at_its_last_bracket(more: int) -> None:
    text = '{"name": "write", "arguments": {"text": "x < y"}}'
    stream = ToolCallStream(TOOLS, protocols=("json",))
    assert [type(part) for c in text for part in stream.feed(c)] == [ToolCall]
    size = len(text) + more
    parts = parse_tool_calls(text + " " * 99, TOOLS, protocols=("json",), max_call_size=size)
    assert [type(part) for part in parts] == [ToolCall, Text]


@pytest.mark.parametrize("more", ["", " <|python_tag|>"])
def test_a_sign_in_an_earlier_string_hides_no_closing_tag(more: str) -> None:
    text = '<tool_call>{"name": "now" "arguments": {"": "<tool_call>"o"}}</tool_call>'
    call = parse_tool_calls(f"{text} x{more}", TOOLS, protocols="auto")[0]
    assert isinstance(call, ToolCall)
    assert call.raw == text


@pytest.mark.parametrize(
    "text",
    [
        '<invoke name="now"><parameter name="a\0b">x</invoke>y</parameter></invoke>',
        f'<tool_call>{{"a": {{<{"p" * 40}:invoke name="now">}}}}</tool_call></invoke>',
    ],
)
def test_marks_that_arrive_in_pieces(text: str) -> None:
    parts = parse_tool_calls(text, TOOLS, protocols="auto")
    assert joined(by_character(text, protocols="auto")) == joined(parts)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("<function=weather>{<function=now></function>", 40),
        ("<tool_call>{<weather></tool_call>", 30),
    ],
)
def test_a_closing_tag_after_a_call_that_is_too_long(text: str, size: int) -> None:
    check_tiling(text, parse_tool_calls(text, TOOLS, protocols="auto", max_call_size=size))


# Any text


TOKENS: Final = (
    *("<tool_call>", "</tool_call>", '{"name": "weather"', ', "arguments": {', "{", "}", "[", "]"),
    *('"', "\\", '\\"', "<function=weather>", "<parameter=city>", "</parameter>", "</function>"),
    *('<invoke name="weather">', '<parameter name="city">', "</invoke>", "<function_calls>"),
    *("</function_calls>", "<weather>", "</weather>", "<city>", "</city>", "<now/>"),
    *("[TOOL_CALLS]", "[TOOL_CALLS] [", "weather[ARGS]{", "\n", "```", "\n```json\n", "\n```\n"),
    *("~~~", "<arg_key>city</arg_key>", "<arg_value>", "</arg_value>", "<![CDATA[", "]]>", "é"),
    *("<tool_call>weather", "weather", "'", ",", " ", "<", "</", "\ud800", "\0"),
    *("<|python_tag|>", ";", "[weather(", "city=", '"Oslo"', ")", "(", "<|python_end|>"),
    *("<function=weather>{", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"),
    *("<｜tool▁call▁end｜>", "<|tool_call_begin|>", "functions.weather:0", "<|tool_call_end|>"),
    *("<|tool_call_argument_begin|>", "<|start|>assistant", "<|channel|>commentary", "<|call|>"),
    *(" to=functions.weather", "<|message|>"),
)


@st.composite
def cut_shapes(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(SHAPES))["text"]
    start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    return str(text[start:end])


TEXTS: Final = st.lists(
    st.sampled_from(TOKENS) | st.sampled_from([s["text"] for s in SHAPES]) | cut_shapes(),
    max_size=12,
).map("".join)
CHOICES: Final = st.sampled_from(["auto", *((name,) for name in PROTOCOLS)])


@given(TEXTS, CHOICES, st.sampled_from([None, 1_000_000, 10, 40, 90]), st.booleans(), st.data())
def test_every_text(
    text: str, protocols: Any, size: int | None, strict: bool, data: st.DataObject
) -> None:
    problems: list[ToolProblem] = []
    options: dict[str, Any] = {"protocols": protocols, "max_call_size": size, "strict": strict}
    parts = parse_tool_calls(text, TOOLS, on_problem=problems.append, **options)
    check_tiling(text, parts)
    for part in parts:
        if isinstance(part, ToolCall):
            assert json.loads(json.dumps(part.arguments, allow_nan=False)) == part.arguments
            assert not strict or not part.problems
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=12).map(sorted), "cuts")
    edges = [0, *cuts, len(text)]
    for pieces in ([text[start:end] for start, end in pairwise(edges)], list(text)):
        reported: list[ToolProblem] = []
        stream = ToolCallStream(TOOLS, on_problem=reported.append, **options)
        found = [part for piece in pieces for part in stream.feed(piece)] + stream.close()
        check_tiling(text, found)
        assert joined(found) == joined(parts)
        assert reported == problems
        with_deltas, calls = streamed_calls(text, pieces, **options)
        assert joined(with_deltas) == joined(parts)
        assert calls == streamed_calls(text, [text], **options)[1]
