r"""A faster block parser with the rules of markdown-it-py; it builds the same tree.

The rules keep their names and their order, and accept the same texts. A rule is only called if a
line's first character allows a match, lines are measured in bulk, and the rules that do most of the
work add blocks to the tree directly, without tokens. Rules of plugins, and stock rules that are
seldom called, run unchanged.

There are two exceptions, which are read as CommonMark specifies. For an item after two containers'
marks and a tab, as in ``>   >\t1. d``, markdown-it-py counts too few columns, so that the item's
text begins inside its marker (``. d``). In ``<a b=c d="e">`` with a no-break space before ``d``, the
space belongs to the value, so that the line is not a tag; markdown-it-py ends the value there.

The tree is known to be the same for the versions in ``VERIFIED``. With any other version, the stock
parser is used.
"""

from __future__ import annotations

from typing import Final

import markdown_it
import mdit_py_plugins
from markdown_it import MarkdownIt

__all__ = ("TREE", "VERIFIED", "accelerate", "is_verified", "parser_note")

# The versions of markdown-it-py and mdit-py-plugins that the differential test
# (tests/test_fast_parse.py) passed with.
VERIFIED: Final = frozenset({("4.3.0", "0.7.0")})
# The name under which the parser's environment has the ``TreeBuilder``.
TREE: Final = "tree"


def is_verified() -> bool:
    """Return whether the fast rules were tested with the installed version of the parser."""
    return (markdown_it.__version__, mdit_py_plugins.__version__) in VERIFIED


def parser_note() -> str:
    """Return one line that names the parser in use and the installed versions."""
    installed = (
        f"markdown-it-py {markdown_it.__version__}, mdit-py-plugins {mdit_py_plugins.__version__}"
    )
    if is_verified():
        return f"fast block parser ({installed})"
    known = "; ".join(f"{parser} with {plugins}" for parser, plugins in sorted(VERIFIED))
    return f"stock block parser, several times slower ({installed}; the fast one is for {known})"


def accelerate(md: MarkdownIt) -> None:
    """Give ``md`` the fast rules if they were tested with the installed versions.

    All plugins must already be added to ``md``.
    """
    if is_verified():
        # Imported only now: other versions may lack what the rules import.
        from chunkast.markdown.fast.blocks import FastBlocks

        md.block = FastBlocks(md.block.ruler)
