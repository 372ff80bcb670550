"""Source code: its languages, and outlines made with tree-sitter (the ``code`` extra)."""

from chunkast.code.definitions import Item, Outliner
from chunkast.code.grammars import versions
from chunkast.code.languages import ENDINGS, Language, language_named, language_of

__all__ = (
    "ENDINGS",
    "Item",
    "Language",
    "Outliner",
    "language_named",
    "language_of",
    "versions",
)
