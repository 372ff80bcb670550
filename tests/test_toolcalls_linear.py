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
    "closers": filled("</calc>"),
    "closer-white-space": filled(" ", "<calc></"),
    "openers": filled("<calc>"),
    "openers-then-one-closer": filled("<calc>", tail="</calc>"),
    "empty-tags": filled("<calc/>"),
    "empty-tags-after-an-opener": filled("<calc/>", "<write>"),
    "calls": filled("<calc><a>1</a></calc>"),
    "calls-that-cross": filled("<calc><write></calc></write>"),
    "nesting-of-one-name": halves("<calc>", "</calc>"),
    "opener-then-text": filled("x", "<calc>"),
    # Bodies.
    "body-angles": call("calc", filled("<")),
    "body-openers": call("calc", filled("<a>")),
    "body-closers": call("calc", filled("</a>")),
    "body-nesting": call("calc", halves("<a>", "</a>")),
    "body-children": call("calc", filled("<a>1</a>")),
    "body-children-unlike": call("calc", growing(lambda n: f"<a{n}>1</a{n}>")),
    "body-children-mixed": inside("calc x", filled("t<a>1</a>")),
    "body-indices": inside("typed numbers", growing(lambda n: f"<{n}>1</{n}>")),
    "body-attribute": call("calc", filled_once('<a b="', filled("x"), '">1</a>')),
    "body-quotes": call("calc", filled("<a b=\"'")),
    "body-comments": call("calc", filled("<!-- - -->")),
    "body-cdata-openers": call("calc", filled("<![CDATA[")),
    "body-entities": inside("write content", filled("&amp;lt;")),
    "string-openers": inside("write content", filled("<content>")),
    "string-nesting": call("write", halves("<content>", "</content>")),
    "strings-repeated": call("write", filled("<content>a</content>")),
    "shell-repeated": call("shell", filled("<why>a</why>", "<command>ls</command>")),
    "steps-run-together": call("typed", filled("<step><status>x</status>", "<plan>", "</plan>")),
    # Texts that schemas make something of.
    "json-brackets": inside("typed lists", filled("[")),
    "json-brackets-closed": inside("typed lists", halves("[", "]")),
    "json-escapes": inside("typed lists", filled('\\"', "[" * 70 + '"')),
    "json-list": inside("typed numbers", filled("1,", "[", "1]")),
    "lines": inside("typed lists", filled("1,2\n")),
    "digits": inside("typed number", filled("7")),
    "digits-many-times": inside("typed numbers", filled("7" * 4300 + ",")),
    "blanks": inside("typed number", filled(" ")),
}
# Made of what is only looked at once the call is closed.
VALUES: Final = ("json", "steps", "lines", "digits", "blanks")
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


@pytest.mark.parametrize(("parse", "size"), [(at_once, 5_000), (by_character, 50)])
@pytest.mark.parametrize("name", [name for name in HOSTILE if "opener" in name or "call" in name])
def test_with_openers_given_up(name: str, size: int, parse: Callable[..., Parse]) -> None:
    """Nothing is read again when an opener turns out to be text, whatever is after it."""
    assert time_growth(parse(max_call_size=size), HOSTILE[name], SIZE) <= TIME_LIMIT
