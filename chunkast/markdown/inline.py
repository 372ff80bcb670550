"""Find the spans of inline constructs that must not be cut, in one linear pass.

markdown-it-py's inline rules do not return positions, and two of them copy the rest of the text at
every ``<``, which takes quadratic time on hostile input. Here, the spans are found by CommonMark's
rules: backslash escapes first, then code spans, autolinks and raw HTML, then links and images by
the delimiter stack of the specification's appendix. A test compares the spans with
markdown-it-py's. Emphasis is ignored, since it may be cut.

The time is linear: a failed search is remembered for every later start, and the lengths of
destinations and labels are bounded, by the specification or by a limit here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping
from functools import lru_cache
from typing import Final

import regex

from chunkast.markdown.dialects import Dialect, dialects_of
from chunkast.markdown.scanner import BACKTICKS, Finder, InlineRule, Scanner
from chunkast.text.spans import InlineSpan

__all__ = ("HTML_TAG", "MAX_NESTED", "inline_spans", "normalize_label")

# Constructs nested deeper than this in links and images are ignored.
MAX_NESTED: Final = 8
_ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_SPECIAL = re.compile(r"[\\`<\[\]!${^]|%%|https?://|www\.")
_AUTOLINK = re.compile(
    r"<(?:[a-zA-Z][a-zA-Z0-9+.\-]{1,31}:[^<>\x00-\x20]*"
    r"|[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~\-]+@[a-zA-Z0-9](?:[a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?"
    r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?)*)>"
)
_VALUE: Final = r"(?:[^\"'=<>`\x00-\x20]+|'[^']*'|\"[^\"]*\")"
_ATTRIBUTE: Final = rf"\s+[a-zA-Z_:][a-zA-Z0-9:._\-]*(?:\s*=\s*{_VALUE})?"
# A tag, as markdown-it-py reads it. An attribute is matched in a lookahead, without backtracking: a
# tag of thousands of attributes takes 40 bytes a character, not 160.
HTML_TAG: Final = re.compile(
    rf"<(?:[A-Za-z][A-Za-z0-9\-]*(?:(?=(?P<attribute>{_ATTRIBUTE}))(?P=attribute))*\s*/?>"
    r"|/[A-Za-z][A-Za-z0-9\-]*\s*>)"
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
_BLANKS = re.compile(r"[ \t]*(?:\r\n?|\n)?[ \t]*")
_ANGLE_DESTINATION = re.compile(r"<(?:[^<>\\\r\n]|\\.)*>")
# Characters that may end a destination, and backslashes, which escape the next character.
_DESTINATION_MARK = re.compile(r"[\\()\x00-\x20\x7f]")
# A title ends at the next unescaped delimiter of its kind, so that titles that are never closed
# are not searched again and again.
_TITLE = regex.compile(
    r"""(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+'|\([^()\\]*+(?:\\.[^()\\]*+)*+\)"""
)
_LABEL = re.compile(r"\[((?:[^\\\[\]]|\\.){0,999})\]", re.DOTALL)
_MAX_LABEL = 999
_MAX_PARENTHESES = 32
_MAX_DESTINATION = 8_192


def normalize_label(label: str) -> str:
    """Return a link label with folded case and single spaces, for comparison."""
    return " ".join(label.split()).casefold()


def _html_end(text: str, pos: int, finder: Finder) -> int:
    """Return the end of the raw HTML construct that begins with the ``<`` at ``pos``, or -1."""
    match = HTML_TAG.match(text, pos)
    if match:
        return match.end()
    for opener, closer in _HTML_DELIMITED:
        if text.startswith(opener, pos):
            if not closer:
                return pos + len(opener)
            closing = finder.find(closer, pos + len(opener))
            return -1 if closing < 0 else closing + len(closer)
    if _DECLARATION.match(text, pos):
        return finder.find(">", pos) + 1 or -1
    return -1


def _destination_end(text: str, pos: int) -> int:
    """Return the end of the (possibly empty) link destination at ``pos``, or -1."""
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
    """Return the end of the quoted title at ``pos``, or -1."""
    match = _TITLE.match(text, pos, pos + _MAX_DESTINATION)
    return match.end() if match else -1


def _inline_link_end(text: str, pos: int) -> int:
    """Return the end of the ``(destination "title")`` that begins at ``pos``, or -1."""
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
    text: str, *, references: Container[str] = frozenset(), extensions: Collection[str] = ()
) -> list[InlineSpan]:
    """Return the outermost inline constructs of ``text`` that must not be cut, in order.

    ``references`` are the normalized labels of the document's link definitions. The kinds are code,
    link, image, autolink, html, footnote-reference and escape; ``extensions`` add math, comment,
    block-id and expression.
    """
    scanner = Scanner(text, references, footnotes="footnotes" in extensions)
    rules = _rules(dialects_of(tuple(extensions)))
    pos = 0
    while match := _SPECIAL.search(text, pos):
        pos = match.start()
        after = -1
        for among in (rules, _COMMONMARK):
            rule = among.get(text[pos])
            if rule and (after := rule(scanner, pos)) >= 0:
                break
        pos = after if after >= 0 else pos + 1
    return _outermost(scanner.spans)


@lru_cache(maxsize=32)
def _rules(dialects: tuple[Dialect, ...]) -> Mapping[str, InlineRule]:
    """Return the inline rules of the dialects, keyed by first character."""
    return {key: rule for dialect in dialects for key, rule in dialect.inline.items()}


def _backslash(scanner: Scanner, pos: int) -> int:
    escapes = scanner.text[pos + 1 : pos + 2] in _ESCAPABLE
    return scanner.take(pos, pos + 2 if escapes else -1, "escape")


def _backtick(scanner: Scanner, pos: int) -> int:
    run = BACKTICKS.match(scanner.text, pos)
    end = scanner.code_ends.get(pos, -1)
    if end < 0 and run:
        return run.end()
    return scanner.take(pos, end, "code")


def _angle(scanner: Scanner, pos: int) -> int:
    auto = _AUTOLINK.match(scanner.text, pos)
    if auto:
        return scanner.take(pos, auto.end(), "autolink")
    return scanner.take(pos, _html_end(scanner.text, pos, scanner.finder), "html")


def _exclamation(scanner: Scanner, pos: int) -> int:
    image = scanner.text.startswith("[", pos + 1)
    return _bracket(scanner, pos, image=True) if image else -1


def _bracket(scanner: Scanner, pos: int, *, image: bool = False) -> int:
    scanner.brackets.append((pos, image))
    return pos + 1 + image


def _close_bracket(scanner: Scanner, pos: int) -> int:
    """Match the closing bracket at ``pos`` with the last open bracket.

    Returns the end of the link, image or footnote reference, or -1.
    """
    if not scanner.brackets:
        return -1
    start, image = scanner.brackets.pop()
    active = image or len(scanner.brackets) >= scanner.inactive
    scanner.inactive = min(scanner.inactive, len(scanner.brackets))
    if not active:
        return -1
    label_start = start + 1 + image
    is_note = scanner.footnotes and not image and scanner.text.startswith("^", label_start)
    if is_note and pos > label_start + 1:
        return scanner.take(start, pos + 1, "footnote-reference")
    end = _link_end(scanner, label_start, pos)
    if end >= 0 and not image:
        scanner.inactive = len(scanner.brackets)
    return scanner.take(start, end, "image" if image else "link")


def _link_end(scanner: Scanner, label_start: int, pos: int) -> int:
    """Return the end of the link or image with the text ``[label_start, pos)``, or -1."""
    text = scanner.text
    after = pos + 1
    if text.startswith("(", after) and scanner.finder.find(")", after) >= 0:
        end = _inline_link_end(text, after)
        if end >= 0:
            return end
    label = text[label_start : min(pos, label_start + _MAX_LABEL + 1)]
    following = _LABEL.match(text, after) if text.startswith("[", after) else None
    if following:
        after = following.end()
        label = following.group(1) if following.group(1).strip() else label
    known = len(label) <= _MAX_LABEL and normalize_label(label) in scanner.references
    return after if known else -1


_COMMONMARK: Final[Mapping[str, InlineRule]] = {
    "\\": _backslash,
    "`": _backtick,
    "<": _angle,
    "!": _exclamation,
    "[": _bracket,
    "]": _close_bracket,
}


def _outermost(spans: list[InlineSpan]) -> list[InlineSpan]:
    """Return the outermost spans, each with the spans inside it.

    In ``spans``, a span comes after the spans inside it.
    """
    kept: list[InlineSpan] = []
    for span in spans:
        first = len(kept)
        while first and kept[first - 1].start >= span.start:
            first -= 1
        if first < len(kept):
            inside = tuple(kept[first:])
            kept[first:] = [InlineSpan(span.start, span.end, span.kind, inside)]
        else:
            kept.append(span)
    return kept
