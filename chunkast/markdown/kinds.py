"""One row per Markdown construct: its name in the parser and how it is treated.

A new construct is a row here (and a fixture); the break points, regions, splitters and
the packer read these rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

__all__ = (
    "CONSTRUCTS",
    "CONTAINER_TOKENS",
    "LEAF_TOKENS",
    "Construct",
    "Shape",
    "kinds_where",
)

Shape = Literal["prose", "code", "table", "html-table", "lines", "container"]


@dataclass(frozen=True, slots=True)
class Construct:
    """How blocks of one kind are treated.

    shape: along what a block larger than the budget divides.
    score: the row of the score table for the point before the block.
    leveled: that row depends on the block's level instead.
    after: the same score counts after the block.
    protected: it is not cut while it fits.
    introducible: it belongs to a lead-in, as a line ending with a colon, before it.
    leads: its last line may be such a line.
    heads: it never stands without the block after it.
    prefaces: it is not text of a section: it goes with the section after it where it fits.
    clings: it never stands without the block before it.
    section: at the top level it opens a section.
    pseudo: it is a heading where ``pseudo_headings`` asks for it.
    labels: right before a heading it belongs to the heading's section.
    silent: it says nothing alone.
    edge: it stands at the edge of a page, where the text around it may go on.
    mark: it marks that edge, and says nothing else.
    plain: text without a mark of its own, of which Obsidian and others make more.
    nests: it is a level of nesting for itself and the blocks inside it.
    fenced: its opening line names a language, and stands around each of its parts.
    delimited: its first and last line belong to what is between them.
    tag: its ``info`` says whether it opens or closes a block; it scores by that.
    marker: it is but the mark of the container that it opens or closes.
    blank: it has no text.
    unnamed: a chunk's kinds leave it out.
    named: what a chunk's kinds call it: its kind unless said.
    """

    kind: str
    shape: Shape
    score: str = "paragraph"
    after: bool = False
    protected: bool = False
    introducible: bool = False
    leveled: bool = False
    heads: bool = False
    leads: bool = False
    prefaces: bool = False
    clings: bool = False
    section: bool = False
    pseudo: bool = False
    labels: bool = False
    silent: bool = False
    edge: bool = False
    mark: bool = False
    plain: bool = False
    nests: bool = False
    fenced: bool = False
    delimited: bool = False
    tag: bool = False
    marker: bool = False
    blank: bool = False
    unnamed: bool = False
    named: str = ""

    def __post_init__(self) -> None:
        if not self.named:
            object.__setattr__(self, "named", self.kind)


def _own(kind: str, shape: Shape, **columns: Any) -> Construct:
    """A protected construct that has a row of its own in the score table."""
    return Construct(kind, shape, kind, after=True, protected=True, introducible=True, **columns)


CONSTRUCTS: Final[Mapping[str, Construct]] = {
    row.kind: row
    for row in (
        Construct("document", "container", unnamed=True),
        Construct("heading", "prose", leveled=True, heads=True, section=True),
        Construct("paragraph", "prose", leads=True, plain=True),
        _own("fence", "code", fenced=True, delimited=True),
        _own("code", "code"),
        # The lines of a definition in a source file before what it holds.
        Construct("signature", "code", heads=True),
        _own("table", "table"),
        _own("html-table", "html-table"),
        # The paragraph that says what the table after it shows, or the one before it.
        Construct("caption", "prose", heads=True, named="paragraph"),
        Construct("legend", "prose", clings=True, leads=True, named="paragraph"),
        # A paragraph of strong emphasis alone, before what it heads.
        Construct(
            "bold-heading", "prose", "bold-heading", heads=True, pseudo=True, named="paragraph"
        ),
        _own("contents", "lines"),
        # The lines of a fence around a whole text.
        Construct("answer", "lines", heads=True, labels=True, unnamed=True),
        Construct("answer-end", "lines", clings=True, unnamed=True),
        # Marks where a page begins or ends; lines that stand on page after page.
        Construct(
            "page-begin", "lines", heads=True, labels=True, edge=True, mark=True, unnamed=True
        ),
        Construct("page-end", "lines", clings=True, edge=True, mark=True, unnamed=True),
        Construct("running-head", "prose", heads=True, edge=True),
        Construct("running-foot", "prose", clings=True, edge=True),
        _own("math", "lines", delimited=True),
        _own("html", "lines"),
        # HTML without text: what opens an element around the blocks after it, an anchor, a
        # comment; and what closes an element.
        Construct("label", "lines", protected=True, heads=True, labels=True, named="html"),
        Construct(
            "closer",
            "lines",
            "html",
            after=True,
            protected=True,
            clings=True,
            silent=True,
            named="html",
        ),
        # An HTML block to the parser, scored and divided like one. Its calls, which may
        # go on beyond it, are protected themselves.
        Construct("tool-call", "lines", "html", after=True, introducible=True),
        # What MDX adds to Markdown: imports and exports; expressions, comments, and tags
        # on lines of their own, unless they are a pair around a block.
        Construct("esm", "code", "code", after=True, protected=True),
        Construct("jsx", "lines", "html", after=True, protected=True, introducible=True),
        # Obsidian's, of several lines.
        Construct("comment", "lines", "html", after=True, protected=True, silent=True),
        Construct(
            "front-matter",
            "lines",
            "front-matter",
            after=True,
            protected=True,
            prefaces=True,
            silent=True,
            delimited=True,
        ),
        _own("container", "container"),
        Construct("hr", "lines", "hr", after=True, silent=True),
        Construct("list", "container", introducible=True, nests=True),
        Construct("item", "container", leveled=True, unnamed=True),
        Construct("quote", "container", introducible=True),
        Construct("alert", "container", introducible=True),
        Construct("footnote", "container"),
        Construct("definition-list", "container", introducible=True),
        Construct("definition", "container"),
        Construct("term", "prose", heads=True, leads=True),
        # The line of an XML tag that opens or closes a block; scored by which it does.
        Construct("tag", "lines", tag=True),
        # Lines that the parser gives no token: link reference definitions, blank
        # lines, and the lines of a container that hold nothing but its own markers.
        Construct("link-definition", "lines", silent=True),
        Construct("blank", "lines", blank=True),
        Construct("marker", "lines", marker=True, unnamed=True),
    )
}


def kinds_where(column: str) -> frozenset[str]:
    """The kinds whose rows have a ``column`` set."""
    return frozenset(kind for kind, row in CONSTRUCTS.items() if getattr(row, column))


# markdown-it token type -> kind, for tokens that stand for whole leaves.
LEAF_TOKENS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "heading_open": "heading",
        "paragraph_open": "paragraph",
        "fence": "fence",
        "code_block": "code",
        "html_block": "html",
        "hr": "hr",
        "table_open": "table",
        "math_block": "math",
        "dt_open": "term",
    }
)

# Opening token type -> kind, for tokens with blocks inside.
CONTAINER_TOKENS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bullet_list_open": "list",
        "ordered_list_open": "list",
        "list_item_open": "item",
        "blockquote_open": "quote",
        "alert_open": "alert",
        "footnote_reference_open": "footnote",
        "container_block_open": "container",
        "admonition_open": "container",
        "dl_open": "definition-list",
        "dd_open": "definition",
    }
)
