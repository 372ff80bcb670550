"""What holds for tool calls in every text, and what the reference cases leave open.

Parts are equal when they are so after neighbouring texts are joined: where a text is cut
decides how much of it comes out at once, never what is a call. A call that could not be
parsed is a text, too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from chunkast import ChunkastError, ConfigError
from chunkast.heuristics import Heuristic, Patch, Pipeline
from chunkast.toolcalls import (
    MAX_CALL_SIZE,
    Part,
    Text,
    Tool,
    ToolCall,
    ToolCallStream,
    ToolHeuristic,
    coerce,
    parse_tool_calls,
)
from chunkast.toolcalls.values import MAX_DEPTH
from tests.strategies import nasty_text

CASES: Final[dict[str, Any]] = json.loads(Path("fixtures/tool_values.json").read_text("utf-8"))
STRING: Final = {"type": "string"}
NUMBER: Final = {"type": "number"}
TOOLS: Final = (
    Tool("a"),
    Tool("ab", {"type": "object", "properties": {"s": STRING, "n": NUMBER}}),
    Tool(
        "plan",
        {
            "type": "object",
            "properties": {
                "command": {"type": "array", "items": STRING},
                "s": STRING,
                "steps": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"s": STRING, "n": NUMBER}},
                },
                "pair": {"type": "array", "prefixItems": [NUMBER, {"type": "boolean"}]},
                "o": {"type": "object", "properties": {"s": STRING, "l": {"items": NUMBER}}},
            },
        },
    ),
)
NAMES: Final = tuple(tool.name for tool in TOOLS)

# Texts

TAGS = [
    form.format(name)
    for name in (*NAMES, "s", "n", "steps", "o", "item", "0", "1", "command", "other")
    for form in ("<{}>", "</{}>", "</ {}>", "</{}\n >", "<{}/>", '<{} x=">">', "<{}", "</{}")
]
VALUES = [
    *("1", "-2.5e3", "true", "[1, '2']", '{"s": "1", "n": "2"}', "1,2", "1\n2", "a < b"),
    *("&lt;s>", "&amp;lt;", "&", "<", "</", ">", '"', "'", " ", "\n", "\0", "\ud800", "é"),
    *("<!-- c -->", "<!--", "<![CDATA[<s>]]>", "]]>", "<?x?>", "<!D", "1e999", "[NaN]", "9" * 30),
    *("<status>x</status><step>", "{'a': [", "[[[[", "\ufeff", "\x85", "\u3000"),
]


def element(children: SearchStrategy[str]) -> SearchStrategy[str]:
    names = st.sampled_from([*NAMES, "s", "n", "steps", "o", "item", "0", "command", "other"])
    closers = st.sampled_from(["</{}>", "</{}>", "</{}>", "</ {}>", "</{} >", "", "</s>"])
    return st.builds(
        lambda name, inside, closer: f"<{name}>{inside}{closer.format(name)}",
        names,
        children,
        closers,
    )


def texts() -> SearchStrategy[str]:
    """Text, calls, broken calls and nested ones, one after the other."""
    leaf = st.sampled_from(VALUES) | st.sampled_from(TAGS) | nasty_text() | st.just("")
    nested = st.recursive(
        leaf, lambda inner: st.lists(element(inner) | inner, max_size=4).map("".join), max_leaves=12
    )
    return st.lists(nested, max_size=6).map("".join)


def fragments(data: st.DataObject, text: str) -> list[str]:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=12).map(sorted), "cuts")
    edges = [0, *cuts, len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def raw(part: Part) -> str:
    return part.text if isinstance(part, Text) else part.raw


def joined(parts: Sequence[Part]) -> list[Part]:
    """Parts with neighbouring texts joined."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Text) and isinstance(last, Text):
            found[-1] = Text(last.text + part.text, last.start_index, part.end_index)
        else:
            found.append(part)
    return found


def streamed(pieces: Sequence[str], **options: Any) -> list[Part]:
    stream = ToolCallStream(TOOLS, **options)
    return [part for piece in pieces for part in stream.feed(piece)] + stream.close()


def check_tiling(text: str, parts: Sequence[Part]) -> None:
    assert "".join(map(raw, parts)) == text
    position = 0
    for part in parts:
        assert part.start_index == position < part.end_index
        assert raw(part) == text[part.start_index : part.end_index]
        position = part.end_index
    assert position == len(text)


SIZES = st.sampled_from([None, MAX_CALL_SIZE, 1, 9, 20, 40])


@given(texts(), SIZES, st.data())
def test_every_text(text: str, size: int | None, data: st.DataObject) -> None:
    problems: list[tuple[str, Any]] = []
    parts = parse_tool_calls(
        text, TOOLS, max_call_size=size, on_error=lambda *given_: problems.append(given_)
    )
    check_tiling(text, parts)
    for part in parts:
        if isinstance(part, ToolCall):
            copy = json.loads(json.dumps(part.arguments, allow_nan=False))
            assert copy == part.arguments
            assert part.name in NAMES
            assert re.match(rf"<{part.name}/?>", part.raw)
    # Texts are neighbours only where one of them is a call that failed.
    failed = {data_["start_index"] for _, data_ in problems}
    for before, after in pairwise(parts):
        if isinstance(before, Text) and isinstance(after, Text):
            assert {before.start_index, after.start_index} & failed
    for pieces in (fragments(data, text), list(text)):
        pieces_problems: list[tuple[str, Any]] = []
        found = streamed(
            pieces,
            max_call_size=size,
            on_error=lambda *given_, seen=pieces_problems: seen.append(given_),
        )
        check_tiling(text, found)
        assert joined(found) == joined(parts)
        assert [message for message, _ in pieces_problems] == [message for message, _ in problems]


# Where calls are


def calls_by_definition(text: str, size: int | None) -> list[tuple[int, int]]:
    """The calls' spans, each looked for anew from its opener: slow, and easy to believe."""
    spans, position = [], 0
    while position < len(text):
        end = end_of_call(text, position)
        if end is None or (size is not None and end - position > size):
            position += 1
        else:
            spans.append((position, end))
            position = end
    return spans


def end_of_call(text: str, start: int) -> int | None:
    opener = re.compile(r"<(a|ab)(/?)>").match(text, start)
    if opener is None or opener[2]:
        return opener and opener.end()
    depth = 0
    for tag in re.compile(rf"<{opener[1]}>|</\s*{opener[1]}\s*>").finditer(text, start):
        depth += -1 if tag[0].startswith("</") else 1
        if not depth:
            return tag.end()
    return None


TAG_TEXTS = st.lists(
    st.sampled_from(
        ["<a>", "</a>", "<ab>", "</ab>", "</ ab >", "<a/>", "x", "<", "<a", "</", " ", "/>", "\n"]
    ),
    max_size=24,
).map("".join)


@given(TAG_TEXTS, st.sampled_from([None, 1, 8, 12, 20, 30]), st.data())
@example("<a><b></a><ab><a></ab></a>", None, None)
@example("<a> <ab></ab> <ab>", 12, None)
def test_calls_are_where_the_definition_says(
    text: str, size: int | None, data: st.DataObject | None
) -> None:
    expected = calls_by_definition(text, size)
    for pieces in ([text], list(text), fragments(data, text) if data else [text]):
        found: list[tuple[int, int]] = []

        def on_error(_message: str, failed: Any, found: list[tuple[int, int]] = found) -> None:
            found.append((failed["start_index"], failed["end_index"]))

        stream = ToolCallStream(TOOLS[:2], max_call_size=size, on_error=on_error)
        parts = [part for piece in pieces for part in stream.feed(piece)] + stream.close()
        calls = [part for part in parts if isinstance(part, ToolCall)]
        found += [(part.start_index, part.end_index) for part in calls]
        assert sorted(found) == expected
        assert "".join(map(raw, parts)) == text


@given(TAG_TEXTS, st.integers(1, 30))
def test_text_comes_out_as_early_as_it_can(text: str, size: int) -> None:
    """All but a partial opening tag, or what an open call holds; no more than its bound."""
    stream = ToolCallStream([Tool("a"), Tool("ab")], max_call_size=size)
    out = 0
    for count in range(1, len(text) + 1):
        out += sum(len(raw(part)) for part in stream.feed(text[count - 1]))
        held = text[out:count]
        opener = re.match(r"<(?:a|ab)>", held)
        partial = any(tag.startswith(held) for tag in ("<a>", "<ab>", "<a/>", "<ab/>"))
        assert not held or (partial if opener is None else len(held) < size)


# What goes wrong


def test_a_call_that_fails_is_told() -> None:
    told: list[tuple[str, Any]] = []
    tools = [Tool("note", {"type": "object", "properties": {"t": STRING}})]
    text = "x <note><t>1</t><t>2</t></note> y"
    parts = parse_tool_calls(text, tools, on_error=lambda *given_: told.append(given_))
    assert [raw(part) for part in parts] == ["x ", "<note><t>1</t><t>2</t></note>", " y"]
    [(message, data)] = told
    reason = "its body cannot be read: <t> at 8 comes twice; it must be one string"
    assert message == f"tool call 'note' at 2: it stays text, as {reason}"
    assert (data["tool_name"], data["tool_call"]) == ("note", raw(parts[1]))
    assert text[data["start_index"] : data["end_index"]] == raw(parts[1])
    assert isinstance(data["error"], ValueError)


def test_what_on_error_raises_passes_through_and_nothing_is_lost() -> None:
    def fail(_message: str, _data: object) -> None:
        raise KeyError("mine")

    stream = ToolCallStream([Tool("calc")], on_error=fail)
    with pytest.raises(KeyError, match="mine"):
        stream.feed("a <calc><x></calc> b <calc><x></calc> c")
    with pytest.raises(KeyError, match="mine"):
        stream.feed(" d")
    assert "".join(map(raw, stream.feed(" e"))) == "a <calc><x></calc> b <calc><x></calc> c d e"


DEEP: Any = reduce(lambda value, _: [value], range(100_000), list[Any]())


@pytest.mark.parametrize(
    "value",
    [{"x": math.nan}, {1: "x"}, {"x": {1, 2}}, {"x": DEEP}, {"x": 10**5000}, "x"],
    ids=lambda value: repr(type(value)),
)
def test_arguments_of_a_heuristic_have_to_be_json(value: Any) -> None:
    told: list[str] = []
    given_: list[ToolHeuristic] = [Heuristic("h", "post-parse", lambda _: Patch(value=value))]
    pipeline: Pipeline[Any, Any] = Pipeline.of(given_)
    for options in ({"heuristics": given_}, {"pipeline": pipeline}):
        [part] = parse_tool_calls(
            "<a></a>", TOOLS, on_error=lambda message, _: told.append(message), **options
        )
        assert part == Text("<a></a>", 0, 7)
    assert len(told) == 2
    assert "the arguments " in told[0]


def test_the_end_is_the_end() -> None:
    stream = ToolCallStream([])
    assert stream.feed("<") == [Text("<", 0, 1)]
    assert stream.close() == stream.close() == []
    with pytest.raises(ChunkastError, match=r"feed\(\) after close\(\)"):
        stream.feed("x")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Tool(""), "name=''"),
        (lambda: Tool("a b"), "name='a b'"),
        (lambda: Tool("a" * 257), "name="),
        (lambda: Tool("a", []), "json_schema"),  # type: ignore[arg-type]
        (lambda: parse_tool_calls("", [Tool("a"), Tool("a")]), "tools='a'"),
        (lambda: parse_tool_calls("", ["a"]), "tools='a'"),  # type: ignore[list-item]
        (lambda: parse_tool_calls("", [], max_reparses=-1), "max_reparses=-1"),
        (lambda: parse_tool_calls("", [], max_call_size=0), "max_call_size=0"),
        (lambda: parse_tool_calls("", [], pipeline=[]), "pipeline="),  # type: ignore[arg-type]
        (lambda: parse_tool_calls("", [], heuristics=["x"]), "heuristics="),  # type: ignore[list-item]
    ],
)
def test_what_is_not_allowed(build: Callable[[], object], says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        build()


# Functions that call the stream back

BROKEN: Final = "<a><x></a>"


def test_feeding_while_being_told_keeps_every_part_in_order() -> None:
    inside: list[Part] = []

    def more(_message: str, data: Any) -> None:
        if data["start_index"] < 20:
            inside.extend(stream.feed(f" again {BROKEN}<a>1</a>"))

    stream = ToolCallStream(TOOLS, on_error=more)
    text = f"one {BROKEN} two"
    parts = stream.feed(text)
    assert inside == []
    assert isinstance(parts[-1], ToolCall)
    parts += stream.close()
    check_tiling(f"{text} again {BROKEN}<a>1</a>", parts)


# Values

ARRAY: Final = {"type": "array", "items": NUMBER}


@pytest.mark.parametrize("case", CASES["coerced"], ids=lambda case: case["name"])
def test_coerce(case: dict[str, Any]) -> None:
    assert coerce(case["value"], case["schema"]) == case["expect"]


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("9" * 4300, NUMBER, int("9" * 4300)),
        ("9" * 4301, NUMBER, "9" * 4301),
        ("[" + "9" * 5000 + "]", ARRAY, ["9" * 5000]),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), {"type": "object"}, None),
    ],
    ids=["most digits", "too many digits", "too many digits in a list", "too deep"],
)
def test_coerce_at_its_limits(value: str, schema: Any, expected: Any) -> None:
    assert coerce(value, schema) == (value if expected is None else expected)


def arguments(body: str, schema: Any = None) -> Any:
    [part] = parse_tool_calls(f"<t>{body}</t>", [Tool("t", schema or {})])
    return part.arguments if isinstance(part, ToolCall) else None


@pytest.mark.parametrize("case", CASES["bodies"], ids=lambda case: case["name"])
def test_bodies(case: dict[str, Any]) -> None:
    assert arguments(case["body"], case["schema"]) == case["expect"]


@pytest.mark.parametrize(
    ("body", "is_call"),
    [
        ("<a>" * MAX_DEPTH + "1" + "</a>" * MAX_DEPTH, True),
        ("<a>" * (MAX_DEPTH + 1) + "1" + "</a>" * (MAX_DEPTH + 1), False),
        ("<a>" * 50_000, False),
    ],
    ids=["deepest", "too deep", "unclosed"],
)
def test_a_body_has_a_greatest_depth(body: str, is_call: bool) -> None:
    assert bool(arguments(body, {"type": "object", "properties": {}})) is is_call


@pytest.mark.parametrize("case", CASES["repeated"]["cases"], ids=lambda case: case["name"])
def test_a_string_beside_one_of_its_name_cancels_the_call(case: dict[str, Any]) -> None:
    assert arguments(case["body"], CASES["repeated"]["schema"]) == case["expect"]
