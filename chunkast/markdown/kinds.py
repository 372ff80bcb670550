"""The table of Markdown constructs. Each row defines how blocks of one kind are treated.

A new construct needs a row here and a test fixture. The rows determine the break points and the
protected regions, and how blocks are divided and packed.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = (
    "CONSTRUCTS",
    "TOKENS",
    "Construct",
    "Shape",
    "add_construct",
    "kinds_where",
)

Shape = Literal["prose", "code", "table", "text-table", "html-table", "lines", "container"]


@dataclass(frozen=True, slots=True)
class Construct:
    """The treatment of blocks of one kind.

    shape: the way in which a block over budget is divided.
    score: the score table's key for the point before the block.
    tokens: the types of the parser's tokens that begin such a block.
    leveled: whether the block's level determines that key, instead of ``score``.
    after: whether the point after the block has the same score.
    protected: whether the block is not cut if it fits the budget.
    introducible: whether a lead-in before the block, such as a line that ends with a colon, stays
        with the block.
    leads: whether the block's last line may be a lead-in.
    heads: whether the block stays with the next block.
    clings: whether the block stays with the previous block.
    section: whether the block begins a section at the top level or directly in a wrapper.
    labels: whether the block belongs to the section of a heading right after it.
    wrapper: whether a heading directly inside the block begins a section that ends with the block.
    plain: whether the block is text without its own markup, which dialects may relabel.
    nests: whether the block adds a level of nesting, like a list.
    fenced: whether the block's opening line names a language, and each part repeats the fence
        lines.
    tag: whether the block's ``info``, "open" or "close", determines its score.
    marker: whether the block is only the marker of the container that it opens or closes.
    blank: whether the block has no text.
    unnamed: whether the block is omitted from a chunk's kinds.
    named: the name of the block in a chunk's kinds, by default its kind.
    opener: the reader of the block's opener, a key of the table in ``analysis/openers.py``.
    """

    kind: str
    shape: Shape
    score: str = "paragraph"
    tokens: tuple[str, ...] = ()
    after: bool = False
    protected: bool = False
    introducible: bool = False
    leveled: bool = False
    heads: bool = False
    leads: bool = False
    clings: bool = False
    section: bool = False
    labels: bool = False
    wrapper: bool = False
    plain: bool = False
    nests: bool = False
    fenced: bool = False
    tag: bool = False
    marker: bool = False
    blank: bool = False
    unnamed: bool = False
    named: str = ""
    opener: str = ""

    def __post_init__(self) -> None:
        if not self.named:
            object.__setattr__(self, "named", self.kind)


def _own(kind: str, shape: Shape, *tokens: str, score: str = "", **columns: Any) -> Construct:
    """Make a row for a protected construct, by default with its own row in the score table."""
    columns |= {"after": True, "protected": True, "introducible": True}
    return Construct(kind, shape, score or kind, tokens, **columns)


_ROWS: Final = (
    Construct("document", "container", unnamed=True),
    Construct("heading", "prose", tokens=("heading_open",), leveled=True, heads=True, section=True),
    Construct(
        "html-heading",
        "lines",
        leveled=True,
        protected=True,
        heads=True,
        section=True,
        named="heading",
    ),
    Construct(
        "paragraph", "prose", tokens=("paragraph_open",), leads=True, plain=True, opener="paragraph"
    ),
    _own("fence", "code", "fence", fenced=True),
    _own("code", "code", "code_block"),
    # The lines of a definition in a source file before its body.
    Construct("signature", "code", heads=True),
    _own("table", "table", "table_open"),
    # A table of Pandoc.
    _own("text-table", "text-table", "text_table", score="table", named="table"),
    _own("html-table", "html-table"),
    # The caption before a table, and the one after a table.
    Construct("caption", "prose", heads=True, named="paragraph"),
    Construct("legend", "prose", clings=True, leads=True, named="paragraph"),
    # A paragraph of only strong emphasis, used as a heading.
    Construct("bold-heading", "prose", "bold-heading", heads=True, named="paragraph"),
    _own("contents", "lines"),
    # The lines of a fence around a whole text.
    Construct("answer", "lines", tokens=("answer",), heads=True, labels=True, unnamed=True),
    Construct("answer-end", "lines", tokens=("answer-end",), clings=True, unnamed=True),
    # Marks of the beginning and end of a page; lines repeated on every page.
    Construct("page-begin", "lines", heads=True, labels=True, unnamed=True),
    Construct("page-end", "lines", clings=True, unnamed=True),
    Construct("running-head", "prose", heads=True),
    Construct("running-foot", "prose", clings=True),
    _own("math", "lines", "math_block"),
    _own("html", "lines", "html_block"),
    # HTML without text: an opening tag around the blocks after it, an anchor or a comment;
    # and a closing tag.
    Construct("label", "lines", protected=True, heads=True, labels=True, named="html"),
    Construct("closer", "lines", "html", after=True, protected=True, clings=True, named="html"),
    # The parser reads it as an HTML block, and it is scored and divided like one. Its calls,
    # which may continue beyond it, are protected themselves. The result of a call contains blocks.
    Construct("tool-call", "lines", "html", after=True, introducible=True),
    Construct("tool-result", "container", "tool-result", after=True),
    # A result that is not on lines of its own.
    Construct("tool-output", "lines", "html", after=True, named="tool-result"),
    # MDX: imports and exports; expressions, comments, and tags on lines of their own, except
    # pairs around a block.
    Construct("esm", "code", "code", ("esm",), after=True, protected=True),
    _own("jsx", "lines", "jsx", score="html"),
    # The lines between conflict markers.
    _own("conflict", "lines", "conflict", score="html"),
    # A comment of Obsidian, over several lines.
    Construct("comment", "lines", "html", ("comment",), after=True, protected=True),
    # The front matter of the document, or of a page inside it.
    Construct(
        "front-matter", "lines", "front-matter", ("front-matter",), after=True, protected=True
    ),
    _own("container", "container", "container_open", wrapper=True, opener="container"),
    # A tab of Microsoft Learn, from the line of its label on.
    _own("tab", "container", score="container", named="container", wrapper=True, opener="tab"),
    # A container that is a note or a warning.
    _own(
        "admonition",
        "container",
        "admonition_open",
        score="container",
        named="container",
        opener="note",
    ),
    # A line of a container's marks that contains nothing.
    _own("directive", "lines", "directive", score="html"),
    Construct("hr", "lines", "hr", ("hr",), after=True),
    Construct(
        "list",
        "container",
        tokens=("bullet_list_open", "ordered_list_open"),
        introducible=True,
        nests=True,
        opener="list",
    ),
    Construct(
        "item", "container", tokens=("list_item_open",), leveled=True, unnamed=True, opener="item"
    ),
    Construct("quote", "container", tokens=("blockquote_open",), introducible=True, opener="quote"),
    Construct("alert", "container", tokens=("alert_open",), introducible=True, opener="note"),
    Construct("footnote", "container", tokens=("footnote_reference_open",), opener="footnote"),
    Construct("definition-list", "container", tokens=("dl_open",), introducible=True),
    Construct("definition", "container", tokens=("dd_open",), opener="definition"),
    Construct("term", "prose", tokens=("dt_open",), heads=True, leads=True),
    # The line of an XML tag that opens or closes a block.
    Construct("tag", "lines", tag=True),
    # Lines without a token of the parser: link reference definitions, blank lines, and lines
    # with only the markers of a container.
    Construct("link-definition", "lines"),
    Construct("blank", "lines", blank=True),
    Construct("marker", "lines", marker=True, unnamed=True),
)

# The rows in use. ``add_construct`` adds a row.
CONSTRUCTS: Final[dict[str, Construct]] = {}
# A token's type -> the row of the block that the token opens.
TOKENS: Final[dict[str, Construct]] = {}
_WHERE: Final[dict[tuple[str, ...], set[str]]] = {}


def kinds_where(*columns: str) -> AbstractSet[str]:
    """Return the kinds whose rows have a true value in one of ``columns``.

    The set is live: it changes when a construct is added.
    """
    if columns not in _WHERE:
        rows = CONSTRUCTS.items()
        _WHERE[columns] = {kind for kind, row in rows if _is_any(row, columns)}
    return _WHERE[columns]


def _is_any(row: Construct, columns: Iterable[str]) -> bool:
    return any(getattr(row, column) for column in columns)


def add_construct(row: Construct) -> None:
    """Add a construct of a new kind. Its blocks are then treated as the row defines."""
    CONSTRUCTS[row.kind] = row
    TOKENS.update(dict.fromkeys(row.tokens, row))
    for columns, kinds in _WHERE.items():
        if _is_any(row, columns):
            kinds.add(row.kind)


for _row in _ROWS:
    add_construct(_row)
