"""JSX tags and expressions of MDX: where each ends, past braces and quotes inside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ("JsxItem", "jsx_item")

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


@dataclass(frozen=True, slots=True)
class JsxItem:
    """A tag or an expression that ends at ``end``; ``name`` is a tag's, "" for a fragment.

    The kind "text" means that it is neither; ``end`` is then how far was searched.
    """

    kind: Literal["open", "close", "single", "expression", "text"]
    end: int
    name: str = ""


def jsx_item(text: str, pos: int, limit: int) -> JsxItem:
    """The tag or expression that begins at ``pos`` and ends before ``limit``."""
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
    """The opening or single tag whose name ends at ``at``."""
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
    """The end of the expression whose ``{`` is at ``pos``; or how far was searched."""
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
