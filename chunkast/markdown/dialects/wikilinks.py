"""Wiki links and embeds, as Obsidian and many wikis write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chunkast.markdown.inline import Scanner

__all__ = ("wiki_link",)

_WIKI_LINK = re.compile(r"!?\[\[[^\[\]\r\n]{1,500}\]\]")


def wiki_link(scanner: Scanner, pos: int) -> int:
    """``[[page]]`` or ``![[embed]]``."""
    found = _WIKI_LINK.match(scanner.text, pos)
    kind = "image" if scanner.text[pos] == "!" else "link"
    return scanner.take(pos, found.end(), kind) if found else -1
