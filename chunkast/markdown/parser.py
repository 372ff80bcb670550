"""markdown-it-py, set up for blocks alone, and the document it yields.

Inline parsing is left out: the tree needs none of it, and what must not be cut inside
a paragraph is found by ``text/inline.py`` where a paragraph has to be divided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from markdown_it import MarkdownIt
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from chunkast.config import DEFAULT_EXTENSIONS
from chunkast.markdown.admonitions import admonition_plugin
from chunkast.markdown.divs import fenced_div_plugin
from chunkast.markdown.fast import DRAIN, TREE, accelerate
from chunkast.markdown.front_matter import front_matter_lines
from chunkast.markdown.math import math_plugin
from chunkast.markdown.reading import read_dialects
from chunkast.markdown.tags import split_tags
from chunkast.markdown.tree import TreeBuilder, paragraph_tree
from chunkast.model import Block
from chunkast.text.inline import normalize_label
from chunkast.text.source_map import line_starts, positions_in

__all__ = ("Document", "parse_blocks", "parse_document", "parse_paragraphs")

# Levels of nesting that are parsed (a list takes two); text below them is a paragraph.
# Time grows with the product of depth and lines where lines continue lazily.
_MAX_NESTING = 40


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text.

    ``references`` are the normalized labels of the link definitions, ``tags`` the spans
    of the blocks that pairs of XML tags enclose, sorted. ``front_matter_end`` is where the
    front matter ends; 0 if there is none.
    """

    tree: Block
    references: frozenset[str]
    tags: Sequence[tuple[int, int]]
    front_matter_end: int


def _containers(md: MarkdownIt) -> None:
    container_plugin(md, "block", validate=lambda params, _markup: bool(params.strip()))


# Extension -> how it is switched on; those missing here need nothing of the block parser.
_SWITCHES: Final[dict[str, Callable[[MarkdownIt], object]]] = {
    "tables": lambda md: md.enable("table"),
    "footnotes": footnote_plugin,
    # Asked before containers, which take what it leaves.
    "quarto": fenced_div_plugin,
    "containers": _containers,
    "admonitions": admonition_plugin,
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
    return md


_LINE_END = re.compile(r"\r\n?")


def _normalized(text: str, starts: Sequence[int], front_lines: int) -> str:
    r"""The text that the parser reads: line by line the source, but easier to read.

    A byte order mark and the front matter are taken out, keeping the lines; line ends
    become ``\n`` and NUL becomes U+FFFD, as CommonMark asks for.
    """
    if front_lines:
        text = "\n" * front_lines + text[starts[front_lines] :]
    elif text.startswith("\ufeff"):
        text = text[1:]
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
    return text.replace("\0", "\ufffd")


def parse_document(
    text: str, extensions: Sequence[str] = DEFAULT_EXTENSIONS, *, blanks: bool = True
) -> Document:
    """Parse ``text`` with the named ``extensions`` (see ``chunkast.config.EXTENSIONS``).

    Without ``blanks`` the tree leaves out blank lines between top-level blocks.
    Raises what the parser or a plugin of it raises, which none is known to do.
    """
    starts = _line_starts(text)
    wanted = frozenset(extensions)
    front = _front_lines(text, starts, wanted)
    reading = read_dialects(_normalized(text, starts, front), wanted)
    builder = TreeBuilder(text, starts, front, reading.leaves, blanks=blanks)
    env: dict[str, Any] = {DRAIN: builder.feed, TREE: builder}
    builder.feed(_parser(wanted).parse(reading.text, env))
    references = frozenset(map(normalize_label, env.get("references", ())))
    tree = builder.document()
    tags: list[tuple[int, int]] = []
    if wanted & {"xml_tags", "mdx"}:
        tree, tags = split_tags(text, tree, components="mdx" in wanted)
    return Document(tree, references, tags, starts[front] if front else 0)


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
