"""Blocks that a later chunk cannot be understood without, found in the source alone.

markdown-it-py reads headings, lists and tables; alerts and tabs are read line by line, since each
dialect has its own. Nothing here uses chunkast. Spans count characters other than white space, as
in :mod:`tests.bench.facts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from markdown_it.token import Token

from tests.bench.facts import Source, squeezed

__all__ = ("Block", "blocks", "heading_ends", "sublists")

# Enough of an opener to recognize it: it may be shortened.
_KEY = 16
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)*(?P<run>`{3,}|~{3,})(?P<info>.*)")
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
_ALERT = (
    r"(?:\{[^}]*\.callout-|\{?(?:callout-)?(?:note|tip|info|warning|danger|caution|important)\b)"
)
_INDENTED = r" {0,INDENT}\S"
# Kind, opening line, first line after the block, and whether that line has to be there.
_BY_LINES = (
    ("alert", r" {0,3}>\s*(?P<mark>\[!\w+\])", r"(?!\s*>)", False),
    ("alert", r"(?P<indent>\s*)(?:!!!|\?\?\?\+?)\s+\S", _INDENTED, False),
    ("alert", rf"\s*(?P<colons>:{{3,}})\s*{_ALERT}", r"\s*COLONS\s*$", True),
    ("tab", r"\s*#{1,6}\s*\[(?P<mark>[^\]]+)\]\(#tab/", r"\s*#{1,6}\s| {0,3}(-[ \t]*){3,}$", False),
    ("tab", r'(?P<indent>\s*)===[!+]? "(?P<mark>[^"]+)"', _INDENTED, False),
    ("tab", r"""\s*<TabItem\b[^>]*?\blabel=["'](?P<mark>[^"']+)""", r".*</TabItem>", True),
)
_TITLE = re.compile(r"\s*#{1,6}\s+(?P<title>.+?)(?:\s+\{.*\})?\s*$")


class Block(NamedTuple):
    """A chunk that begins from ``start`` to before ``end`` needs one of ``openers``."""

    kind: str
    start: int
    end: int
    openers: tuple[str, ...]


def blocks(source: Source) -> Iterator[Block]:
    """Yield everything that has an opener."""
    yield from _lists(source)
    yield from _alerts_and_tabs(source)


def heading_ends(source: Source) -> set[int]:
    """Return the ends of outer headings that text follows; tabs and front matter are none."""
    titles = {id(token): inline.content for token, inline in pairwise(source.tokens)}
    last = -1
    for token in source.outer:
        is_comment = token.type == "html_block" and token.content.lstrip().startswith("<!--")
        is_text = not is_comment and token.type not in {"heading_open", "hr"}
        if is_text and not titles.get(id(token), "").startswith("[^"):
            last = _lines_of(token)[0]
    ruled = {_lines_of(token)[1] for token in source.outer if token.type == "hr"}
    return {
        _span(source, token)[1]
        for token in source.outer
        if token.type == "heading_open"
        and _lines_of(token)[0] < last
        and not (token.markup == "-" and _lines_of(token)[0] in ruled)
        and "(#tab/" not in titles[id(token)]
    }


def sublists(source: Source) -> set[int]:
    """Return the starts of lists that directly follow the first paragraph of an item."""
    return {
        _span(source, after)[0]
        for item, _, _, after in _paragraphs(source)
        if item.type == "list_item_open" and after.type in _LISTS
    }


def _lists(source: Source) -> Iterator[Block]:
    """Yield lists below a lead-in, and the rest of each item after its first paragraph."""
    for before, paragraph, text, after in _paragraphs(source):
        start, end = _span(source, paragraph)
        last = _SENTENCE.split(text.content.strip())[-1]
        if after.type in _LISTS and not after.level and last.rstrip("*_ ").endswith((":", "：")):
            start, end = _span(source, after)
            yield Block("list", start + 1, end, (squeezed(last)[:_KEY],))
        elif before.type == "list_item_open":
            first = re.sub(r"^\[[ xX]\]\s+", "", text.content).split("\n")[0]
            yield Block("item", end, _span(source, before)[1], (squeezed(first)[:_KEY],))


def _paragraphs(source: Source) -> Iterator[tuple[Token, Token, Token, Token]]:
    """Yield the token before each paragraph, the paragraph, its text, and the token after it."""
    tokens = [Token("", "", 0), *source.tokens, Token("", "", 0)]
    for at, token in enumerate(tokens):
        if token.type == "paragraph_open":
            yield tokens[at - 1], token, tokens[at + 1], tokens[at + 3]


def _alerts_and_tabs(source: Source) -> Iterator[Block]:
    lines = [source.text[start:end].rstrip("\r\n") for start, end in pairwise(source.lines)]
    outside = _outside_fences(lines)
    for number in filter(outside.__contains__, range(len(lines))):
        for kind, opening, after, must_close in _BY_LINES:
            if not (found := re.match(opening, lines[number])):
                continue
            named = {"indent": "", "colons": "", "mark": "", **found.groupdict()}
            closing = after.replace("INDENT", str(len(named["indent"])))
            closes = re.compile(closing.replace("COLONS", named["colons"])).match
            rest = range(number + 1, len(lines))
            end = next((at for at in rest if at in outside and closes(lines[at])), None)
            if end is None and must_close:
                continue
            openers = [named["mark"] or lines[number]]
            inside = next(filter(str.strip, lines[number + 1 :]), "")
            if title := named["colons"] and _TITLE.match(inside):
                openers.append(title["title"])  # a heading is the title of a callout
            start, last = (
                source.before[source.lines[at]] for at in (number + 1, end or len(lines))
            )
            yield Block(kind, start, last, tuple(map(squeezed, openers)))


def _outside_fences(lines: list[str]) -> set[int]:
    run = ""
    outside = set()
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if not run:
            outside.add(number)
            if found and not (found["run"][0] == "`" and "`" in found["info"]):
                run = found["run"]
        elif found and not found["info"].strip() and found["run"].startswith(run):
            run = ""
    return outside


def _lines_of(token: Token) -> tuple[int, int]:
    first, last = token.map or (0, 0)
    return first, last


def _span(source: Source, token: Token) -> tuple[int, int]:
    first, last = _lines_of(token)
    return source.before[source.lines[first]], source.before[source.lines[last]]
