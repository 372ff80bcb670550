r"""markdown-it-py's block parse, several times faster, with identical tokens but in one case.

Nothing else is parsed differently: the rules keep their names, their order and what they
accept. Time is saved in calls of rules: a rule is only called where a line's first character
lets it match, the lines are measured in bulk, tokens are made without the detours of a
dataclass, and the rules that do most of the work are written for few steps a line.
Rules of plugins, and stock rules that are seldom called, run as they are.

The one case is an item that a tab separates from a quote mark with another container's mark
before it on the line, as in ``>   >\t1. d``. There markdown-it-py takes the tab for fewer
columns than it is, and the item's text begins inside its marker (``. d``); here it is the
item that CommonMark makes of it.

The tokens are known to be identical for the versions in ``VERIFIED``, and for no other:
with any other version the stock parser is used.
"""

from __future__ import annotations

from typing import Final

import markdown_it
import mdit_py_plugins
from markdown_it import MarkdownIt

__all__ = ("DRAIN", "TREE", "VERIFIED", "accelerate", "is_verified", "parser_note")

# The versions of markdown-it-py and mdit-py-plugins that the differential test
# (tests/test_fast_parse.py) passed with.
VERIFIED: Final = frozenset({("4.3.0", "0.7.0")})
# Where the parser's environment has a function under this name, it is given the tokens of
# top-level blocks while the rest is parsed. It may take them out of the list.
DRAIN: Final = "drain"
# Where it has a ``TreeBuilder`` under this name, a method of it and the arguments may stand
# in for tokens of which only a tree is made.
TREE: Final = "tree"


def is_verified() -> bool:
    """Whether the installed parser is one whose tokens the fast rules are known to make."""
    return (markdown_it.__version__, mdit_py_plugins.__version__) in VERIFIED


def parser_note() -> str:
    """Which of the two parsers serves, with the versions installed, in one line."""
    installed = (
        f"markdown-it-py {markdown_it.__version__}, mdit-py-plugins {mdit_py_plugins.__version__}"
    )
    if is_verified():
        return f"fast block parser ({installed})"
    known = "; ".join(f"{parser} with {plugins}" for parser, plugins in sorted(VERIFIED))
    return f"stock block parser, several times slower ({installed}; the fast one is for {known})"


def accelerate(md: MarkdownIt) -> None:
    """Let ``md``, complete with its plugins, parse blocks the fast way if it is safe to."""
    if is_verified():
        # Imported only now: other versions may lack what the rules import.
        from chunkast.markdown.fast.blocks import FastBlocks

        md.block = FastBlocks(md.block.ruler)
