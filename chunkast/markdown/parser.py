"""Parse a document with markdown-it-py, which is configured to parse only blocks.

The tree does not need inline parsing. When a paragraph has to be divided, ``inline.py`` finds the
spans that must not be cut.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.markdown.blocks import Pair, Signs, new_block, with_children
from chunkast.markdown.dialects import Dialect, dialects_of
from chunkast.markdown.fast import TREE, accelerate, parser_note
from chunkast.markdown.front_matter_lines import PAGES, front_matter_lines
from chunkast.markdown.inline import normalize_label
from chunkast.markdown.open_elements import nested
from chunkast.markdown.tree import TreeBuilder, paragraph_tree
from chunkast.model import Block
from chunkast.text.source_map import line_starts, make_array, parseable

__all__ = ("ParsedMarkdown", "parse_document", "parse_paragraphs")

_START = attrgetter("start")
_LOG = logging.getLogger(__name__)
# Levels of nesting that are parsed (a list takes two); text below them is a paragraph. Time grows
# with the product of depth and lazily continued lines.
_MAX_NESTING = 40


@dataclass(frozen=True, slots=True)
class ParsedMarkdown:
    """The block tree of a text, with its link labels, tags, wrappers, footnotes and pages.

    references: the normalized labels of the link definitions.
    tags: the spans of pairs of XML tags, sorted.
    wrappers: the sorted, non-crossing spans of the tags and components that enclose blocks.
    front_matter_end: the end of the front matter, or 0 if there is none.
    footnotes: the labels of the footnotes, as written in the text.
    pages: the spans of front matter inside the document, each of which begins a page.
    """

    tree: Block
    references: frozenset[str]
    tags: Sequence[tuple[int, int]]
    front_matter_end: int
    footnotes: frozenset[str] = frozenset()
    wrappers: Sequence[tuple[int, int]] = ()
    pages: Sequence[tuple[int, int]] = ()


def _stock_parser(dialects: tuple[Dialect, ...]) -> MarkdownIt:
    md = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    for dialect in dialects:
        dialect.add_to(md)
    # "normalize" is replaced by ``_normalized``; "inline" and later rules are not needed.
    md.core.ruler.enableOnly(["block"])
    return md


@lru_cache(maxsize=32)
def _parser(dialects: tuple[Dialect, ...]) -> MarkdownIt:
    md = _stock_parser(dialects)
    accelerate(md)
    _LOG.info("%s", parser_note())
    return md


_LINE_END = re.compile(r"\r\n?")


def _normalized(text: str, starts: Sequence[int], front_lines: int) -> str:
    r"""Return the text for the parser, with the same line numbers as the source.

    The byte order mark and the text of the front matter are removed. Line endings become ``\n``,
    and the last line always has one, since some plugins read the character after a line unchecked.
    """
    if front_lines:
        text = "\n" * front_lines + text[starts[front_lines] :]
    elif text.startswith("\ufeff"):
        text = text[1:]
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
    if text and not text.endswith("\n"):
        text += "\n"
    return parseable(text)


def parse_document(
    text: str, extensions: Sequence[str] = DEFAULT_EXTENSIONS, *, blanks: bool = True
) -> ParsedMarkdown:
    """Parse ``text`` with the named ``extensions`` (see ``chunkast.config.EXTENSIONS``).

    If ``blanks`` is false, the tree does not contain the blank lines between top-level blocks.
    """
    starts, front = _lines(text, extensions)
    dialects = dialects_of(frozenset(extensions))
    readable = _normalized(text, starts, front)
    # A list's loop is inlined; a generator's is a call for each row.
    dialects = tuple([row for row in dialects if row.needs is None or row.needs(readable)])
    for dialect in dialects:
        readable = dialect.read(readable) if dialect.read else readable
    builder = TreeBuilder(text, starts, front, blanks=blanks)
    env: dict[str, Any] = {TREE: builder, PAGES: [(0, front)]}
    tokens: list[Token] = []
    parser = _parser(dialects)
    parser.block.parse(readable, parser, env, tokens)
    builder.feed(tokens)
    references = frozenset(map(normalize_label, env.get("references", ())))
    # The plugin puts a colon before each label.
    footnotes = frozenset(label[1:] for label in env.get("footnotes", {}).get("refs", ()))
    pages = [(starts[first], starts[after]) for first, after in env[PAGES][1:]]
    tree = builder.document()
    # No tag or container extends beyond its page.
    tree = _with_pages(tree, pages) if pages else tree
    signs = Signs(text, builder.kinds)
    pairs: list[Pair] = []
    for arrange in dict.fromkeys(dialect.arrange for dialect in dialects if dialect.arrange):
        tree, found = arrange(text, tree, signs)
        pairs += found
    if pages:
        tree = with_children(tree, [block for page in tree.children for block in page.children])
    tags = [(pair.start, pair.end) for pair in pairs if pair.protected]
    wrappers = nested((pair.start, pair.end) for pair in pairs if pair.wraps)
    front_end = starts[front] if front else 0
    return ParsedMarkdown(tree, references, tags, front_end, footnotes, wrappers, pages)


def _with_pages(tree: Block, pages: Iterable[tuple[int, int]]) -> Block:
    """Return a document with a container for each page, and one for the blocks before them."""
    blocks = tree.children
    edges = [0, *(bisect_left(blocks, start, key=_START) for start, _ in pages), len(blocks)]
    parts = (blocks[first:last] for first, last in pairwise(edges) if first < last)
    containers = (new_block("container", part[0].start, part[-1].end, part) for part in parts)
    return with_children(tree, list(containers))


def parse_paragraphs(text: str, extensions: Sequence[str] = DEFAULT_EXTENSIONS) -> ParsedMarkdown:
    """Read ``text`` as front matter and paragraphs, without the parser. Never raises."""
    starts, front = _lines(text, extensions)
    tree = paragraph_tree(text, starts, front)
    return ParsedMarkdown(tree, frozenset(), (), starts[front] if front else 0)


def _lines(text: str, extensions: Sequence[str]) -> tuple[Sequence[int], int]:
    """Return the line starts of ``text``, and the number of lines of front matter."""
    starts = line_starts(text)
    front = front_matter_lines(text, starts) if "front_matter" in extensions else 0
    return make_array(starts, len(text), len(starts)), front
