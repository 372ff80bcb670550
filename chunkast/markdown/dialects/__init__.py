"""The supported dialects of Markdown, as rows of ``DIALECTS``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from chunkast.markdown.blocks import Arranged, Signs
from chunkast.markdown.dialects import jsx, links, math, mdx, obsidian
from chunkast.markdown.dialects.anchors import target_line
from chunkast.markdown.dialects.answers import answer_line, may_nest, nesting_fence
from chunkast.markdown.dialects.conflicts import MAY_CONFLICT, conflict_block
from chunkast.markdown.dialects.containers import MARKERS, container_rule, may_close_tags
from chunkast.markdown.dialects.definition_lists import MAY_DEFINE, add_definitions
from chunkast.markdown.dialects.html_blocks import arrange_html
from chunkast.markdown.dialects.html_headings import arrange_headings
from chunkast.markdown.dialects.paragraphs import (
    arrange_bold,
    arrange_captions,
    arrange_contents,
)
from chunkast.markdown.dialects.tabs import arrange_tabs
from chunkast.markdown.dialects.tags import may_have_tags, split_tags, tag_line
from chunkast.markdown.dialects.text_tables import may_have_tables, text_table
from chunkast.markdown.front_matter_lines import may_begin_page, page_front_matter, read_parts
from chunkast.markdown.html_tables import arrange_tables
from chunkast.markdown.kinds import Construct, add_construct
from chunkast.markdown.pipe_tables import arrange_pipes
from chunkast.markdown.scanner import InlineRule
from chunkast.model import Block

__all__ = ("DIALECTS", "Dialect", "add_dialect", "dialects_of", "item_marks")

TitleRule: TypeAlias = Callable[[StateInline, bool], bool]
Arrange: TypeAlias = Callable[[str, Block, Signs], Arranged]

# Item markers that Markdown does not know, at the start of a line.
BULLET: Final = re.compile(r"[ \t>]*(?:[•◦‣▪●○–]|\([a-z]{1,3}\))[ \t]+\S")
# The blocks that the dialects' rules interrupt.
_INTERRUPTED: Final = ["paragraph", "reference", "blockquote", "list"]


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    r"""The rules that an extension (a key of ``chunkast.config.EXTENSIONS``) adds to Markdown.

    switch: a function that enables a plugin, a rule or an option of the parser.
    rule: a block rule, which may interrupt paragraphs and is tried before the rule for fences.
    begins: the name of the block rule, and the characters with which its blocks can begin. By
        default, the name is the extension's, and blocks begin with any character.
    read: a function that replaces lines that the parser does not understand, one for one.
    arrange: a function that changes the tree after the parse.
    attached: a pattern for the first line of blocks that stay with the block before them.
    inline: rules for spans that must not be cut, keyed by first character and tried before
        CommonMark's own rules.
    titles: inline rules for the text of titles, keyed by name, each with the stock rule that it
        precedes.
    items: a pattern for lines inside a paragraph that begin a list item.
    constructs: the kinds of blocks that the rule adds.
    needs: a function that returns a true value if the dialect may affect the parser's input.
    """

    extension: str
    switch: Callable[[MarkdownIt], object] | None = None
    rule: Callable[[StateBlock, int, int, bool], bool] | None = None
    begins: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[str], str] | None = None
    arrange: Arrange | None = None
    attached: re.Pattern[str] | None = None
    inline: Mapping[str, InlineRule] = field(default_factory=dict)
    titles: Mapping[str, tuple[str, TitleRule]] = field(default_factory=dict)
    items: re.Pattern[str] | None = None
    constructs: tuple[Construct, ...] = ()
    needs: Callable[[str], object] | None = None

    def add_to(self, md: MarkdownIt) -> None:
        """Add the dialect's block rules to a parser."""
        if self.switch is not None:
            self.switch(md)
        if self.rule is not None:
            name = next(iter(self.begins), self.extension)
            md.block.ruler.before("fence", name, self.rule, {"alt": _INTERRUPTED})


def _option(name: str) -> Callable[[MarkdownIt], object]:
    return lambda md: md.options.update({name: True})


# The order matters. An extension without a row needs nothing here.
_ROWS: Final = (
    Dialect(
        "front_matter",
        rule=page_front_matter,
        begins={"page_matter": "-"},
        read=read_parts,
        needs=may_begin_page,
    ),
    Dialect("tables", lambda md: md.enable("table"), arrange=arrange_pipes),
    Dialect(
        "footnotes",
        footnote_plugin,
        begins={"footnote_def": "["},
        titles={
            "inline_note": ("autolink", links.inline_note),
            "note_reference": ("autolink", links.note_reference),
        },
    ),
    Dialect("quarto", inline={"{": jsx.expression}),
    Dialect(
        "containers", rule=container_rule(MARKERS["containers"]), begins={"container_block": ":"}
    ),
    Dialect(
        "admonitions", rule=container_rule(MARKERS["admonitions"]), begins={"admonition": "!?="}
    ),
    Dialect("conflicts", rule=conflict_block, begins={"conflict": "<"}, needs=MAY_CONFLICT.search),
    Dialect(
        "liquid",
        rule=container_rule(MARKERS["liquid"]),
        begins={"tag_block": "{"},
        needs=may_close_tags,
    ),
    Dialect("text_tables", rule=text_table, needs=may_have_tables),
    Dialect(
        "attributes",
        rule=target_line,
        begins={"target": "("},
        needs=lambda text: ")=" in text,
        constructs=(
            Construct("target", "lines", tokens=("target",), heads=True, labels=True, unnamed=True),
        ),
    ),
    Dialect("answers", rule=answer_line, begins={"answer": "`~"}),
    Dialect("answers", rule=nesting_fence, begins={"nesting_fence": "`~"}, needs=may_nest),
    Dialect(
        "obsidian",
        _option("alerts"),
        rule=obsidian.comment_block,
        begins={"obsidian_comment": "%"},
        read=obsidian.read,
        attached=obsidian.BLOCK_ID,
        inline={"%": obsidian.comment, "^": obsidian.block_id},
    ),
    # Before all other rows that arrange HTML.
    Dialect("html_tables", arrange=arrange_tables),
    Dialect("html_headings", arrange=arrange_headings),
    # After the headings of HTML are known, and before elements are found inside tabs.
    Dialect("containers", arrange=arrange_tabs),
    Dialect(
        "mdx",
        rule=mdx.mdx_block,
        begins={"mdx_block": "<{ie"},
        arrange=split_tags,
        inline={"<": jsx.tag, "{": jsx.expression},
    ),
    Dialect(
        "xml_tags", rule=tag_line, begins={"tag_line": "<"}, arrange=split_tags, needs=may_have_tags
    ),
    Dialect(
        "blocks",
        rule=container_rule(MARKERS["blocks"]),
        begins={"slash_block": "/"},
        arrange=arrange_html,
    ),
    # After the rows that relabel paragraphs otherwise.
    Dialect("captions", arrange=arrange_captions),
    Dialect("contents", arrange=arrange_contents),
    Dialect("bold_headings", arrange=arrange_bold),
    Dialect("bullets", items=BULLET),
    Dialect("alerts", _option("alerts")),
    Dialect("tasklists", _option("tasklists")),
    Dialect(
        "math",
        rule=math.math_block,
        begins={"math_block": "$\\"},
        inline={"$": math.formula, "\\": math.formula},
        titles={"math": ("link", math.title)},
    ),
    Dialect(
        "math",
        rule=math.section_line,
        begins={"latex_section": "\\"},
        needs=lambda text: "\\" in text and math.MAY_HEAD.search(text),
    ),
    Dialect("deflists", deflist_plugin),
    # After the row that reads more.
    Dialect("definitions", add_definitions, needs=MAY_DEFINE.search),
    Dialect("autolinks", inline={"h": links.bare_url, "w": links.bare_url}),
    Dialect(
        "wikilinks",
        inline={"[": links.wiki_link, "!": links.wiki_link},
        titles={"wiki_link": ("link", links.wiki_title)},
    ),
)


# The rows in use. ``add_dialect`` adds a row.
DIALECTS: Final[list[Dialect]] = []


def add_dialect(row: Dialect) -> None:
    """Add a dialect and its constructs, after all other dialects.

    Its extension must be a key of ``chunkast.config.EXTENSIONS``.
    """
    DIALECTS.append(row)
    for construct in row.constructs:
        add_construct(construct)
    dialects_of.cache_clear()


@lru_cache(maxsize=32)
def dialects_of(extensions: Collection[str]) -> tuple[Dialect, ...]:
    """Return the dialects of ``extensions``, in the order of ``DIALECTS``."""
    return tuple(dialect for dialect in DIALECTS if dialect.extension in extensions)


def item_marks(extensions: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns for lines inside a paragraph that begin a list item."""
    return tuple(row.items for row in dialects_of(extensions) if row.items is not None)


for _row in _ROWS:
    add_dialect(_row)
