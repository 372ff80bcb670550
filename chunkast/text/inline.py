"""The inline constructs that must not be cut: where they are, in one linear pass.

markdown-it-py's inline rules give no positions, and two of them copy the rest of the
text at every ``<`` (quadratic on hostile input), so the spans are found here, by the
CommonMark rules: backslash escapes first, then code spans, autolinks and raw HTML,
which bind tighter than links; brackets close with the delimiter stack of the
specification's appendix, links inside links excluded. A differential test holds the
result against markdown-it-py. Emphasis is not looked at: it may be cut.

Linear time: a search that fails once fails for every later start as well and is
remembered; destinations and labels are bounded by the specification or by a limit here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Final

import regex

from chunkast.text.jsx import jsx_item

__all__ = ("MAX_NESTED", "InlineSpan", "inline_spans", "normalize_label")

# Constructs nested deeper than this in links and images are not looked for.
MAX_NESTED: Final = 8


@dataclass(frozen=True, slots=True)
class InlineSpan:
    """An indivisible inline construct: ``[start, end)`` of the text that was scanned.

    ``inside`` are the outermost of those that it contains, in order.
    """

    start: int
    end: int
    kind: str
    inside: tuple[InlineSpan, ...] = field(default=(), compare=False, repr=False)


_ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_SPECIAL = re.compile(r"[\\`<\[\]!${^]|%%|https?://|www\.")
_BACKTICKS = re.compile(r"`+")
_AUTOLINK = re.compile(
    r"<(?:[a-zA-Z][a-zA-Z0-9+.\-]{1,31}:[^<>\x00-\x20]*"
    r"|[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~\-]+@[a-zA-Z0-9](?:[a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?"
    r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?)*)>"
)
_SPACE = r"[ \t\r\n]"
_ATTRIBUTE = (
    rf"{_SPACE}+[a-zA-Z_:][a-zA-Z0-9:._\-]*"
    rf"(?:{_SPACE}*={_SPACE}*(?:[^\"'=<>`\x00-\x20]+|'[^']*'|\"[^\"]*\"))?"
)
# An attribute is matched in a lookahead, which keeps nothing to come back to: a tag of
# thousands of attributes would take 160 bytes a character, so it takes 40.
_HTML_TAG = re.compile(
    rf"<(?:[A-Za-z][A-Za-z0-9\-]*(?:(?=(?P<attribute>{_ATTRIBUTE}))(?P=attribute))*{_SPACE}*/?>"
    rf"|/[A-Za-z][A-Za-z0-9\-]*{_SPACE}*>)"
)
# Opener -> closer of the raw HTML constructs that a plain search delimits.
_HTML_DELIMITED = (
    ("<!-->", ""),
    ("<!--->", ""),
    ("<!--", "-->"),
    ("<?", "?>"),
    ("<![CDATA[", "]]>"),
)
_DECLARATION = re.compile(r"<![A-Za-z]")
# GFM's extended autolinks: up to white space or "<"; trailing punctuation stays outside.
_BARE_URL = re.compile(r"(?:https?://|www\.)[^\s<`\[\]()|]+")
_BLANKS = re.compile(r"[ \t]*(?:\r\n?|\n)?[ \t]*")
_ANGLE_DESTINATION = re.compile(r"<(?:[^<>\\\r\n]|\\.)*>")
# Characters that may end a destination, and backslashes, which escape the next character.
_DESTINATION_MARK = re.compile(r"[\\()\x00-\x20\x7f]")
# A title stops at the next delimiter of its kind that is not escaped, so that titles which are
# never closed are not searched again and again.
_TITLE = regex.compile(
    r"""(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+'|\([^()\\]*+(?:\\.[^()\\]*+)*+\)"""
)
_LABEL = re.compile(r"\[((?:[^\\\[\]]|\\.){0,999})\]", re.DOTALL)
# Wiki links and embeds, as Obsidian and many wikis write them.
_WIKI_LINK = re.compile(r"!?\[\[[^\[\]\r\n]{1,500}\]\]")
# An id of Obsidian's at the end of a block's line.
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+(?=[ \t]*(?:[\r\n]|\Z))")
# Longer tags and expressions of MDX, shortcodes and attributes of Quarto may be cut.
_MAX_JSX = 500
# How many characters, for each of the text, may be searched in vain for the ends of tags and
# expressions.
_JSX_ALLOWANCE = 8
_URL_TAIL = "?!.,:*_~'\";"
_MAX_LABEL = 999
_MAX_PARENTHESES = 32
_MAX_DESTINATION = 8_192


def normalize_label(label: str) -> str:
    """A link label in the form in which labels are compared: folded case, single spaces."""
    return " ".join(label.split()).casefold()


class _Finder:
    """``str.find`` that searches each needle's next place only once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next: dict[str, int] = {}

    def find(self, needle: str, start: int) -> int:
        """The next index of ``needle`` at or after ``start``; -1 if none.

        The time is linear if the starts of the calls for a needle do not decrease.
        """
        known = self._next.get(needle)
        if known is None or (known != -1 and known < start):
            known = self._next[needle] = self._text.find(needle, start)
        return known


def _code_spans(text: str) -> dict[int, int]:
    """Start -> end of the code span that each run of backticks would open, by run length."""
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    closers: dict[int, int] = {}
    ends: dict[int, int] = {}
    for start, end in reversed(runs):
        length = end - start
        if length in closers:
            ends[start] = closers[length]
        if text[start - 1 : start] == "\\" and length - 1 in closers:
            # Where the first backtick is escaped, the rest of the run opens.
            ends[start + 1] = closers[length - 1]
        closers[length] = end
    return ends


def _html_end(text: str, pos: int, finder: _Finder) -> int:
    """The end of the raw HTML construct at ``pos`` (a ``<``), or -1."""
    match = _HTML_TAG.match(text, pos)
    if match:
        return match.end()
    for opener, closer in _HTML_DELIMITED:
        if text.startswith(opener, pos):
            if not closer:
                return pos + len(opener)
            found = finder.find(closer, pos + len(opener))
            return -1 if found < 0 else found + len(closer)
    if _DECLARATION.match(text, pos):
        return finder.find(">", pos) + 1 or -1
    return -1


def _destination_end(text: str, pos: int) -> int:
    """The end of a link destination at ``pos`` (which may be empty), or -1."""
    if text.startswith("<", pos):
        match = _ANGLE_DESTINATION.match(text, pos)
        return match.end() if match else -1
    depth = 0
    limit = min(len(text), pos + _MAX_DESTINATION)
    while match := _DESTINATION_MARK.search(text, pos, limit):
        pos = match.start()
        char = text[pos]
        if char == "\\":
            # Skip an escaped character; any other backslash is an ordinary character.
            pos += text[pos + 1 : min(pos + 2, limit)] in _ESCAPABLE
        elif char == "(":
            depth += 1
            if depth > _MAX_PARENTHESES:
                return -1
        elif char == ")" and depth:
            depth -= 1
        else:
            return -1 if depth else pos
        pos += 1
    return -1 if depth else limit


def _title_end(text: str, pos: int) -> int:
    """The end of the quoted title at ``pos``, or -1."""
    match = _TITLE.match(text, pos, pos + _MAX_DESTINATION)
    return match.end() if match else -1


def _inline_link_end(text: str, pos: int) -> int:
    """The end of ``(destination "title")`` at ``pos`` (a ``(``), or -1."""
    at = _skip_blanks(text, pos + 1)
    end = _destination_end(text, at)
    if end < 0:
        return -1
    after = _skip_blanks(text, end)
    if after > end:
        title = _title_end(text, after)
        if title >= 0:
            after = _skip_blanks(text, title)
    return after + 1 if text.startswith(")", after) else -1


def _skip_blanks(text: str, pos: int) -> int:
    match = _BLANKS.match(text, pos)
    return match.end() if match else pos


def inline_spans(
    text: str, *, references: Container[str] = frozenset(), extensions: Container[str] = ()
) -> list[InlineSpan]:
    """The outermost indivisible inline constructs of ``text``, in order, none overlapping.

    ``references`` are the normalized labels of the document's link definitions. With
    "math" among the ``extensions`` dollar math is found as well, with "footnotes"
    footnote references, with "autolinks" bare URLs, with "wikilinks" wiki links, with
    "obsidian" comments and block ids, with "mdx" JSX, with "quarto" shortcodes and attributes in braces.
    Kinds: code, link, image, autolink, html, math, footnote-reference, escape, comment,
    block-id, expression.
    """
    scanner = _Scanner(text, references, extensions)
    pos = 0
    while match := _SPECIAL.search(text, pos):
        pos = match.start()
        pos = _HANDLERS[text[pos]](scanner, pos)
    return _outermost(scanner.found)


class _Scanner:
    """The state of one scan. Each method handles one character and returns where to continue."""

    def __init__(self, text: str, references: Container[str], extensions: Container[str]) -> None:
        self.text = text
        self.references = references
        self.found: list[InlineSpan] = []
        self.finder = _Finder(text)
        self.code_ends = _code_spans(text)
        self.dollars = _Dollars(text) if "math" in extensions else None
        self.footnotes = "footnotes" in extensions
        self.bare_urls = "autolinks" in extensions
        self.wiki_links = "wikilinks" in extensions
        self.obsidian = "obsidian" in extensions
        self.jsx = "mdx" in extensions
        self.braces = self.jsx or "quarto" in extensions
        self.allowance = _JSX_ALLOWANCE * (len(text) + _MAX_JSX)
        # Open brackets: where each is, and whether it opens an image. Links must not contain
        # links: after the first ``inactive`` of them a link has ended already.
        self.brackets: list[tuple[int, bool]] = []
        self.inactive = 0

    def take(self, start: int, end: int, kind: str) -> int:
        """Add a construct, unless ``end`` is -1; returns where to continue."""
        if end < 0:
            return start + 1
        self.found.append(InlineSpan(start, end, kind))
        return end

    def backslash(self, pos: int) -> int:
        escapes = self.text[pos + 1 : pos + 2] in _ESCAPABLE
        return self.take(pos, pos + 2 if escapes else -1, "escape")

    def backtick(self, pos: int) -> int:
        run = _BACKTICKS.match(self.text, pos)
        end = self.code_ends.get(pos, -1)
        if end < 0 and run:
            return run.end()
        return self.take(pos, end, "code")

    def angle(self, pos: int) -> int:
        auto = _AUTOLINK.match(self.text, pos)
        if auto:
            return self.take(pos, auto.end(), "autolink")
        end = self.jsx_end(pos) if self.jsx else -1
        return self.take(pos, end if end >= 0 else _html_end(self.text, pos, self.finder), "html")

    def jsx_end(self, pos: int) -> int:
        """The end of the tag or expression of MDX at ``pos``, or -1."""
        if self.allowance <= 0:
            return -1
        item = jsx_item(self.text, pos, min(len(self.text), pos + _MAX_JSX))
        if item.kind != "text":
            return item.end
        self.allowance -= item.end - pos
        return -1

    def brace(self, pos: int) -> int:
        return self.take(pos, self.jsx_end(pos) if self.braces else -1, "expression")

    def percent(self, pos: int) -> int:
        end = self.finder.find("%%", pos + 2) if self.obsidian else -1
        return self.take(pos, end + 2 if end >= 0 else -1, "comment")

    def caret(self, pos: int) -> int:
        """A block id and the end of the word before it, so that it never stands alone."""
        found = _BLOCK_ID.match(self.text, pos) if self.obsidian else None
        before = len(self.text[max(pos - 2, 0) : pos].rstrip())
        if not found or not pos or before != 1:
            return pos + 1
        start = pos - 2
        if self.found and self.found[-1].end > start:
            start = self.found[-1].end
        return self.take(start, found.end(), "block-id")

    def dollar(self, pos: int) -> int:
        if self.dollars is None:
            return pos + 1
        end = self.dollars.end(pos)
        return self.dollars.after(pos) if end < 0 else self.take(pos, end, "math")

    def exclamation(self, pos: int) -> int:
        image = self.text.startswith("[", pos + 1)
        return self.bracket(pos, image=True) if image else pos + 1

    def bracket(self, pos: int, *, image: bool = False) -> int:
        wiki = _WIKI_LINK.match(self.text, pos) if self.wiki_links else None
        if wiki:
            return self.take(pos, wiki.end(), "image" if image else "link")
        self.brackets.append((pos, image))
        return pos + 1 + image

    def close_bracket(self, pos: int) -> int:
        """Match the bracket at ``pos`` against the open ones."""
        if not self.brackets:
            return pos + 1
        start, image = self.brackets.pop()
        active = image or len(self.brackets) >= self.inactive
        self.inactive = min(self.inactive, len(self.brackets))
        if not active:
            return pos + 1
        label_start = start + 1 + image
        is_note = self.footnotes and not image and self.text.startswith("^", label_start)
        if is_note and pos > label_start + 1:
            return self.take(start, pos + 1, "footnote-reference")
        end = self.link_end(label_start, pos)
        if end < 0:
            return pos + 1
        if not image:
            self.inactive = len(self.brackets)
        return self.take(start, end, "image" if image else "link")

    def link_end(self, label_start: int, pos: int) -> int:
        """The end of the link or image whose text is ``[label_start, pos)``, or -1."""
        text = self.text
        after = pos + 1
        if text.startswith("(", after) and self.finder.find(")", after) >= 0:
            end = _inline_link_end(text, after)
            if end >= 0:
                return end
        label = text[label_start : min(pos, label_start + _MAX_LABEL + 1)]
        following = _LABEL.match(text, after) if text.startswith("[", after) else None
        if following:
            after = following.end()
            label = following.group(1) if following.group(1).strip() else label
        known = len(label) <= _MAX_LABEL and normalize_label(label) in self.references
        return after if known else -1

    def url(self, pos: int) -> int:
        if not self.bare_urls or (pos and self.text[pos - 1].isalnum()):
            return pos + 1
        bare = _BARE_URL.match(self.text, pos)
        return self.take(pos, pos + len(bare.group().rstrip(_URL_TAIL)) if bare else -1, "autolink")


_HANDLERS: Final[dict[str, Callable[[_Scanner, int], int]]] = {
    "\\": _Scanner.backslash,
    "`": _Scanner.backtick,
    "<": _Scanner.angle,
    "$": _Scanner.dollar,
    "{": _Scanner.brace,
    "%": _Scanner.percent,
    "^": _Scanner.caret,
    "!": _Scanner.exclamation,
    "[": _Scanner.bracket,
    "]": _Scanner.close_bracket,
    "h": _Scanner.url,
    "w": _Scanner.url,
}


class _Dollars:
    """Dollar math by pandoc's rule: no space inside the delimiters, no digit after the closer."""

    _RUN = re.compile(r"\$+")

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[int, int] = {}
        open_at: dict[int, int] = {}
        free_from = 0
        for match in self._RUN.finditer(text):
            start, end = match.span()
            length = end - start
            if length > 2 or text[max(start - 1, 0) : start] == "\\":
                continue
            opener = open_at.get(length, -1)
            if opener >= free_from and self._closes(start, end, length):
                self._ends[opener] = end
                free_from = end
                open_at.clear()
            elif self._opens(end, length):
                open_at[length] = start

    def _opens(self, end: int, length: int) -> bool:
        return length == 2 or (end < len(self._text) and not self._text[end].isspace())

    def _closes(self, start: int, end: int, length: int) -> bool:
        if length == 2:
            return True
        return not self._text[start - 1].isspace() and not self._text[end : end + 1].isdecimal()

    def end(self, pos: int) -> int:
        """The end of the math that opens at ``pos``, or -1."""
        return self._ends.get(pos, -1)

    def after(self, pos: int) -> int:
        """The end of the run of dollars at ``pos``."""
        match = self._RUN.match(self._text, pos)
        return match.end() if match else pos + 1


def _outermost(found: list[InlineSpan]) -> list[InlineSpan]:
    """Move spans inside another one into it; a link is appended after its contents."""
    kept: list[InlineSpan] = []
    for span in found:
        first = len(kept)
        while first and kept[first - 1].start >= span.start:
            first -= 1
        if first < len(kept):
            inside = tuple(kept[first:])
            kept[first:] = [InlineSpan(span.start, span.end, span.kind, inside)]
        else:
            kept.append(span)
    return kept
