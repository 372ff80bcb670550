r"""A faster block parser with the rules of markdown-it-py, which builds the same tree.

The rules keep their names and their order, and accept the same texts. A rule is called only if a
line's first character allows a match, lines are measured in bulk, and the most frequent rules add
blocks to the tree directly, without tokens. Rules of plugins, and stock rules that are seldom
called, run unchanged.

In two cases, the fast rules follow CommonMark and markdown-it-py does not. For an item after two
containers' marks and a tab, as in ``>   >\t1. d``, markdown-it-py counts too few columns, so that
the item's text begins inside its marker (``. d``). In ``<a b=c d="e">`` with a no-break space
before ``d``, the space belongs to the value, so the line is not a tag; markdown-it-py ends the
value there.

The tree is known to be the same for the stock rules whose digest is in ``KNOWN``. For other rules,
or if their sources cannot be read, the stock parser is used.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, Final

import markdown_it
import mdit_py_plugins
from markdown_it import MarkdownIt

__all__ = ("KNOWN", "TREE", "accelerate", "is_known", "parser_note", "stock_digest")

# The digests of the stock modules that the differential test (tests/test_fast_parse.py) passed
# with.
KNOWN: Final = frozenset({"fb6dc812e48307217eafbd5aef7b1b583286fe05691dc6028f29d3154814a247"})
# The modules of markdown_it that the fast rules replace, and those that both build on.
_MODULES: Final = (
    *("parser_block", "ruler", "token", "common/html_blocks", "common/html_re", "common/utils"),
    *("rules_block/blockquote", "rules_block/code", "rules_block/fence", "rules_block/heading"),
    *("rules_block/hr", "rules_block/html_block", "rules_block/lheading", "rules_block/list"),
    *("rules_block/paragraph", "rules_block/reference", "rules_block/state_block"),
    "rules_block/table",
)
# The name under which the parser's environment has the ``TreeBuilder``.
TREE: Final = "tree"


@cache
def stock_digest() -> str:
    """Return the digest of the sources of the stock rules, or "" if they cannot be read."""
    loader: Any = markdown_it.__loader__
    folder = Path(markdown_it.__file__).parent
    digest = hashlib.sha256()
    try:
        for module in _MODULES:
            source: bytes = loader.get_data(str(folder / f"{module}.py"))
            digest.update(source.replace(b"\r\n", b"\n"))
    except (AttributeError, OSError):
        return ""
    return digest.hexdigest()


def is_known() -> bool:
    """Return whether the fast rules were tested with the installed stock rules."""
    return stock_digest() in KNOWN


def parser_note() -> str:
    """Return one line that names the parser in use and the installed versions."""
    installed = (
        f"markdown-it-py {markdown_it.__version__}, mdit-py-plugins {mdit_py_plugins.__version__}"
    )
    if is_known():
        return f"fast block parser ({installed})"
    return (
        f"stock block parser, several times slower ({installed}; the fast one is for other rules)"
    )


def accelerate(md: MarkdownIt) -> None:
    """Install the fast rules in ``md`` if they were tested with the installed stock rules.

    All plugins must already be added to ``md``.
    """
    if is_known():
        # Imported only now: other versions may lack what the rules import.
        from chunkast.markdown.fast.block_parser import FastBlocks

        md.block = FastBlocks(md.block.ruler)
