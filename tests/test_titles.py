"""Titles against what the stock parser renders: the text a reader sees in a heading."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from chunkast import Chunker, normalize_text
from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.index import Store
from tests.tables import cases

FIXTURES = Path(__file__).parents[1] / "fixtures"
# Extensions -> what the stock parser needs for the same.
FLAVOURS = ((), ("tables",), ("tables", "footnotes"))
LONGEST = 2_000


def titles(text: str, extensions: Sequence[str] = DEFAULT_EXTENSIONS) -> list[str]:
    analysis = Chunker(extensions=tuple(extensions)).analyze(text)
    return [heading.title for heading in analysis.headings]


def _tag(tokens: Sequence[Token], place: int, *_: object) -> str:
    return " " if re.match(r"<br[\s/>]", tokens[place].content, re.IGNORECASE) else ""


def _nothing(*_: object) -> str:
    return ""


def stock_parser(extensions: Sequence[str]) -> tuple[MarkdownIt, RendererHTML]:
    md = MarkdownIt("commonmark", {"maxNesting": 40})
    if extensions:
        md.enable(["table", "strikethrough"])
    if "footnotes" in extensions:
        footnote_plugin(md)

    renderer = cast("RendererHTML", md.renderer)

    def image(tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        return renderer.renderInline(tokens[place].children or [], options, env)

    rules: Any = renderer.rules
    rules |= {"html_inline": _tag, "image": image, "footnote_ref": _nothing}
    return md, renderer


PARSERS: Mapping[tuple[str, ...], tuple[MarkdownIt, RendererHTML]] = {
    each: stock_parser(each) for each in FLAVOURS
}


def rendered(text: str, extensions: tuple[str, ...]) -> Iterator[str]:
    """The text of the top-level headings as they are rendered."""
    md, renderer = PARSERS[extensions]
    env: dict[str, Any] = {}
    tokens = md.parse(text, env)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0:
            page = renderer.renderInline(inline.children or [], md.options, env)
            yield normalize_text(html.unescape(re.sub(r"<[^>]*>", "", page)))


def assert_rendered(text: str) -> None:
    # The title is the matter here, not how a document is decoded.
    text = text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")
    for extensions in FLAVOURS:
        expected = list(rendered(text, extensions))
        found = titles(text, extensions)
        assert len(found) == len(expected), extensions
        for mine, theirs in zip(found, expected, strict=True):
            # Longer titles are taken as they are.
            if len(mine) < LONGEST:
                assert mine == theirs, extensions


def examples() -> Iterator[str]:
    for name in ("commonmark.json", "gfm_tables.json"):
        for each in json.loads((FIXTURES / "conformance" / name).read_text("ascii"))["examples"]:
            yield each["markdown"]


def test_titles_are_the_text_of_the_specifications_examples() -> None:
    for text in examples():
        assert_rendered(text)


@pytest.mark.slow
def test_every_example_of_inline_content_is_a_title() -> None:
    """The examples without headings, each line of text a heading, definitions left as they are."""
    for text in examples():
        lines = text.split("\n")
        assert_rendered(
            "\n".join(f"# {line}\n" if line[:1] not in "[ " else line for line in lines)
        )
        assert_rendered(f"# {' '.join(lines)}\n\n[foo]: /url\n\n[bar]: /u\n")


@pytest.mark.parametrize(
    "path", sorted((FIXTURES / "documents").glob("*.md")), ids=lambda path: path.name
)
def test_titles_are_the_text_of_documents(path: Path) -> None:
    text = path.read_bytes().decode()
    assert_rendered(re.sub(r"\A\ufeff?(---|\+\+\+)\n.*?\n\1\n", "", text, flags=re.DOTALL))


PIECES = st.sampled_from(
    [
        *("[ref]", "[Ref][]", "[text *x*][ref]", "[a][none]", "[none]", "[1.2.0]", "[ẞ]", "[SS]"),
        *("![alt *x*][ref]", "![ref]", "![none]", "![a `b` <c>](/u)", "[![b](u)][ref]", "[[ref]]"),
        *("[^1]", "[^none]", "[^1][ref]", "[x[^1]](u)", "[^a[^1]", "![^1]", "^[in *x* [y]]", "^[]"),
        *("[1.2.0](https://a.b/c...d?e=f&g#h)", "[x y](#z)", "[p](./q)", "[r](javascript:s)"),
        *("[l](/u)", "[l](", "(u)", "[", "]", "!", "^", "\\", "\\[ref]", "[ref\\]", "[ re  f ]"),
        *("`[ref]`", "``a ` b``", "`", "<b>", "<br>", "</b>", "<!-- [ref] -->", "<https://a.b/c>"),
        *("*", "**", "_", "__", "a_b", "~~", "~", "&amp;", "&", "&#91;", "$", "$x_1$", ":smile:"),
        *("`a *b* \\`", "` c `", "`&amp;`", "`d`"),
        *(" ", " ", "a", "word", ".", "é", "\x1c", "\x85", "\xa0", "[x]", "{#id", "#"),
    ]
)
DEFINITIONS = "\n\n[REF]: /u\n[1.2.0]: /v 'title'\n[re f]: <>\n[ẞ]: /s\n[^1]: Note\n"


@given(st.lists(PIECES, max_size=12).map("".join), st.booleans())
@example("[a\\", True)
@example("[a][ref] [ref](", False)
def test_titles_of_pieces_are_as_rendered(content: str, underlined: bool) -> None:
    heading = f"{content}\n===" if underlined else f"# {content}"
    assert_rendered(heading + DEFINITIONS)


@cases("titles", "extensions")
def test_titles_with_and_without_extensions(text: str, shown: list[str], plain: list[str]) -> None:
    assert titles(text) == shown
    assert titles(text, ()) == plain


@pytest.mark.parametrize(
    "document",
    ["# {}\n\nText.\n", "{}\n===\n\nText.\n", "---\ntitle: {}\n---\n\nText.\n"],
)
def test_titles_longer_than_any_are_shortened(document: str) -> None:
    for size in (LONGEST, LONGEST + 1, 30_000):
        title = ("word " * size)[: size - 1] + "e"
        text = document.format(title)
        shown = title if size == LONGEST else f"{title[: LONGEST - 1]}…"
        chunks = Chunker(max_tokens=64).chunk(text)
        assert chunks[-1].sections[-1] == (shown,)
        assert chunks[-1].text.endswith("Text.")
        sections = Chunker().outline(text).sections
        assert shown in sections[-1].path


def test_an_index_of_a_long_title_grows_linearly(tmp_path: Path) -> None:
    sizes = []
    for count in (1_000, 4_000):
        path = tmp_path / f"{count}.db"
        with Store(str(path), create=True) as store:
            text = f"# {'title word ' * count}\n\nText.\n"
            store.update([("a.md", text)], Chunker(max_tokens=64))
        sizes.append(path.stat().st_size)
    assert sizes[1] < 5 * sizes[0]


def test_wiki_links_and_math_in_titles() -> None:
    shown = {
        "[[Page]]": "Page",
        "[[Page#Part]]": "Page#Part",
        "[[#Part]]": "Part",
        "[[Page#^ab12]]": "Page",
        "[[Page|]]": "Page",
        "![[boat.png]]": "boat.png",
        "![[boat.png|120x80]]": "boat.png",
        "![[boat.png|A boat]]": "A boat",
        "[[a*b*|c_d_]]": "c_d_",
        "[[]]": "[[]]",
        "`[[Page]]`": "[[Page]]",
        "\\[[Page]]": "[[Page]]",
        "$ *a* $": "$ a $",
    }
    kept = ["$$x_i [r] *y*$$", "costs $5 or $10", "$a \\$ *b*$", ":smile: $x$"]
    headings = "".join(f"# {content}\n\n" for content in (*shown, *kept)) + "[r]: /u\n"
    assert titles(headings) == [*shown.values(), *kept]


@cases("titles", "HTML")
def test_a_heading_in_html_is_alone_in_its_block(block: str, titles: list[str]) -> None:
    text = f"{block}\n\nText.\n\n### Next\n\nMore.\n"
    found = Chunker().analyze(text).headings
    assert [heading.title for heading in found] == [*titles, "Next"]
    plain = Chunker(extensions=()).analyze(text).headings
    assert [heading.title for heading in plain] == ["Next"]
    if titles and found[0].level < 3:
        assert found[1].path == (*titles, "Next")
        assert Chunker(max_tokens=8, min_tokens=0).chunk(text)[-1].headings == (*titles, "Next")


@cases("titles", "permalinks")
def test_a_permalink_is_no_part_of_a_title(content: str, title: str, anchor: str) -> None:
    text = f"# {content}\n\nText.\n\n[r]: #other\n"
    [section] = Chunker().outline(text).sections[1:]
    assert (section.path, section.anchor) == ((title,), anchor)
    [chunk] = Chunker().chunk(text)
    assert (chunk.text, chunk.headings) == (text.rstrip(), (title,))


def test_an_html_heading_has_no_permalink() -> None:
    text = '<h2 id="g">Gauges &amp; more<a class="headerlink" href="#g">&para;</a></h2>\n\nText.\n'
    [section] = Chunker().outline(text).sections[1:]
    assert (section.path, section.anchors) == (("Gauges & more",), ("g", "gauges--more"))
