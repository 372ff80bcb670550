"""The work that hostile texts make, in lines of Python that are executed: no clock is read.

Growth (``test_linear``) does not show what is linear and far too much all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.container import container_plugin as stock_container_plugin

from chunkast.code import Outliner, language_named
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.markdown import parse_blocks
from chunkast.markdown.dialects import dialects_of
from chunkast.markdown.inline import inline_spans
from tests.test_code import grammars


def executed(action: Callable[[], object]) -> int:
    """How many lines of Python ``action`` executes, whatever module they are in."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("extension", ["mdx", "quarto"])
@pytest.mark.parametrize("text", ["{" * 3_000, "x " + "{" * 3_000, "{{<" * 1_000, "{`" * 1_500])
def test_braces_that_are_never_closed_are_not_looked_at_again_and_again(
    text: str, extension: str
) -> None:
    work = executed(lambda: inline_spans(text, extensions=(extension,)))
    assert work <= 150 * len(text)


@pytest.mark.parametrize("extension", ["containers", "quarto"])
def test_containers_inside_one_another_are_read_once(extension: str) -> None:
    text = ":::a\n" * 1_500
    extensions = (*DEFAULT_EXTENSIONS, extension)
    work = executed(lambda: parse_blocks(text, extensions=extensions))
    assert work <= 200 * 1_500


@grammars
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("python", "\n" * 3_000),
        ("typescript", "new \n *\n" * 1_000),
        ("toml", ']] 1 \n """' * 1_000),
        ("toml", " \n \n\n" * 600),
    ],
)
def test_code_is_read_a_few_times_at_most(name: str, text: str) -> None:
    language = language_named(name)
    assert language is not None
    work = executed(lambda: Outliner().items(text.split("\n"), language))
    assert work <= 150 * len(text)


def tokens(plugin: Callable[[MarkdownIt], object], text: str) -> list[tuple[Any, ...]]:
    md = MarkdownIt("commonmark", {"maxNesting": 20})
    plugin(md)
    md.core.ruler.enableOnly(["normalize", "block"])
    return [(token.type, token.map, token.info.strip(), token.level) for token in md.parse(text)]


_LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "", "> ", "- ", "  ", "    ", ">", "1. ", "\t"]),
        st.sampled_from(
            ["", "a", ":::", ":::: ", "::: a", "::::b", ":::::", ":: a", "::: :::", "```", ":::a\t"]
        ),
    ).map("".join),
    max_size=14,
)


@given(_LINES)
def test_containers_are_those_of_the_plugin(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"

    def stock(md: MarkdownIt) -> None:
        stock_container_plugin(md, "block", validate=lambda name, _markup: bool(name.strip()))

    (own,) = dialects_of(("containers",))
    assert tokens(own.add_to, text) == tokens(stock, text)
