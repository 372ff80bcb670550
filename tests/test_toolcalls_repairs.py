"""Tags that are cut, closed loosely or repeated, and functions that call the stream back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from chunkast import ChunkastError
from chunkast.heuristics import Heuristic, Patch
from chunkast.toolcalls import Part, Text, Tool, ToolCall, ToolCallStream, parse_tool_calls
from chunkast.toolcalls.repairs import balance_tags
from tests.test_linear import TIME_LIMIT, time_growth
from tests.test_toolcalls import STRING, TOOLS, check_tiling, fragments, joined, raw, texts

# Balanced tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a>x</a", "<a>x</a>"),
        ("<a>x</a >", "<a>x</a >"),
        ("<a>x</a\n>", "<a>x</a\n>"),
        ("<a>x</", "<a>x</a>"),
        ("<a>x</a ", "<a>x</a> "),
        ("<a>x</ a", "<a>x</a>"),
        ("<abc>x</ab", "<abc>x</abc>"),
        ("<a><b>x</a", "<a><b>x</b></a>"),
        ("<a><b>x</b</a", "<a><b>x</b></a>"),
        ("<a>x</a<b>y</b>", "<a>x</a><b>y</b>"),
        ("<a>x</a and <b>y</b>", "<a>x</a> and <b>y</b>"),
        ("<a>x</b<c>y</c></a>", "<a>x<c>y</c></a>"),
        ("<a>x</b y", "<a>x y</a>"),
        ("<a>1 </ 2", "<a>1 </ 2</a>"),
        ("<a>1 </ <b>2", "<a>1 </ <b>2</b></a>"),
        ("<a><b>x</a b=c>", "<a><b>x</b></a b=c>"),
        ("</a", ""),
    ],
)
def test_closing_tags_that_are_cut_or_loose(text: str, expected: str) -> None:
    assert balance_tags(text) == expected
    assert balance_tags(expected) == expected


NAME = st.sampled_from(["a", "b", "ab"])
OPENER = NAME.map("<{}>".format)
CLOSER = st.builds(
    str.format, st.sampled_from(["</{}>", "</{}>", "</{} >", "</{}\n>", "</{}", "</{}\t"]), NAME
)
WORDS = st.sampled_from(["x", " ", "1 y", "\n", "&lt;"])
TAG = re.compile(r"<(/?)([a-z]+)\s*>")


def assert_in_order(text: str) -> None:
    stack: list[str] = []
    for closes, name in TAG.findall(text):
        if closes:
            assert stack.pop() == name, text
        else:
            stack.append(name)
    assert not stack, text
    assert "<" not in TAG.sub("", text)


@given(st.lists(OPENER | CLOSER | WORDS.map(" {}".format), max_size=12))
@example(["<a>", "</a"])
def test_balanced_tags_are_in_order_and_the_text_between_them_stays(pieces: list[str]) -> None:
    balanced = balance_tags("".join(pieces))
    assert_in_order(balanced)
    assert balance_tags(balanced) == balanced
    between = "".join(piece for piece in pieces if "<" not in piece)
    assert "".join(TAG.sub("", balanced).split()) == "".join(between.split())


@given(
    st.lists(st.builds("<{0}>{1}</{0}{2}>".format, NAME, WORDS, st.sampled_from(["", " ", "\n"])))
)
def test_what_is_in_order_is_left_alone(elements: list[str]) -> None:
    text = "".join(elements)
    assert balance_tags(text) == text


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["</a", "</a <", "<a>x</a", "<a></b", "</ ", "<ab></a"])
@pytest.mark.parametrize("tail", ["", ">"])
def test_balancing_takes_linear_time(unit: str, tail: str) -> None:
    def build(size: int) -> str:
        return unit * (size // len(unit)) + tail

    assert time_growth(balance_tags, build, 200_000) <= TIME_LIMIT


# Strings that come twice

OBJECT: Final = {"type": "object", "properties": {"s": STRING, "n": {"type": "number"}}}
REPEATING: Final = Tool(
    "t",
    {
        "type": "object",
        "properties": {
            "s": STRING,
            "r": STRING,
            "o": OBJECT,
            "p": {"type": "object"},
            "q": {"type": "object", "properties": {"n": {"type": "number"}}},
            "l": {"type": "array", "items": OBJECT},
        },
    },
)
# An element as its name and what is in it: text, or more elements.
Element = tuple[str, Any]


def shown(elements: list[Element]) -> str:
    return "".join(
        f"<{name}>{inside if isinstance(inside, str) else shown(inside)}</{name}>"
        for name, inside in elements
    )


def bodies() -> SearchStrategy[list[Element]]:
    # What stands in a string is no element.
    leaf = st.tuples(st.just("s"), st.sampled_from(["", "1", "<b>2</b>", "<s>3</s>"]))
    other = st.tuples(st.just("r"), st.sampled_from(["<s>4</s>", "5"]))
    plain = st.tuples(st.just("n"), st.just("6"))
    return st.recursive(
        st.lists(leaf | other | plain, max_size=2),
        lambda inner: st.lists(
            leaf | plain | st.tuples(st.sampled_from(["o", "p", "q", "l", "x"]), inner), max_size=3
        ),
        max_leaves=6,
    )


@pytest.mark.parametrize(
    "body",
    [
        "<s>1</s><s>2</s>",
        "<s>1</s><o><s>2</s></o>",
        "<o><s>1</s></o><s>2</s>",
        "<s>1</s><p><s>2</s></p>",
        "<s>1</s><q><s>2</s></q>",
        "<s>1</s><l><s>2</s></l>",
        "<s>1</s><l><item><s>2</s></item></l>",
        "<s>1</s><x><s>2</s></x>",
        "<s>1</s><x><o><s>2</s></o></x>",
        "<s/><o><s/></o>",
    ],
)
def test_a_string_beside_one_of_its_name_cancels_the_call(body: str) -> None:
    told: list[str] = []
    text = f"<t>{body}</t>"
    [part] = parse_tool_calls(text, [REPEATING], on_error=lambda message, _: told.append(message))
    assert part == Text(text, 0, len(text))
    assert len(told) == 1
    assert "<s> at" in told[0]
    assert "comes twice" in told[0]


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("<o><s>1</s></o>", {"o": {"s": "1"}}),
        ("<l><item><s>1</s></item><item><s>2</s></item></l>", {"l": [{"s": "1"}, {"s": "2"}]}),
        ("<o><s>1</s></o><l><s>2</s></l>", {"o": {"s": "1"}, "l": [{"s": "2"}]}),
        ("<s>1</s><r><s>2</s></r>", {"s": "1", "r": "<s>2</s>"}),
        ("<s>1<s>2</s></s>", {"s": "1<s>2</s>"}),
        ("<s>1</s><!-- <s>2</s> -->", {"s": "1"}),
    ],
)
def test_strings_that_do_not_come_twice(body: str, arguments: Any) -> None:
    [part] = parse_tool_calls(f"<t>{body}</t>", [REPEATING])
    assert isinstance(part, ToolCall)
    assert part.arguments == arguments


@given(bodies())
@example([("x", [("r", "1"), ("r", "2")]), ("s", "3")])
def test_a_call_is_cancelled_where_a_string_may_be_either(elements: list[Element]) -> None:
    # What "s" and "r" are inside objects that do not declare them is read as elements there.
    if any("<s>" in text for text in _undeclared_texts(elements)):
        return
    body = shown(elements)
    [part] = parse_tool_calls(f"<t>{body}</t>", [REPEATING])
    for name in "sr":
        nested = list(_named(elements, name))
        if len(nested) > 1 and not all(nested):
            assert isinstance(part, Text)
            return
    assert isinstance(part, ToolCall)


def _named(elements: list[Element], name: str, nested: bool = False) -> Iterator[bool]:
    """For each element of ``name``, whether it stands inside a declared element."""
    for own, inside in elements:
        if own == name:
            yield nested
        if not isinstance(inside, str):
            yield from _named(inside, name, nested or own != "x")


def _undeclared_texts(elements: list[Element], holder: str = "") -> Iterator[str]:
    """The texts of "s" and "r" in objects that do not declare these as strings."""
    strings = {"": "sr", "o": "s", "l": "s", "p": "", "q": ""}
    for name, inside in elements:
        if not isinstance(inside, str):
            yield from _undeclared_texts(inside, holder if name == "x" else name)
        elif name not in strings[holder]:
            yield inside


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
    assert "".join(map(raw, parts)) == f"{text} again {BROKEN}<a>1</a>"
    assert isinstance(parts[-1], ToolCall)
    parts += stream.close()
    check_tiling(f"{text} again {BROKEN}<a>1</a>", parts)


def test_closing_while_being_told_ends_the_text() -> None:
    stream = ToolCallStream(TOOLS, on_error=lambda _message, _data: stream.close())
    parts = stream.feed(f"one {BROKEN} two <a")
    check_tiling(f"one {BROKEN} two <a", parts)
    with pytest.raises(ChunkastError, match="after close"):
        stream.feed("more")
    assert stream.close() == []


def test_a_heuristic_may_feed_the_stream() -> None:
    fed: list[str] = []

    def run(_draft: object) -> Patch[Any]:
        if not fed:
            fed.append(" three <a>2</a>")
            assert stream.feed(fed[0]) == []
        return Patch()

    stream = ToolCallStream(TOOLS, heuristics=[Heuristic("feeds", "pre-parse", run)])
    text = "one <a>1</a> two"
    parts = stream.feed(text) + stream.close()
    check_tiling(text + fed[0], parts)
    assert sum(isinstance(part, ToolCall) for part in parts) == 2


def test_an_interrupted_call_is_parsed_again() -> None:
    interrupts = [True]

    def run(_draft: object) -> Patch[Any]:
        if interrupts.pop() if interrupts else False:
            raise KeyboardInterrupt
        return Patch()

    stream = ToolCallStream(TOOLS, heuristics=[Heuristic("stops", "pre-parse", run)])
    with pytest.raises(KeyboardInterrupt):
        stream.feed("one <a>1</a> two")
    parts = stream.close()
    check_tiling("one <a>1</a> two", parts)
    assert isinstance(parts[1], ToolCall)


class OwnError(Exception):
    """What a user's function raises."""


@given(texts(), st.lists(st.sampled_from(["feed", "raise", "both", "close", ""])), st.data())
def test_whatever_on_error_does_no_part_is_lost(
    text: str, actions: list[str], data: st.DataObject
) -> None:
    fed: list[str] = []
    parts: list[Part] = []
    told: list[Any] = []
    waiting = actions[::-1]

    def feed(piece: str) -> None:
        fed.append(piece)
        parts.extend(stream.feed(piece))

    def on_error(message: str, metadata: Any) -> None:
        told.append((message, metadata["start_index"], metadata["tool_call"]))
        action = waiting.pop() if waiting else ""
        if action in {"feed", "both"} and not stream._closed:
            feed(f"{BROKEN} <ab>")
        if action == "close":
            parts.extend(stream.close())
        if action in {"raise", "both"}:
            raise OwnError

    def guarded(call: Callable[[], object]) -> None:
        try:
            call()
        except OwnError:
            guarded(lambda: parts.extend(stream.close()) if stream._closed else feed(""))

    stream = ToolCallStream(TOOLS, on_error=on_error)
    for piece in fragments(data, text):
        if not stream._closed:
            guarded(lambda piece=piece: feed(piece))  # type: ignore[misc]
    guarded(lambda: parts.extend(stream.close()))
    whole = "".join(fed)
    check_tiling(whole, parts)
    expected: list[Any] = []
    batch = parse_tool_calls(
        whole,
        TOOLS,
        on_error=lambda message, metadata: expected.append(
            (message, metadata["start_index"], metadata["tool_call"])
        ),
    )
    assert joined(parts) == joined(batch)
    assert told == expected
