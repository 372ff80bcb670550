"""Wiki links and embeds, as in Obsidian and many wikis."""

from __future__ import annotations

import re

from markdown_it.rules_inline import StateInline

from chunkast.markdown.scanner import Scanner

__all__ = ("title", "wiki_link")

_WIKI_LINK = re.compile(r"!?\[\[[^\[\]\r\n]{1,500}\]\]")
_PARTS = re.compile(r"(!?)\[\[([^\[\]|\r\n]*)(?:\|([^\[\]\r\n]*))?\]\]")
# The size of an embedded image in place of a text, and a block id after a page.
_SIZE = re.compile(r"\d+(?:x\d+)?")
_BLOCK_ID = re.compile(r"#\^[A-Za-z0-9-]+$")


def wiki_link(scanner: Scanner, pos: int) -> int:
    """Match ``[[page]]`` or ``![[embed]]``; return its end, or -1."""
    found = _WIKI_LINK.match(scanner.text, pos)
    kind = "image" if scanner.text[pos] == "!" else "link"
    return scanner.take(pos, found.end(), kind) if found else -1


def title(state: StateInline, silent: bool) -> bool:
    """Show ``[[page]]`` as the page's name, and ``[[page|text]]`` as the text."""
    found = _PARTS.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    embeds, page, shown = found.groups()
    page, shown = page.strip(), (shown or "").strip()
    if embeds and _SIZE.fullmatch(shown):
        shown = ""
    text = shown or _BLOCK_ID.sub("", page).removeprefix("#")
    if not text:
        return False
    if not silent:
        state.pending += text
    state.pos = found.end()
    return True
