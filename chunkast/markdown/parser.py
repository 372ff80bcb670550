"""markdown-it-py, set up for blocks alone, and the parsed document.

Inline parsing is left out: the tree needs none of it, and what must not be cut inside
a paragraph is found by ``text/inline.py`` where a paragraph has to be divided.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.markdown.admonitions import admonition_plugin
from chunkast.markdown.containers import container_plugin
from chunkast.markdown.divs import fenced_div_plugin
from chunkast.markdown.fast import DRAIN, TREE, accelerate, parser_note
from chunkast.markdown.front_matter import front_matter_lines
from chunkast.markdown.html_blocks import arrange_html, has_anchors
from chunkast.markdown.math import math_plugin
from chunkast.markdown.reading import read_dialects
from chunkast.markdown.slash_blocks import slash_block_plugin
from chunkast.markdown.tags import split_tags
from chunkast.markdown.tree import TreeBuilder, paragraph_tree
from chunkast.model import Block
from chunkast.text.inline import normalize_label
from chunkast.text.source_map import line_starts, parseable, positions_in

__all__ = ("Document", "parse_blocks", "parse_document", "parse_paragraphs")

_LOG = logging.getLogger(__name__)
# A document with more blocks on which the parser fails is read without the parser.
_MAX_FAILURES = 8
# Levels of nesting that are parsed (a list takes two); text below them is a paragraph.
# Time grows with the product of depth and lines where lines continue lazily.
_MAX_NESTING = 40


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text.

    ``references`` are the normalized labels of the link definitions, ``footnotes`` the
    labels of the footnotes as they are written, ``tags`` the spans of the blocks that pairs
    of XML tags enclose, sorted. ``front_matter_end`` is where the front matter ends; 0 if
    there is none. ``notes`` say which blocks the parser failed on.
    """

    tree: Block
    references: frozenset[str]
    tags: Sequence[tuple[int, int]]
    front_matter_end: int
    notes: tuple[str, ...] = ()
    footnotes: frozenset[str] = frozenset()


# Extension -> how it is switched on; those missing here need nothing of the block parser.
_SWITCHES: Final[dict[str, Callable[[MarkdownIt], object]]] = {
    "tables": lambda md: md.enable("table"),
    "footnotes": footnote_plugin,
    # Tried before containers, which match the rest.
    "quarto": fenced_div_plugin,
    "containers": container_plugin,
    "admonitions": admonition_plugin,
    "blocks": slash_block_plugin,
    "obsidian": lambda md: md.options.__setitem__("alerts", True),
    "alerts": lambda md: md.options.__setitem__("alerts", True),
    "tasklists": lambda md: md.options.__setitem__("tasklists", True),
    "math": math_plugin,
    "deflists": deflist_plugin,
}


def _stock_parser(extensions: frozenset[str]) -> MarkdownIt:
    md = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    for name, switch in _SWITCHES.items():
        if name in extensions:
            switch(md)
    # "normalize" is done here, on the lines; "inline" and what comes after is not needed.
    md.core.ruler.enableOnly(["block"])
    return md


@lru_cache(maxsize=32)
def _parser(extensions: frozenset[str]) -> MarkdownIt:
    md = _stock_parser(extensions)
    accelerate(md)
    _LOG.info("%s", parser_note())
    return md


_LINE_END = re.compile(r"\r\n?")


def _normalized(text: str, starts: Sequence[int], front_lines: int) -> str:
    r"""The text that the parser reads: line by line the source, but easier to read.

    A byte order mark and the front matter are taken out, keeping the lines; line ends
    become ``\n``, and the last line has one, since some plugins look at the character after
    a line without checking whether there is one.
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
) -> Document:
    """Parse ``text`` with the named ``extensions`` (see ``chunkast.config.EXTENSIONS``).

    A block on which the parser or a plugin fails (none is known) is read as a paragraph. Raises
    the parser's exception if there are too many of them. Without ``blanks`` the tree
    leaves out blank lines between top-level blocks.
    """
    starts = _line_starts(text)
    wanted = frozenset(extensions)
    front = _front_lines(text, starts, wanted)
    reading = read_dialects(_normalized(text, starts, front), wanted)
    builder = TreeBuilder(text, starts, front, reading.leaves, blanks=blanks)
    env: dict[str, Any] = {DRAIN: builder.feed, TREE: builder}
    notes = tuple(_parse(builder, _parser(wanted), reading.text, env))
    references = frozenset(map(normalize_label, env.get("references", ())))
    # The plugin puts a colon before each label.
    footnotes = frozenset(label[1:] for label in env.get("footnotes", {}).get("refs", ()))
    tree = builder.document()
    tags: list[tuple[int, int]] = []
    if wanted & {"xml_tags", "mdx"}:
        tree, tags = split_tags(text, tree, components="mdx" in wanted)
    if "blocks" in wanted and (builder.has_html or has_anchors(text)):
        tree = arrange_html(text, tree)
    return Document(tree, references, tags, starts[front] if front else 0, notes, footnotes)


def _parse(builder: TreeBuilder, parser: MarkdownIt, text: str, env: dict[str, Any]) -> list[str]:
    """Parse ``text`` into the tree; a block that fails becomes a paragraph, and a note."""
    notes: list[str] = []
    while True:
        tokens: list[Token] = []
        try:
            parser.block.parse(text, parser, env, tokens)
        except MemoryError:
            raise
        except Exception as error:
            if len(notes) == _MAX_FAILURES:
                raise
            builder.feed(_whole_blocks(tokens))
            first, last = builder.skip_block()
            notes.append(
                f"the Markdown parser failed at line {first + 1} ({type(error).__name__}: {error}); "
                "up to the next blank line the text was read as a paragraph"
            )
            # Blank lines instead of the parsed ones keep the line numbers.
            text = "\n" * last + text.split("\n", last)[-1]
        else:
            builder.feed(tokens)
            return notes


def _whole_blocks(tokens: list[Token]) -> list[Token]:
    """The tokens of whole top-level blocks, without those of one that was only begun."""
    end = len(tokens)
    while end and not _ends_block(tokens[end - 1]):
        end -= 1
    return tokens[:end]


def _ends_block(token: object) -> bool:
    return isinstance(token, Token) and token.level == 0 and token.nesting <= 0


def parse_paragraphs(text: str, extensions: Sequence[str] = DEFAULT_EXTENSIONS) -> Document:
    """``text`` as front matter and paragraphs alone, without the parser. Never raises."""
    starts = _line_starts(text)
    front = _front_lines(text, starts, frozenset(extensions))
    tree = paragraph_tree(text, starts, front)
    return Document(tree, frozenset(), (), starts[front] if front else 0)


def parse_blocks(text: str, *, extensions: Sequence[str] = DEFAULT_EXTENSIONS) -> Block:
    """The block tree of ``text``: a ``document`` whose leaves tile it."""
    return parse_document(text, extensions).tree


def _line_starts(text: str) -> Sequence[int]:
    starts = line_starts(text)
    keep = positions_in(text, len(starts))
    return starts if keep is list else keep(starts)


def _front_lines(text: str, starts: Sequence[int], extensions: frozenset[str]) -> int:
    return front_matter_lines(text, starts) if "front_matter" in extensions else 0
