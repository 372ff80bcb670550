"""The parser: markdown-it-py, set up to parse only blocks, and the parsed document.

The tree does not need inline parsing. When a paragraph has to be divided, ``inline.py`` finds the
spans that must not be cut.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.markdown.blocks import Signs
from chunkast.markdown.dialects import Arrange, Read, dialects_of
from chunkast.markdown.fast import TREE, accelerate, parser_note
from chunkast.markdown.inline import normalize_label
from chunkast.markdown.lines import front_matter_lines
from chunkast.markdown.tree import TreeBuilder, paragraph_tree
from chunkast.model import Block
from chunkast.text.source_map import line_starts, make_array, parseable

__all__ = ("ParsedMarkdown", "parse_blocks", "parse_document", "parse_paragraphs")

_LOG = logging.getLogger(__name__)
# Levels of nesting that are parsed (a list takes two); text below them is a paragraph. Time grows
# with the product of depth and lazily continued lines.
_MAX_NESTING = 40


@dataclass(frozen=True, slots=True)
class ParsedMarkdown:
    """The block tree of a text, and other results of the parse.

    references: the normalized labels of the link definitions.
    tags: the spans of pairs of XML tags, sorted.
    front_matter_end: the end of the front matter, or 0 if there is none.
    footnotes: the labels of the footnotes, as written in the text.
    """

    tree: Block
    references: frozenset[str]
    tags: Sequence[tuple[int, int]]
    front_matter_end: int
    footnotes: frozenset[str] = frozenset()


def _stock_parser(extensions: frozenset[str]) -> MarkdownIt:
    md = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    for dialect in dialects_of(extensions):
        dialect.add_to(md)
    # "normalize" is replaced by ``_normalized``; "inline" and later rules are not needed.
    md.core.ruler.enableOnly(["block"])
    return md


@lru_cache(maxsize=32)
def _parser(extensions: frozenset[str]) -> MarkdownIt:
    md = _stock_parser(extensions)
    accelerate(md)
    _LOG.info("%s", parser_note())
    return md


@lru_cache(maxsize=32)
def _steps(extensions: frozenset[str]) -> tuple[tuple[Read, ...], tuple[Arrange, ...]]:
    """Return the functions of dialects that run before the parse, and those that run after it."""
    dialects = dialects_of(extensions)
    arranges = dict.fromkeys(dialect.arrange for dialect in dialects if dialect.arrange)
    return tuple(dialect.read for dialect in dialects if dialect.read), tuple(arranges)


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
    starts = _line_starts(text)
    wanted = frozenset(extensions)
    front = _front_lines(text, starts, wanted)
    reads, arranges = _steps(wanted)
    readable = _normalized(text, starts, front)
    leaves: dict[int, tuple[str, str]] = {}
    for read in reads:
        readable = read(readable, leaves)
    builder = TreeBuilder(text, starts, front, leaves, blanks=blanks)
    env: dict[str, Any] = {TREE: builder}
    tokens: list[Token] = []
    parser = _parser(wanted)
    parser.block.parse(readable, parser, env, tokens)
    builder.feed(tokens)
    references = frozenset(map(normalize_label, env.get("references", ())))
    # The plugin puts a colon before each label.
    footnotes = frozenset(label[1:] for label in env.get("footnotes", {}).get("refs", ()))
    tree = builder.document()
    signs = Signs(text, html=builder.has_html, tables=builder.has_tables)
    tags: list[tuple[int, int]] = []
    for arrange in arranges:
        tree, found = arrange(text, tree, signs)
        tags += found
    return ParsedMarkdown(tree, references, tags, starts[front] if front else 0, footnotes)


def parse_paragraphs(text: str, extensions: Sequence[str] = DEFAULT_EXTENSIONS) -> ParsedMarkdown:
    """Read ``text`` as front matter and paragraphs, without the parser. Never raises."""
    starts = _line_starts(text)
    front = _front_lines(text, starts, frozenset(extensions))
    tree = paragraph_tree(text, starts, front)
    return ParsedMarkdown(tree, frozenset(), (), starts[front] if front else 0)


def parse_blocks(text: str, *, extensions: Sequence[str] = DEFAULT_EXTENSIONS) -> Block:
    """Return the block tree of ``text``: a ``document`` block whose leaves tile the text."""
    return parse_document(text, extensions).tree


def _line_starts(text: str) -> Sequence[int]:
    return make_array(line_starts(text), len(text))


def _front_lines(text: str, starts: Sequence[int], extensions: frozenset[str]) -> int:
    return front_matter_lines(text, starts) if "front_matter" in extensions else 0
