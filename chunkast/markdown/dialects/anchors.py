"""Find the anchors of headings: permalinks, HTML anchors, and MyST targets.

A permalink is a link from a heading to itself, which site generators add to the heading. Sphinx and
MkDocs write ``Title[¶](#title)``, Docusaurus and VitePress a link whose text is a zero-width space,
rustdoc ``[§](#title)Title``, and GitHub a link without text.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

import regex
from markdown_it.rules_block import StateBlock

from chunkast.markdown.lines import add_leaf

__all__ = ("ANCHORS", "BARE_MARKS", "TitleText", "attribute_of", "names_in", "target_line")

# A target on a line of its own.
_TARGET = re.compile(r"(?<![^\r\n])[ \t]*\((\w[\w.:/@+-]*(?: \w[\w.:/@+-]*)*)\)=[ \t]*(?![^\r\n])")

# Characters that show nothing, and icons.
_UNSEEN: Final = r"[\s\p{Cf}\p{Co}\ufe0e\ufe0f]*+"
_MARK = regex.compile(rf"{_UNSEEN}[¶#§🔗]?{_UNSEEN}")
# The marks that are left out without a link, too, such as Read the Docs' icon; what may follow them.
BARE_MARKS: Final = "¶🔗\u200b\uf0c1"
_AFTER_MARKS: Final = " \t\n\ufe0f"
# Attributes that Pandoc gives a link.
_LINK_ATTRIBUTES = re.compile(r"\A\{[^{}]*\}")
# A tag that may have an anchor's name.
_OPENING: Final = r"<(a|span)(?=\s)(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>"
_TAG = regex.compile(_OPENING, regex.IGNORECASE)
# Text that is only anchors.
ANCHORS: Final = regex.compile(
    rf"(?:\s*+(?=<\w+\s[^<>]*?\b(?:id|name)\s*=){_OPENING}(?:(?<=/>)|\s*+</\1\s*>))++\s*",
    regex.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"\s([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=`]+)))?")
_CLOSING = re.compile(r"</a\s*>", re.IGNORECASE)
_BREAK = re.compile(r"<br[\s/>]", re.IGNORECASE)


def attribute_of(tag: str, *names: str) -> str:
    """Return the value of a tag's first attribute with one of the ``names``, or ""."""
    for found in _ATTRIBUTE.finditer(tag):
        if found[1].lower() in names:
            return next(filter(None, found.groups()[1:]), "")
    return ""


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of the HTML anchors and of the MyST targets in ``text``."""
    if not text:
        return ()
    names = (attribute_of(tag[0], "id", "name") for tag in _TAG.finditer(text))
    return (*filter(None, names), *_TARGET.findall(text))


def target_line(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Parse a MyST target, ``(label)=``, on a separate line."""
    at = state.bMarks[start] + state.tShift[start]
    if state.is_code_block(start) or not _TARGET.match(state.src[at : state.eMarks[start]]):
        return False
    return add_leaf(state, "target", start, start + 1, silent=silent)


class TitleText:
    """Builds the text of a title from parts that are added in order.

    names: the names of the HTML anchors in the title.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        # Each text with the destination of the link around it; None for code.
        self._pieces: list[tuple[str, str | None]] = []
        self._link = ""

    def add(self, text: str, *, is_code: bool = False) -> None:
        """Add text; if a link is open, add it to the link."""
        link = None if is_code and not self._link else self._link
        if self._pieces and self._pieces[-1][1] == link:
            text = self._pieces.pop()[0] + text
        self._pieces.append((text, link))

    def link(self, destination: str) -> None:
        """Begin a link to ``destination``; an empty destination ends the open link."""
        self._link = destination
        self._pieces.append(("", destination))

    def add_tag(self, tag: str) -> None:
        """Add an HTML tag, which may be an anchor, a link, or a line break."""
        if _BREAK.match(tag):
            self.add(" ")
        elif _CLOSING.match(tag):
            self.link("")
        elif _TAG.match(tag):
            self.names += names_in(tag)
            if destination := attribute_of(tag, "href"):
                self.link(destination)

    def whole(self) -> str:
        """Return the text with its permalinks."""
        return "".join(text for text, _ in self._pieces)

    def without_permalinks(self) -> tuple[str, tuple[str, ...]]:
        """Return the text without the permalinks at its ends, and these links' fragments.

        If the title contains only permalinks, they are kept.
        """
        pieces = list(self._pieces)
        fragments: tuple[list[str], list[str]] = [], []
        for end in (0, -1):
            while pieces:
                text, link = pieces[end]
                if end and link == "" and text.rstrip(_AFTER_MARKS).endswith(tuple(BARE_MARKS)):
                    text = text.rstrip(_AFTER_MARKS + BARE_MARKS)
                    pieces[end] = text, link
                fragment = unquote(link.partition("#")[2]) if link else ""
                if fragment and _MARK.fullmatch(text):
                    fragments[end].append(fragment)
                elif text.strip():
                    break
                del pieces[end]
                if fragment and not end and pieces and pieces[0][1] == "":
                    pieces[0] = _LINK_ATTRIBUTES.sub("", pieces[0][0]), ""
        kept = "".join(text for text, _ in pieces)
        if not kept.strip():
            return self.whole(), ()
        return kept, (*fragments[0], *reversed(fragments[1]))
