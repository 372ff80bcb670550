"""Find the ends of JSX tags and expressions in MDX, past any braces and quotes inside."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from chunkast.markdown.scanner import Scanner

__all__ = ("JsxItem", "expression", "jsx_item", "tag")

# Longer tags and expressions inside prose may be cut.
_MAX_INLINE: Final = 500

_TAG = re.compile(r"<(?P<slash>/?)[ \t]*(?P<name>(?:[^\W\d]|\$)[\w$.:-]*)?")
_ATTRIBUTE = re.compile(r"\s+|[\w$.:-]+|=|\"[^\"]*\"|'[^']*'")
_CLOSING_END = re.compile(r"[ \t]*>")
_NAME_END = re.compile(r"\s|/>")
# Strings and comments first, so that braces inside them are skipped.
_SCRIPT = re.compile(
    r"[^{}\"'`/\\]+|\\.|\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
    r"|/\*.*?\*/|//[^\r\n]*|.",
    re.DOTALL,
)


class JsxItem(NamedTuple):
    """The result of parsing a JSX tag or expression.

    name: the tag's name, or "" for a fragment.
    kind: the kind of tag, "expression", or "text" if neither was found.
    end: the end of the tag or expression; for "text", the position at which the search stopped.
    """

    kind: Literal["open", "close", "single", "expression", "text"]
    end: int
    name: str = ""


def jsx_item(text: str, pos: int, limit: int) -> JsxItem:
    """Return the tag or expression that begins at ``pos`` and ends no later than ``limit``."""
    if text.startswith("{", pos):
        end, closed = _expression_end(text, pos, limit)
        return JsxItem("expression" if closed else "text", end)
    tag = _TAG.match(text, pos, limit)
    if tag is None:
        return JsxItem("text", pos + 1)
    name, at = tag["name"] or "", tag.end()
    if tag["slash"]:
        closing = _CLOSING_END.match(text, at, limit)
        return JsxItem("close", closing.end(), name) if closing else JsxItem("text", at)
    if text.startswith(">", at):
        return JsxItem("open", at + 1, name)
    named = bool(name) and _NAME_END.match(text, at, limit) is not None
    return _with_attributes(text, at, limit, name) if named else JsxItem("text", at)


def _with_attributes(text: str, at: int, limit: int, name: str) -> JsxItem:
    """Return the opening or self-closing tag whose name ends at ``at``."""
    while at < limit:
        if text[at] == ">":
            return JsxItem("open", at + 1, name)
        if text.startswith("/>", at, limit):
            return JsxItem("single", at + 2, name)
        if text[at] == "{":
            at, closed = _expression_end(text, at, limit)
            if not closed:
                break
            continue
        part = _ATTRIBUTE.match(text, at, limit)
        if part is None:
            break
        at = part.end()
    return JsxItem("text", at)


def _expression_end(text: str, pos: int, limit: int) -> tuple[int, bool]:
    """Return the end of the expression at ``pos``, and whether the expression is closed.

    If it is not closed, the first value is ``limit``.
    """
    depth = 0
    for match in _SCRIPT.finditer(text, pos, limit):
        part = match[0]
        if part == "{":
            depth += 1
        elif part == "}":
            depth -= 1
            if not depth:
                return match.end(), True
        elif part == "`" or (part == "/" and text.startswith("/*", match.start())):
            break  # a template or a comment without an end before the limit
    return limit, False


def tag(scanner: Scanner, pos: int) -> int:
    """Match an MDX tag inside prose; return its end, or -1."""
    return scanner.take(pos, _inline_end(scanner, pos, ">"), "html")


def expression(scanner: Scanner, pos: int) -> int:
    """Match an MDX expression, or a Quarto shortcode or attributes, inside prose.

    Returns the end of the match, or -1.
    """
    return scanner.take(pos, _inline_end(scanner, pos, "}"), "expression")


def _inline_end(scanner: Scanner, pos: int, last: str) -> int:
    """Return the end of the tag or expression at ``pos`` that ends with ``last``, or -1."""
    if scanner.allowance <= 0 or not pos < scanner.finder.find(last, pos) < pos + _MAX_INLINE:
        return -1
    item = jsx_item(scanner.text, pos, min(len(scanner.text), pos + _MAX_INLINE))
    if item.kind != "text":
        return item.end
    scanner.allowance -= item.end - pos
    return -1
