"""A heading's title as plain text."""

from __future__ import annotations

import re
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ("plain_title", "without_attributes")

_MARKUP = re.compile(r"[\\`*_<\[\]&!~]")
# Of Pandoc, kramdown, Docusaurus; an id in a comment, as MDX needs it.
_ATTRIBUTES = re.compile(r"\{(?:[ \t]*(?:[#.:]|-[ \t]*\}|[\w-]{1,100}=)|/\*)")
# Titles longer than this are taken as they are: inline parsing is not linear.
_MAX_TITLE = 2_000


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def plain_title(content: str) -> str:
    """``content`` of a heading without its markup, on one line."""
    if len(content) <= _MAX_TITLE and _MARKUP.search(content):
        content = _without_code_marks(content) or _text_of(content)
    return " ".join(content.split())


def _without_code_marks(content: str) -> str:
    """``content`` whose only markup are code spans, each between single backticks; or ""."""
    parts = content.split("`")
    # Between two backticks stands code, and markup in it is none.
    if len(parts) % 2 == 0 or _MARKUP.search("".join(parts[::2])):
        return ""
    # Longer runs of backticks, and spaces beside one, would have to be looked at closer.
    if any(not part or part != part.strip() for part in parts[1::2]):
        return ""
    return "" if "" in parts[2:-1:2] else "".join(parts)


def _text_of(content: str) -> str:
    tokens = _inline_parser().parseInline(content)
    return "".join(_texts(tokens[0].children or []))


def without_attributes(content: str) -> str:
    """``content`` of a heading without the attributes, in braces, at its end."""
    end = content.rstrip()
    at = end.rfind("{") if end.endswith("}") else -1
    return content[:at].rstrip() if at > 0 and _ATTRIBUTES.match(content, at) else content


def _texts(tokens: list[Token]) -> list[str]:
    texts: list[str] = []
    for token in tokens:
        if token.type == "image":
            texts.extend(_texts(token.children or []))
        elif token.type in ("text", "code_inline"):
            texts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            texts.append(" ")
    return texts
