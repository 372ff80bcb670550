"""The fast block parser against markdown-it-py's own: the same block tree and definitions.

Two differences are known, where markdown-it-py is wrong: an item after a tab, a quote mark and
another container's mark; and a tag with a no-break space in a value without quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import markdown_it
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chunkast.config import DEFAULT_EXTENSIONS, EXTENSIONS
from chunkast.markdown import fast, parser
from chunkast.markdown.dialects import dialects_of
from chunkast.markdown.fast import TREE, accelerate
from chunkast.markdown.fast.block_parser import FastBlocks
from chunkast.markdown.tree import TreeBuilder
from chunkast.model import Block
from chunkast.text.source_map import line_starts
from tests.hostile import CASES
from tests.strategies import documents

FIXTURES = Path(__file__).parents[1] / "fixtures"
CONFIGURATIONS = ((), ("tables", "deflists"), DEFAULT_EXTENSIONS, tuple(EXTENSIONS))
# Hard cases of lists, quotes, tabs and the end of a text.
CORNERS = json.loads((FIXTURES / "block_corners.json").read_text("utf-8"))
# Texts that the parsers read differently, and texts that both read as the first should be read.
DIFFERENT = (
    (">   >\t1. d", "> > 1. d"),
    (">\t>\t- a", "> > - a"),
    ("-\t>\t>\t- a", "- > > - a"),
    (">\t> a\n>\t>\t- b", "> > a\n> > - b"),
    ('<a b=c\xa0d="e">', '<a b=c-d="e">'),
)
_DIFFERENT = re.compile(
    r"[-+*>.)][ \t]+>[ \t]*\t[ \t]*(?:[-+*]|[0-9]{1,9}[.)])|<[A-Za-z].*=.*[^\S\x00-\x20]"
)


@cache
def parsers(extensions: tuple[str, ...]) -> tuple[MarkdownIt, MarkdownIt]:
    """The fast parser and the stock one."""
    quick, stock = (parser._stock_parser(dialects_of(extensions)) for _ in range(2))
    accelerate(quick)
    return quick, stock


def parsed(md: MarkdownIt, text: str) -> tuple[Block, object, object]:
    """The block tree, the link definitions and the footnotes."""
    builder = TreeBuilder(text, line_starts(text))
    env: dict[str, Any] = {TREE: builder}
    builder.feed(md.parse(text, env))
    return builder.document(), env.get("references"), env.get("footnotes")


def assert_same(text: str) -> None:
    normalized = parser._normalized(text, line_starts(text), 0)
    for extensions in CONFIGURATIONS:
        quick, stock = parsers(extensions)
        try:
            expected = parsed(stock, normalized)
        except IndexError:
            continue  # some plugins read beyond the end of the text
        assert parsed(quick, normalized) == expected, extensions


def specification() -> Iterator[str]:
    for name in ("commonmark.json", "gfm_tables.json"):
        stored = json.loads((FIXTURES / "conformance" / name).read_text("ascii"))
        for each in stored["examples"]:
            yield each["markdown"]


def test_the_installed_parser_is_known() -> None:
    assert fast.is_known(), (
        "the installed stock rules are not known; add the digest to KNOWN in "
        "chunkast/markdown/fast/__init__.py, and keep it if the other tests in this file pass: "
        f"{fast.stock_digest()}"
    )
    assert isinstance(parser._parser(()).block, FastBlocks)


class Sources:
    """A loader of sources with these contents, or of none."""

    def __init__(self, change: Callable[[bytes], bytes] | None) -> None:
        self.change = change

    def get_data(self, path: str) -> bytes:
        if self.change is None:
            raise FileNotFoundError(path)
        return self.change(Path(path).read_bytes())


@pytest.mark.parametrize("change", [None, bytes.upper])
def test_other_rules_are_used_unchanged(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[bytes], bytes] | None
) -> None:
    monkeypatch.setattr(markdown_it, "__loader__", Sources(change))
    monkeypatch.setattr(fast, "stock_digest", fast.stock_digest.__wrapped__)
    md = parser._stock_parser(dialects_of(DEFAULT_EXTENSIONS))
    stock = md.block
    accelerate(md)
    assert md.block is stock
    assert fast.parser_note().startswith("stock block parser")


def test_line_ends_do_not_change_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = fast.stock_digest()
    windows = Sources(lambda source: source.replace(b"\n", b"\r\n"))
    monkeypatch.setattr(markdown_it, "__loader__", windows)
    assert fast.stock_digest.__wrapped__() == expected


def test_trees_of_the_specifications_examples() -> None:
    for text in specification():
        assert_same(text)


@pytest.mark.parametrize(
    "path", sorted((FIXTURES / "documents").iterdir()), ids=lambda path: path.name
)
def test_trees_of_documents(path: Path) -> None:
    assert_same(path.read_bytes().decode())


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_trees_of_hostile_texts(name: str) -> None:
    assert_same(CASES[name](1_000))


@pytest.mark.parametrize("text", CORNERS)
def test_trees_of_hard_cases(text: str) -> None:
    assert_same(text)
    assert_same(text.removesuffix("\n"))
    assert_same("".join(f"> {line}\n" for line in text.split("\n")))
    assert_same("- " + text.replace("\n", "\n  "))


@given(documents())
def test_trees_of_generated_markdown(text: str) -> None:
    if not _DIFFERENT.search(text):
        assert_same(text)


# The lines of lists: markers, the text of items, and the beginnings of other blocks.
MARKS = ("- ", "* ", "+ ", "1. ", "10. ", "12) ", "123456789. ", "-", "-   ", "-     ", "1.\t")
ITEM_TEXTS = (
    *("a", "b c  ", "**d** e", "_f_", "`g` h", "[i](j) k", "[l]", "[m]: n", "[^o]: p", "[^q]"),
    *("[ ] r", "[x] s", "[ ]", "[t", "[u\\]: v", "**", "* * *", "---", "===", "- -", "_ _ _", "__"),
    *("# w", "#x", "```", "``y``", "~~~", "~ z", ": a", ":::", "> b", "<div>", "<c>", "<!-- d -->"),
    *("| e |", "| f | g", "|---|", "-|-", "1", "2. h", "+", "!!! i", "$$", "%%", "\\", "&", "\xa0"),
)
ITEM_LINES = st.builds(
    "{}{}{}".format,
    st.sampled_from(("", "", " ", "  ", "   ", "    ", "      ", "         ")),
    st.sampled_from(("", "", *MARKS)),
    st.sampled_from(("", *ITEM_TEXTS)),
)


@given(st.lists(st.just("") | ITEM_LINES, min_size=1, max_size=9).map("\n".join))
@settings(max_examples=4 * settings().max_examples)
def test_trees_of_lists(text: str) -> None:
    assert_same(f"- {text}\n")


@pytest.mark.parametrize(("text", "plain"), DIFFERENT)
def test_texts_that_only_the_fast_parser_reads_rightly(text: str, plain: str) -> None:
    """If the stock parser has come to agree, remove every mention of the difference."""

    def contents(md: MarkdownIt, text: str) -> list[tuple[str, str]]:
        return list(walk(parsed(md, text)[0]))

    def walk(block: Block) -> Iterator[tuple[str, str]]:
        yield block.kind, block.content
        for child in block.children:
            yield from walk(child)

    fast, stock = parsers(())
    assert _DIFFERENT.search(text)
    assert contents(fast, text) == contents(stock, plain)
    assert contents(stock, text) != contents(stock, plain)
