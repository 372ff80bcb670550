"""The score of each kind of break point as a place to cut; higher is better.

``ChunkConfig(scores={...})`` overrides the scores of some kinds. A break point with a negative
score is used only if there is no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ("CODE_SCORES", "SCORES", "item_kind")

# These apply only to code for which the ``code`` extra has a grammar.
CODE_SCORES: Final[Mapping[str, float]] = MappingProxyType(
    {"class": 100.0, "function": 90.0, "type": 80.0, "import": 60.0, "statement": 3.0}
)
# The score of each kind of break point; a higher score is a better place to cut.
SCORES: Final[Mapping[str, float]] = MappingProxyType(
    {
        # Before a heading.
        "h1": 100.0,
        "h2": 90.0,
        "h3": 80.0,
        "h4": 70.0,
        "h5": 60.0,
        "h6": 50.0,
        # Before the block and after it.
        "fence": 80.0,
        "code": 80.0,
        "table": 80.0,
        "html-table": 80.0,
        "math": 80.0,
        "html": 80.0,
        "container": 80.0,
        "front-matter": 80.0,
        # The blocks inside a tool's result score at most as much as the point before it.
        "tool-result": 100.0,
        "contents": 50.0,
        "hr": 60.0,
        # After an outermost list; before a list item at depth 0, depth 1, and deeper.
        "list-end": 75.0,
        "list-item-0": 70.0,
        "list-item-1": 45.0,
        "list-item-2": 25.0,
        # XML tags: before the line of an opening tag, after the line of a closing one.
        "tag-close": 75.0,
        "tag-open": 30.0,
        # Before a paragraph that is all strong emphasis; between any two blocks.
        "bold-heading": 35.0,
        "paragraph": 20.0,
        # Inside a block that is larger than the budget.
        "bullet": 15.0,
        "sentence": 10.0,
        "row": 5.0,
        "cell": 3.0,
        "blank-line": 5.0,
        "line": 1.0,
        "word": 0.1,
        "grapheme": 0.01,
        # Inside code whose grammar is installed: before a definition ("type" is an alias or an
        # enumeration), an import, any other statement.
        **CODE_SCORES,
        # Between blocks that belong together: right after a heading, and between a lead-in and the
        # block that it introduces. A lead-in is text that ends with a colon or without ending its
        # sentence, a table's header, or a fence's opening line.
        "orphan-heading": -2.0,
        "lead-in": -1.0,
    }
)
_ITEM_KINDS: Final = ("list-item-0", "list-item-1", "list-item-2")


def item_kind(depth: int) -> str:
    """Return the kind of a break point before a list item; the outermost list has ``depth`` 0."""
    return _ITEM_KINDS[min(depth, len(_ITEM_KINDS) - 1)]
