"""The fast block parse against markdown-it-py's own: every token, and every link definition.

One difference is known, where markdown-it-py's own is wrong: an item that a tab parts from a
quote mark with another container's mark before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import markdown_it
import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chunkast.config import DEFAULT_EXTENSIONS, EXTENSIONS
from chunkast.markdown import parser
from chunkast.markdown.fast import DRAIN, TREE, accelerate, is_verified
from chunkast.markdown.fast.blocks import FastBlocks
from chunkast.markdown.tree import TreeBuilder
from chunkast.model import Block
from chunkast.text.source_map import line_starts
from tests.hostile import CASES
from tests.strategies import documents

FIXTURES = Path(__file__).parents[1] / "fixtures"
CONFIGURATIONS = ((), ("tables",), DEFAULT_EXTENSIONS, tuple(EXTENSIONS))
# What a list, a quote, a tab or the text's end leaves to be got wrong.
CORNERS = (
    ">> a\n      # b\nc\n",
    "> a\n      > b\n> c",
    "- > a\n  > b\nc\n  # d",
    "> - ```\n>\n>",
    ">\t\tcode\n>\tx\n>  \ty",
    ">\t x\n",
    "- ```\n  a",
    "- a\n  b\n\n  - c\n\n  d\n- > e\n  # f\n  > g",
    "-\ta\n\tb\n\n\t\tcode\n",
    "- [ ]   <div>\n      x\n- [x] \n",
    "1. a\n2) b\n10. c\n\n   1. d\n",
    "- a\n - b\n  - c\n   - d\n    - e\n",
    "a\n2. b\n1.\n1. c\n-\n- d\n",
    "a | b\n- | -\n> c\n1 | 2 | 3\n    x\n",
    "> | a |\n> |---|\n> b\nc\n",
    "| a |\n---\nb\n",
    "[a]: b\n'c\n- d'\n[e]: f\n===\n",
    "a\n    ===\n   ===\nb\n--- -\n",
    "# \n## #\n#\t# #\n####### x\n#x\n",
    "```\n    ```\n~~~\n``` \t\na ``` b\n```x`\n",
    "  ~~~ x\n a\n    b\n~~\n~~~~\n",
    "> [!tıp] \n> a\n\n> [!NOTE]",
    "::: a\n- b\n:::\n\n!!! c\n    d\n",
    "[^a]: b\n      c\n\n    d\n[^e]:\n",
    "a\n\n: b\n\n  c\n\nd\n: e\n~ f\n",
    "::: x\na\n: b\n:\t- c\n\n  d\n\ne\n\n: f\n",
    "> a\n> : b\n: c\n\n1. a\n   : b\n     : c\n  : d\n",
    '<a b=c\xa0d="e">\n\n<a b=c\u2028d f>\n\n<a\x1cb>\n\n</a >\n\n<a b=c/>d\n',
    "- <!-- a\n\n  b\n\nc -->\n\n<pre>\n\na</pre>b\n\n<?a\n?>\n<![CDATA[\n\n]]>\n<div\na>\n",
    "\ta\n \tb\n  \n\tc\n   ",
    "\x1c\x85\u2028a\u3000\n\xa0\n\u200bb\xa0",
)

# What the parsers are known to differ in, and the same with spaces.
DIFFERENT = (
    (">   >\t1. d", "> > 1. d"),
    (">\t>\t- a", "> > - a"),
    ("-\t>\t>\t- a", "- > > - a"),
    (">\t> a\n>\t>\t- b", "> > a\n> > - b"),
)
_DIFFERENT = re.compile(r"[-+*>.)][ \t]+>[ \t]*\t[ \t]*(?:[-+*]|[0-9]{1,9}[.)])")


def outcome(md: MarkdownIt, text: str) -> tuple[list[Token], object]:
    env: dict[str, Any] = {}
    return md.parse(text, env), (env.get("references"), env.get("footnotes"))


def given_out(md: MarkdownIt, text: str) -> list[Token]:
    """The tokens where they are taken while the rest is parsed."""
    taken: list[Token] = []

    def take(tokens: list[Token]) -> None:
        taken.extend(tokens)
        tokens.clear()

    take(md.parse(text, {DRAIN: take}))
    return taken


def tree(md: MarkdownIt, text: str) -> Block:
    builder = TreeBuilder(text, line_starts(text))
    builder.feed(md.parse(text, {DRAIN: builder.feed, TREE: builder}))
    return builder.document()


@cache
def parsers(extensions: tuple[str, ...]) -> tuple[MarkdownIt, MarkdownIt]:
    """The fast parser and the stock one."""
    fast, stock = (parser._stock_parser(frozenset(extensions)) for _ in range(2))
    accelerate(fast)
    return fast, stock


def assert_identical(text: str) -> None:
    starts = line_starts(text)
    normalized = parser._normalized(text, starts, 0)
    for extensions in CONFIGURATIONS:
        fast, stock = parsers(extensions)
        try:
            expected = outcome(stock, normalized)
        except IndexError:
            # Some plugins look after the end of the text; the fast parser may ask them less.
            continue
        assert outcome(fast, normalized) == expected, extensions
        assert given_out(fast, normalized) == expected[0], extensions
        assert tree(fast, normalized) == tree(stock, normalized)


def specification() -> Iterator[str]:
    for name in ("commonmark.json", "gfm_tables.json"):
        stored = json.loads((FIXTURES / "conformance" / name).read_text("ascii"))
        for each in stored["examples"]:
            yield each["markdown"]


def test_the_installed_parser_is_verified() -> None:
    """If this fails, a new version is installed: let the tests below decide, then add it."""
    assert is_verified()
    assert isinstance(parser._parser(frozenset()).block, FastBlocks)


def test_another_version_is_parsed_by_its_own_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_it, "__version__", "4.999.0")
    md = parser._stock_parser(frozenset(DEFAULT_EXTENSIONS))
    stock = md.block
    accelerate(md)
    assert md.block is stock


def test_every_token_is_identical_in_the_specifications_examples() -> None:
    for text in specification():
        assert_identical(text)


@pytest.mark.parametrize(
    "path", sorted((FIXTURES / "documents").iterdir()), ids=lambda path: path.name
)
def test_every_token_is_identical_in_documents(path: Path) -> None:
    assert_identical(path.read_bytes().decode())


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_token_is_identical_in_hostile_texts(name: str) -> None:
    assert_identical(CASES[name](1_000))


@pytest.mark.parametrize("text", CORNERS)
def test_every_token_is_identical_in_corners(text: str) -> None:
    assert_identical(text)
    assert_identical(text.removesuffix("\n"))
    assert_identical("".join(f"> {line}\n" for line in text.split("\n")))
    assert_identical("- " + text.replace("\n", "\n  "))


@given(documents())
def test_every_token_is_identical_in_any_text(text: str) -> None:
    if not _DIFFERENT.search(text):
        assert_identical(text)


@pytest.mark.parametrize(("text", "plain"), DIFFERENT)
def test_an_item_that_a_tab_parts_from_an_inner_quote_mark(text: str, plain: str) -> None:
    """If the stock parser has come to agree, what is said of the difference must go."""

    def contents(md: MarkdownIt, text: str) -> list[tuple[str, str]]:
        return [(token.type, token.content) for token in md.parse(text)]

    fast, stock = parsers(())
    assert _DIFFERENT.search(text)
    assert contents(fast, text) == contents(stock, plain)
    assert contents(stock, text) != contents(stock, plain)
