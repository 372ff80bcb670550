"""One row per Markdown construct: its name in the parser and how it is treated.

A new construct is a row here (and a fixture); the break points, regions, splitters and
the packer read these rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

__all__ = ("CONSTRUCTS", "CONTAINER_TOKENS", "LEAF_TOKENS", "Construct", "Shape")

Shape = Literal["prose", "code", "table", "lines", "container"]


@dataclass(frozen=True, slots=True)
class Construct:
    """How blocks of one kind are treated.

    ``shape`` says along what a block larger than the budget divides. ``score`` names
    the row of the score table for the point before the block ("paragraph" unless said;
    those of ``leveled`` blocks, headings and items, depend on their level). ``after`` says whether the same
    score counts after the block. ``protected`` blocks are not cut while they fit.
    ``introducible`` blocks belong to a lead-in line, ending with a colon, before them; what
    ``heads`` others never stands without them, what ``clings`` not without the block before it.
    A chunk's kinds name it as ``named``.
    """

    kind: str
    shape: Shape
    score: str = "paragraph"
    after: bool = False
    protected: bool = False
    introducible: bool = False
    leveled: bool = False
    heads: bool = False
    clings: bool = False
    named: str = ""

    def __post_init__(self) -> None:
        if not self.named:
            object.__setattr__(self, "named", self.kind)


def _own(kind: str, shape: Shape) -> Construct:
    """A protected construct that has a row of its own in the score table."""
    return Construct(kind, shape, kind, after=True, protected=True, introducible=True)


CONSTRUCTS: Final[Mapping[str, Construct]] = MappingProxyType(
    {
        row.kind: row
        for row in (
            Construct("document", "container"),
            Construct("heading", "prose", leveled=True, heads=True),
            Construct("paragraph", "prose"),
            _own("fence", "code"),
            _own("code", "code"),
            # The lines of a definition in a source file before what it holds.
            Construct("signature", "code", heads=True),
            _own("table", "table"),
            _own("math", "lines"),
            _own("html", "lines"),
            # HTML without text: what opens an element around the blocks after it, an anchor, a
            # comment; and what closes an element.
            Construct("label", "lines", protected=True, heads=True, named="html"),
            Construct(
                "closer", "lines", "html", after=True, protected=True, clings=True, named="html"
            ),
            # An HTML block to the parser, scored and divided like one. Its calls, which may
            # go on beyond it, are protected themselves.
            Construct("tool-call", "lines", "html", after=True, introducible=True),
            # What MDX adds to Markdown: imports and exports; expressions, comments, and tags
            # on lines of their own, unless they are a pair around a block.
            Construct("esm", "code", "code", after=True, protected=True),
            Construct("jsx", "lines", "html", after=True, protected=True, introducible=True),
            # Obsidian's, of several lines.
            Construct("comment", "lines", "html", after=True, protected=True),
            Construct("front-matter", "lines", "front-matter", after=True, protected=True),
            _own("container", "container"),
            Construct("hr", "lines", "hr", after=True),
            Construct("list", "container", introducible=True),
            Construct("item", "container", leveled=True),
            Construct("quote", "container", introducible=True),
            Construct("alert", "container", introducible=True),
            Construct("footnote", "container"),
            Construct("definition-list", "container", introducible=True),
            Construct("definition", "container"),
            Construct("term", "prose", heads=True),
            # The line of an XML tag that opens or closes a block; scored by which it does.
            Construct("tag", "lines"),
            # Lines that the parser gives no token: link reference definitions, blank
            # lines, and the lines of a container that hold nothing but its own markers.
            Construct("link-definition", "lines"),
            Construct("blank", "lines"),
            Construct("marker", "lines"),
        )
    }
)

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
