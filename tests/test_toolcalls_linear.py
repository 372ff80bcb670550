"""Finding and parsing tool calls takes time in proportion to the text, however it comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from chunkast.toolcalls import Tool, ToolCallStream, parse_tool_calls
from tests.hostile import Build, filled, growing, halves
from tests.test_linear import TIME_LIMIT, time_growth

pytestmark = pytest.mark.slow

Parse = Callable[[str], object]

NUMBERS: Final = {"type": "array", "items": {"type": "number"}}
STRING: Final = {"type": "string"}
STEPS: Final = {
    "type": "array",
    "items": {"type": "object", "properties": {"step": STRING, "status": STRING}},
}
TYPED: Final = {
    "object": {"type": "object", "properties": {"a": {"type": "number"}}},
    "numbers": NUMBERS,
    "lists": {"type": "array", "items": NUMBERS},
    "plan": STEPS,
    "number": {"type": "number"},
}
TOOLS: Final = (
    Tool("calc"),
    Tool("write", {"type": "object", "properties": {"path": STRING, "content": STRING}}),
    Tool("typed", {"type": "object", "properties": TYPED}),
    Tool("shell", {"type": "object", "properties": {"command": {"type": "array"}, "why": STRING}}),
)


def call(name: str, build: Build) -> Build:
    """A call of a tool whose body is the document."""
    return lambda n: f"<{name}>{build(n - 2 * len(name) - 5)}</{name}>"


def inside(path: str, build: Build) -> Build:
    """A call with one parameter whose text is the document: "tool parameter"."""
    name, parameter = path.split()
    return call(name, filled_once(f"<{parameter}>", build, f"</{parameter}>"))


def filled_once(head: str, build: Build, tail: str) -> Build:
    return lambda n: head + build(max(0, n - len(head) - len(tail))) + tail


HOSTILE: Final[dict[str, Build]] = {
    "closers": filled("</calc>"),
    "openers": filled("<calc>"),
    "openers-cut-short": filled("<calc"),
    "empty-tags-after-an-opener": filled("<calc/>", "<write>"),
    "calls": filled("<calc><a>1</a></calc>"),
    "calls-after-an-opener": filled("<calc><a>1</a></calc>", "<write>"),
    "calls-that-cross": filled("<calc><write></calc></write>"),
    "calls-that-fail": filled("<calc><a></calc>"),
    "nesting-of-one-name": halves("<calc>", "</calc>"),
    "opener-then-angles": filled("<", "<calc>"),
    "body-angles-and-letters": call("calc", filled("<a ")),
    "body-closers": call("calc", filled("</a>")),
    "body-nesting-unclosed": call("calc", halves("<a>", "</b>")),
    "body-children-unlike": call("calc", growing(lambda n: f"<a{n}>1</a{n}>")),
    "body-items": inside("typed numbers", filled("<item>1</item>")),
    "body-attributes": call("calc", filled_once("<a", filled(' b="c>"'), ">1</a>")),
    "body-quotes": call("calc", filled("<a b=\"'")),
    "body-comment-openers": call("calc", filled("<!--")),
    "body-entities": inside("write content", filled("&amp;lt;")),
    "string-openers": inside("write content", filled("<content>")),
    "string-nesting": call("write", halves("<content>", "</content>")),
    "strings-in-objects": call("typed", filled("<plan><item><step>a</step></item></plan>")),
    "shell-openers": call("shell", filled("<why>")),
    "steps-run-together": call("typed", filled("<step><status>x</status>", "<plan>", "</plan>")),
    "json-brackets": inside("typed lists", filled("[")),
    "json-objects": inside("typed object", filled('{"a":')),
    "json-escapes": inside("typed lists", filled('\\"', "[" * 70 + '"')),
    "json-list": inside("typed numbers", filled("1,", "[", "1]")),
    "digits": inside("typed number", filled("7")),
    "digits-many-times": inside("typed numbers", filled("7" * 4300 + ",")),
    "blanks": inside("typed number", filled(" ")),
}
# Made of what is only looked at once the call is closed.
VALUES: Final = ("json", "steps", "digits", "blanks")
# A document large enough to show how its time grows.
SIZE: Final = 30_000


def at_once(**options: Any) -> Parse:
    return lambda text: parse_tool_calls(text, TOOLS, **options)


def by_character(**options: Any) -> Parse:
    def parse(text: str) -> None:
        stream = ToolCallStream(TOOLS, **options)
        for character in text:
            stream.feed(character)
        stream.close()

    return parse


# In every protocol.
UNITS: Final = (
    *("<tool_call>{", '<tool_call>{"', "<tool_call>{\\", '{"name":', "{", "[TOOL_CALLS]"),
    *("[TOOL_CALLS] [{", "```\n", '```json\n{"name": "calc"\n', '<invoke name="calc">', "~~~ x\n"),
    *(
        '<invoke name="calc"><parameter name="a">',
        '<invoke name="calc"><parameter name="a">1</invoke>',
    ),
    *("<function=calc><parameter=a>", "<tool_call>calc<arg_key>a</arg_key><arg_value>"),
    *('<invoke name="calc"><parameter name="a"><![CDATA[', "<function_calls>", "</tool_call>"),
    *('<tool_call>{"name": "calc", "arguments": {,}}</tool_call>', "<tool_call>" + 40 * " "),
    *('<tool_call>{"name": "calc", "arguments": {}}\n', '{"name": "calc", "arguments": {}},'),
    *("[calc(a='", "[calc(", "[calc(a=1),", '<|python_tag|>calc("', '<function=calc>{"'),
    *(
        "<｜tool▁call▁begin｜>calc<｜tool▁sep｜>{",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>a ",
    ),
    *("<|tool_call_begin|>calc:0<|tool_call_argument_begin|>{}", "<|tool_call_begin|>calc:0"),
    *("<|channel|>commentary to=calc<|message|>{'", "<|channel|>analysis to=calc "),
    *("\\[calc(a=1", "[calc(a=\"[calc(b='", '</tool_call>"<tool_call>{"', '{"name": {"name": "'),
)


@pytest.mark.parametrize("size", [None, 5_000])
@pytest.mark.parametrize("unit", UNITS)
def test_every_protocol(unit: str, size: int | None) -> None:
    parse = at_once(protocols="auto", max_call_size=size)
    assert time_growth(parse, filled(unit), SIZE) <= TIME_LIMIT


@pytest.mark.parametrize("unit", UNITS)
def test_every_protocol_by_character(unit: str) -> None:
    parse = by_character(protocols="auto", deltas=True)
    assert time_growth(parse, filled(unit), SIZE // 3) <= TIME_LIMIT


@pytest.mark.parametrize("name", HOSTILE)
def test_at_once(name: str) -> None:
    assert time_growth(at_once(), HOSTILE[name], SIZE) <= TIME_LIMIT


@pytest.mark.parametrize("name", [name for name in HOSTILE if not name.startswith(VALUES)])
def test_by_character(name: str) -> None:
    assert time_growth(by_character(), HOSTILE[name], SIZE // 3) <= TIME_LIMIT


@pytest.mark.parametrize("parse", [at_once, by_character])
@pytest.mark.parametrize("size", [50, 5_000])
@pytest.mark.parametrize("name", [name for name in HOSTILE if "opener" in name or "call" in name])
def test_with_openers_given_up(name: str, size: int, parse: Callable[..., Parse]) -> None:
    """Nothing is read again when an opener turns out to be text, whatever is after it."""
    assert time_growth(parse(max_call_size=size), HOSTILE[name], SIZE // 3) <= TIME_LIMIT
