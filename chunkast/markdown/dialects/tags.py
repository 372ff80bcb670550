"""Find XML tags that structure prompts: ``<example>`` and ``</example>`` on separate lines.

Markdown reads such a line as text or raw HTML. Here, the lines of well-formed pairs become separate
leaves, so that the blocks between them can be kept together. HTML's own elements are unchanged.
Tags inside code, math and tables are text. An unclosed or crossing tag is also text, and does not
affect other tags.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Final, NamedTuple

import regex
from markdown_it.rules_block import StateBlock

from chunkast.markdown.blocks import Arranged, Pair, Signs, leaf_parts, rearranged
from chunkast.markdown.kinds import CONSTRUCTS
from chunkast.markdown.lines import add_leaf, find_line, marks_end
from chunkast.markdown.open_elements import OpenElements
from chunkast.model import Block
from chunkast.text.source_map import line_starts

__all__ = ("may_have_tags", "split_tags", "tag_line")

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
# Any tag, and a heading's line.
_NAMED = re.compile(r"<(/?)([^\s<>/]+)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|\Z)")
_KEY: Final = "chunkast_tags"
# The beginning and end of markup that is skipped, over any number of lines.
_IGNORED_MARKUP: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))


class _Tag(NamedTuple):
    """A tag on lines of its own, ``[start, end)``, in the leaf with the index ``leaf``.

    ``key`` is the tag's name and the start of its container; only tags with the same key can be a
    pair. Lists do not count as containers, since a tag's line after an item is part of the item (a
    lazy continuation line).

    ``outer`` is the start of the outermost block around the tag that is not a wrapper, or -1.
    """

    leaf: int
    start: int
    end: int
    key: tuple[str, int]
    outer: int
    closing: bool


def may_have_tags(text: str) -> bool:
    """Return whether ``text`` has closing tags other than HTML's; names are case-sensitive."""
    return not HTML_ELEMENTS.issuperset(_CLOSED_NAME.findall(text))


class _Known(NamedTuple):
    """The positions of the first opening and of the last closing tag of each name."""

    openers: Mapping[str, int]
    closers: Mapping[str, int]


def tag_line(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the line of a paired non-HTML tag if a heading follows before a blank line.

    CommonMark reads all lines up to the blank line as HTML; after an unpaired tag, this stays so.
    """
    if silent:
        return False
    at = state.bMarks[start] + state.tShift[start]
    tag = _OPENER.match(state.src, at) or _CLOSER.match(state.src, at)
    if tag is None or tag.end() > state.eMarks[start] or state.is_code_block(start):
        return False
    name = tag["name"]
    if name.lower() in HTML_ELEMENTS:
        return False
    known: _Known | None = state.env.get(_KEY)
    if known is None:
        known = state.env[_KEY] = _known_tags(state.src)
    opener, closer = known.openers.get(name, at), known.closers.get(name, at)
    is_paired = opener < at if tag[0].startswith("</") else at < closer
    if not is_paired:
        return False
    if find_line(state, start, end, "heading", _HEADING.match, html=True) < 0:
        return False
    return add_leaf(state, "html_block", start, start + 1)


def _known_tags(text: str) -> _Known:
    found = list(_NAMED.finditer(text))
    closers = {each[2]: each.start() for each in found if each[1]}
    openers = {each[2]: each.start() for each in reversed(found) if not each[1]}
    return _Known(openers, closers)


def split_tags(text: str, tree: Block, signs: Signs) -> Arranged:
    """Turn the lines of well-formed pairs into "tag" leaves, and return the pairs too.

    The ``info`` of a "tag" leaf is "open" or "close"; that of a "jsx" leaf is the tag. Pairs inside
    a list item or a quote are not wrappers.
    """
    if not signs.may_open("/"):
        return tree, []
    leaves: list[Block] = []
    tags: list[_Tag] = []
    for leaf, container, outer in _candidates(text, tree, -1, -1):
        tags.extend(_scan(text, leaf, len(leaves), container, outer))
        leaves.append(leaf)
    all_pairs = _pairs(tags)
    if not all_pairs:
        return tree, []
    pairs = set(_without_frames(all_pairs, leaves, tree))
    paired = sorted((tag for pair in pairs for tag in pair), key=attrgetter("start"))
    spans = sorted(
        Pair(
            first.start,
            last.end,
            (first, last) in pairs,
            first.outer < 0 or first.outer != last.outer,
        )
        for first, last in all_pairs
    )
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


def _candidates(
    text: str, block: Block, container: int, outer: int
) -> Iterator[tuple[Block, int, int]]:
    """Yield the leaves that may contain tags, each with its container and ``outer`` as in a tag."""
    if block.kind not in ("document", "list", "item"):
        container = block.start
    if outer < 0 and block.kind != "document" and not CONSTRUCTS[block.kind].wrapper:
        outer = block.start
    for child in block.children:
        if child.children:
            yield from _candidates(text, child, container, outer)
        elif child.kind == "jsx":
            if child.info:
                yield child, container, outer
        elif child.kind in ("paragraph", "html") and text.find("<", child.start, child.end) >= 0:
            yield child, container, outer


def _scan(text: str, leaf: Block, number: int, container: int, outer: int) -> Iterator[_Tag]:
    """Yield a leaf's tags that are on lines of their own."""
    if leaf.kind == "jsx":
        key = leaf.info.strip("</>"), container
        yield _Tag(number, leaf.start, leaf.end, key, outer, leaf.info.startswith("</"))
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
            yield _Tag(number, start, starts[line], (match["name"], container), outer, closing)


def _pairs(tags: Sequence[_Tag]) -> list[tuple[_Tag, _Tag]]:
    """Return pairs of opening and closing tags; unpaired tags are dropped."""
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
