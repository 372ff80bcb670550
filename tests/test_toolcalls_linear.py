"""Finding and parsing tool calls takes time in proportion to the text, however it comes.

Every hostile text is parsed at once and character by character. As in ``test_linear``, only
the growth of the CPU time per character is looked at.
"""

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
TOOLS: Final = (
    Tool("calc"),
    Tool("write", {"type": "object", "properties": {"path": STRING, "content": STRING}}),
    Tool(
        "typed",
        {
            "type": "object",
            "properties": {
                "object": {"type": "object", "properties": {"a": {"type": "number"}}},
                "numbers": NUMBERS,
                "lists": {"type": "array", "items": NUMBERS},
                "plan": STEPS,
                "number": {"type": "number"},
            },
        },
    ),
    Tool(
        "shell",
        {
            "type": "object",
            "properties": {"command": {"type": "array", "items": STRING}, "why": STRING},
        },
    ),
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
    # Outside calls, or in calls that are never closed.
    "angles": filled("<"),
    "slashes": filled("</"),
    "words": filled("word "),
    "closers": filled("</calc>"),
    "closer-white-space": filled(" ", "<calc></"),
    "closer-white-space-often": filled("</    calc    ", "<calc>"),
    "openers": filled("<calc>"),
    "openers-of-two-tools": filled("<calc><write>"),
    "openers-then-one-closer": filled("<calc>", tail="</calc>"),
    "openers-cut-short": filled("<calc"),
    "empty-tags": filled("<calc/>"),
    "empty-tags-after-an-opener": filled("<calc/>", "<write>"),
    "calls": filled("<calc><a>1</a></calc>"),
    "calls-after-an-opener": filled("<calc><a>1</a></calc>", "<write>"),
    "calls-that-cross": filled("<calc><write></calc></write>"),
    "calls-that-fail": filled("<calc><a></calc>"),
    "nesting-of-one-name": halves("<calc>", "</calc>"),
    "opener-then-text": filled("x", "<calc>"),
    "opener-then-angles": filled("<", "<calc>"),
    # Bodies.
    "body-angles": call("calc", filled("<")),
    "body-angles-and-letters": call("calc", filled("<a ")),
    "body-openers": call("calc", filled("<a>")),
    "body-closers": call("calc", filled("</a>")),
    "body-malformed-closers": call("calc", filled("</ a>")),
    "body-slashes-and-blanks": call("calc", filled("</   ")),
    "body-nesting": call("calc", halves("<a>", "</a>")),
    "body-nesting-unclosed": call("calc", halves("<a>", "</b>")),
    "body-children": call("calc", filled("<a>1</a>")),
    "body-children-unlike": call("calc", growing(lambda n: f"<a{n}>1</a{n}>")),
    "body-children-typed": call("typed", filled("<plan><step>1</step></plan>")),
    "body-children-empty": call("calc", filled("<a/>")),
    "body-children-mixed": inside("calc x", filled("t<a>1</a>")),
    "body-indices": inside("typed numbers", growing(lambda n: f"<{n}>1</{n}>")),
    "body-items": inside("typed numbers", filled("<item>1</item>")),
    "body-attribute": call("calc", filled_once('<a b="', filled("x"), '">1</a>')),
    "body-attributes": call("calc", filled_once("<a", filled(' b="c>"'), ">1</a>")),
    "body-quotes": call("calc", filled("<a b=\"'")),
    "body-quotes-that-cross": call("calc", filled("<a '\">")),
    "body-tag-name": call("calc", filled("a", "<")),
    "body-comments": call("calc", filled("<!-- - -->")),
    "body-comment-openers": call("calc", filled("<!--")),
    "body-cdata-openers": call("calc", filled("<![CDATA[")),
    "body-declarations": call("calc", filled("<!a")),
    "body-ampersands": inside("write content", filled("&")),
    "body-entities": inside("write content", filled("&amp;lt;")),
    "body-entities-untyped": inside("calc a", filled("&amp;<b/>")),
    "string-angles": inside("write content", filled("<")),
    "string-openers": inside("write content", filled("<content>")),
    "string-opener-beginnings": inside("write content", filled("<content ")),
    "string-nesting": call("write", halves("<content>", "</content>")),
    "strings-repeated": call("write", filled("<content>a</content>")),
    "strings-in-objects": call("typed", filled("<plan><item><step>a</step></item></plan>")),
    "shell-repeated": call("shell", filled("<why>a</why>", "<command>ls</command>")),
    "shell-openers": call("shell", filled("<why>")),
    "steps-run-together": call("typed", filled("<step><status>x</status>", "<plan>", "</plan>")),
    "steps-in-texts": inside("typed plan", filled("<item>&lt;step>a&lt;/step></item>")),
    # Texts that schemas make something of.
    "json-brackets": inside("typed lists", filled("[")),
    "json-brackets-closed": inside("typed lists", halves("[", "]")),
    "json-objects": inside("typed object", filled('{"a":')),
    "json-quotes": inside("typed object", filled("'", "{")),
    "json-escapes": inside("typed lists", filled('\\"', "[" * 70 + '"')),
    "json-strings-unclosed": inside("typed lists", filled('"', "[" * 70)),
    "json-list": inside("typed numbers", filled("1,", "[", "1]")),
    "json-list-unclosed": inside("typed numbers", filled("1,", "[")),
    "json-list-in-lists": inside("typed lists", filled("['1'],", "[", "[]]")),
    "json-untyped": inside("calc a", filled("[1],", "[", "[]]")),
    "commas": inside("typed numbers", filled("1,")),
    "lines": inside("typed lists", filled("1,2\n")),
    "digits": inside("typed number", filled("7")),
    "digits-of-a-fraction": inside("typed number", filled("7", "0.")),
    "digits-of-an-exponent": inside("typed number", filled("7", "1e")),
    "digits-many-times": inside("typed numbers", filled("7" * 4300 + ",")),
    "digits-in-json": inside("typed numbers", filled("7", "[", "]")),
    "blanks": inside("typed number", filled(" ")),
}
# Made of what is only looked at once the call is closed.
VALUES: Final = ("json", "steps", "commas", "lines", "digits", "blanks")
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


@pytest.mark.parametrize("name", HOSTILE)
def test_at_once(name: str) -> None:
    assert time_growth(at_once(), HOSTILE[name], SIZE) <= TIME_LIMIT


@pytest.mark.parametrize("name", [name for name in HOSTILE if not name.startswith(VALUES)])
def test_by_character(name: str) -> None:
    assert time_growth(by_character(), HOSTILE[name], SIZE) <= TIME_LIMIT


@pytest.mark.parametrize("parse", [at_once, by_character])
@pytest.mark.parametrize("size", [50, 5_000])
@pytest.mark.parametrize("name", [name for name in HOSTILE if "opener" in name or "call" in name])
def test_with_openers_given_up(name: str, size: int, parse: Callable[..., Parse]) -> None:
    """Nothing is read again when an opener turns out to be text, whatever is after it."""
    assert time_growth(parse(max_call_size=size), HOSTILE[name], SIZE) <= TIME_LIMIT
