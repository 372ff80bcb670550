"""XML tags that structure prompts: ``<example>`` and ``</example>`` on lines of their own.

Markdown reads such a line as text or raw HTML. Here, the lines of well-formed pairs become leaves
of their own, so that the blocks between them can be kept together. HTML's own elements are left
unchanged. Tags inside code, math and tables are text. An unclosed or crossing tag is also text, and
affects nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Final, NamedTuple

import regex

from chunkast.markdown.blocks import Signs, leaf_parts, rearranged
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.lines import marks_end
from chunkast.markdown.open_elements import OpenElements
from chunkast.model import Block
from chunkast.text.source_map import line_starts

__all__ = ("split_tags",)

# One text, split once, reads better than 120 quoted names.
HTML_ELEMENTS: Final = frozenset(
    """a abbr address area article aside audio b base bdi bdo blockquote body br button canvas
    caption cite code col colgroup data datalist dd del details dfn dialog div dl dt em embed
    fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe
    img input ins kbd label legend li link main map mark menu meta meter nav noscript object ol
    optgroup option output p picture pre progress q rp rt ruby s samp script search section select
    slot small source span strong style sub summary sup table tbody td template textarea tfoot th
    thead time title tr track u ul var video wbr""".split()  # noqa: SIM905
)
_NAME = r"(?P<name>[\p{L}_][\p{L}\p{N}_.:\-]*+)"
_LINE_TAIL = r"[ \t]*+(?=[\r\n]|\Z)"
_CLOSER = regex.compile(rf"</{_NAME}\s*+>{_LINE_TAIL}")
# Attributes may contain ">" inside quotes and span several lines.
_OPENER = regex.compile(
    rf"<{_NAME}(?:\s(?:[^<>\"'/]++|\"[^\"]*+\"|'[^']*+'|/(?!>))*+)?+>{_LINE_TAIL}"
)
# A closing tag anywhere.
_CLOSED_NAME = re.compile(r"</([^\s>]*)")
# The beginning and end of markup that is skipped, over any number of lines.
_IGNORED_MARKUP: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))


class _Tag(NamedTuple):
    """A tag on lines of its own, ``[start, end)``, in the leaf with the index ``leaf``.

    ``key`` is the tag's name and the start of its container; only tags with the same key can be a
    pair. Lists do not count as containers, since a tag's line after an item is part of the item (a
    lazy continuation line).
    """

    leaf: int
    start: int
    end: int
    key: tuple[str, int]
    closing: bool


def split_tags(text: str, tree: Block, signs: Signs) -> tuple[Block, list[tuple[int, int]]]:
    """Turn the lines of well-formed pairs into "tag" leaves, and return the pairs' spans too.

    A tag leaf's ``info`` is "open" or "close". A span includes the opening and closing lines. For a
    "jsx" leaf, the leaf's ``info`` is the tag.
    """
    # Names are case-sensitive: those of MDX's components are never in lower case.
    if not signs.may_open("/") or HTML_ELEMENTS.issuperset(_CLOSED_NAME.findall(text)):
        return tree, []
    leaves: list[Block] = []
    tags: list[_Tag] = []
    for leaf, container in _candidates(text, tree, -1):
        tags.extend(_scan(text, leaf, len(leaves), container))
        leaves.append(leaf)
    pairs = list(_without_frames(_pairs(tags), leaves, tree))
    if not pairs:
        return tree, []
    paired = sorted((tag for pair in pairs for tag in pair), key=attrgetter("start"))
    spans = sorted((opener.start, closer.end) for opener, closer in pairs)
    parts = {
        leaves[number].start: tuple(_split(text, leaves[number], inside))
        for number, inside in groupby(paired, key=attrgetter("leaf"))
    }

    def with_parts(blocks: list[Block]) -> list[Block]:
        kept = (
            (block,) if block.children else parts.get(block.start, (block,)) for block in blocks
        )
        return list(chain.from_iterable(kept))

    return rearranged(tree, with_parts), spans


def _candidates(text: str, block: Block, container: int) -> Iterator[tuple[Block, int]]:
    """Yield the leaves that may contain tags, and the start of the container around each."""
    if block.kind not in ("document", "list", "item"):
        container = block.start
    for child in block.children:
        if child.children:
            yield from _candidates(text, child, container)
        elif child.kind == "jsx":
            if child.info:
                yield child, container
        elif child.kind in ("paragraph", "html") and text.find("<", child.start, child.end) >= 0:
            yield child, container


def _scan(text: str, leaf: Block, number: int, container: int) -> Iterator[_Tag]:
    """Yield a leaf's tags that are on lines of their own."""
    if leaf.kind == "jsx":
        key = leaf.info.strip("</>"), container
        yield _Tag(number, leaf.start, leaf.end, key, leaf.info.startswith("</"))
        return
    starts = line_starts(text, leaf.start, leaf.end)
    line = 0
    while line + 1 < len(starts):
        start = starts[line]
        line += 1
        at = marks_end(text, start, starts[line])
        if not text.startswith("<", at):
            continue
        end = at
        skipped = next((pair for pair in _IGNORED_MARKUP if text.startswith(pair[0], at)), None)
        if skipped is not None:
            opener, closer = skipped
            last = text.find(closer, at + len(opener), leaf.end)
            end = leaf.end if last < 0 else last + len(closer)
        else:
            closing = text.startswith("</", at)
            match = (_CLOSER if closing else _OPENER).match(text, at, leaf.end)
            if match is None or match["name"].lower() in HTML_ELEMENTS:
                continue
            end = match.end()
        while line + 1 < len(starts) and starts[line] < end:
            line += 1
        if skipped is None:
            yield _Tag(number, start, starts[line], (match["name"], container), closing)


def _pairs(tags: Sequence[_Tag]) -> list[tuple[_Tag, _Tag]]:
    """Return pairs of opening and closing tags; tags without a partner are dropped."""
    pairs: list[tuple[_Tag, _Tag]] = []
    elements: OpenElements[tuple[str, int], _Tag] = OpenElements()
    for tag in tags:
        if not tag.closing:
            elements.open(tag.key, tag)
        elif closed := elements.close(tag.key):
            pairs.append((closed[-1], tag))
    return pairs


def _without_frames(
    pairs: Sequence[tuple[_Tag, _Tag]], leaves: Sequence[Block], tree: Block
) -> Iterator[tuple[_Tag, _Tag]]:
    """Yield the pairs of tags, except components that wrap whole sections.

    Such components are page layout.
    """
    sections = [
        block.start
        for block in tree.children
        if CONSTRUCTS[block.kind].section and block.level <= 2
    ]
    for opener, closer in pairs:
        first, last = leaves[opener.leaf], leaves[closer.leaf]
        inside = bisect_left(sections, last.start) - bisect_left(sections, first.start)
        if first.kind != "jsx" or not inside:
            yield opener, closer


def _split(text: str, leaf: Block, tags: Iterable[_Tag]) -> Iterator[Block]:
    """Split a leaf into its tag lines and the parts before, between and after them."""
    spans = ((tag.start, tag.end, "tag", "close" if tag.closing else "open") for tag in tags)
    return leaf_parts(text, leaf, spans)
