"""Match links beyond CommonMark: bare URLs, wiki links, and footnotes in titles."""

from __future__ import annotations

import re
from typing import Final

from markdown_it.helpers import parseLinkLabel
from markdown_it.rules_inline import StateInline

from chunkast.markdown.scanner import Scanner

__all__ = ("bare_url", "inline_note", "note_reference", "wiki_link", "wiki_title")

# GFM's extended autolink: a URL ends at white space or "<", and before trailing punctuation.
_BARE_URL = re.compile(r"(?:https?://|www\.)[^\s<`\[\]()|]+")
_TAIL: Final = "?!.,:*_~'\";"
# "[[text]](url)" is a link of CommonMark.
_WIKI_LINK = re.compile(r"!?\[\[[^\[\]\r\n]{1,500}\]\](?!\()")
_WIKI_PARTS = re.compile(r"(!?)\[\[([^\[\]|\r\n]*)(?:\|([^\[\]\r\n]*))?\]\](?!\()")
# The size of an embedded image in place of a text, and a block id after a page.
_SIZE = re.compile(r"\d+(?:x\d+)?")
_BLOCK_ID = re.compile(r"#\^[A-Za-z0-9-]+$")
_NOTE = re.compile(r"\[\^([^\] \n]+)\]")


def bare_url(scanner: Scanner, pos: int) -> int:
    """Match a URL that does not follow a letter or digit; return its end, or -1."""
    if pos and scanner.text[pos - 1].isalnum():
        return -1
    bare = _BARE_URL.match(scanner.text, pos)
    return scanner.take(pos, pos + len(bare[0].rstrip(_TAIL)), "autolink") if bare else -1


def wiki_link(scanner: Scanner, pos: int) -> int:
    """Match ``[[page]]`` or ``![[embed]]``; return its end, or -1."""
    match = _WIKI_LINK.match(scanner.text, pos)
    kind = "image" if scanner.text[pos] == "!" else "link"
    return scanner.take(pos, match.end(), kind) if match else -1


def wiki_title(state: StateInline, silent: bool) -> bool:
    """Show ``[[page]]`` in a title as the page's name, and ``[[page|text]]`` as the text."""
    match = _WIKI_PARTS.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    embeds, page, shown = match.groups()
    page, shown = page.strip(), (shown or "").strip()
    if embeds and _SIZE.fullmatch(shown):
        shown = ""
    text = shown or _BLOCK_ID.sub("", page).removeprefix("#")
    if not text:
        return False
    if not silent:
        state.pending += text
    state.pos = match.end()
    return True


def note_reference(state: StateInline, silent: bool) -> bool:
    """Skip ``[^label]`` in a title if the document has a footnote with that label."""
    match = _NOTE.match(state.src, state.pos, state.posMax)
    if match is None or match[1] not in state.env["footnotes"]:
        return False
    _skip(state, match.end(), silent)
    return True


def inline_note(state: StateInline, silent: bool) -> bool:
    """Skip an inline footnote in a title: ``^[text of the note]``."""
    if not state.src.startswith("^[", state.pos):
        return False
    end = parseLinkLabel(state, state.pos + 1)
    if end <= state.pos + 1:
        return False
    _skip(state, end + 1, silent)
    return True


def _skip(state: StateInline, end: int, silent: bool) -> None:
    """Skip the text up to ``end``; emphasis before and after it is not one run of marks."""
    if not silent:
        state.push("text", "", 0)
    state.pos = end
