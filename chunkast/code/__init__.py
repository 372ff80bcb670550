"""Outline source code with tree-sitter (the ``code`` extra) or by its indentation."""

from chunkast.code.definitions import Item, Outliner
from chunkast.code.grammars import versions
from chunkast.code.indented import indented_items
from chunkast.code.languages import ENDINGS, Language, language_named, language_of

__all__ = (
    "ENDINGS",
    "Item",
    "Language",
    "Outliner",
    "indented_items",
    "language_named",
    "language_of",
    "versions",
)
