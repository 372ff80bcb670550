"""Source code: its languages, and outlines made with tree-sitter (the ``code`` extra)."""

from chunkast.code.grammars import versions
from chunkast.code.languages import ENDINGS, Language, language_named, language_of
from chunkast.code.outline import Item, Outliner

__all__ = (
    "ENDINGS",
    "Item",
    "Language",
    "Outliner",
    "language_named",
    "language_of",
    "versions",
)
