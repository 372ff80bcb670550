"""A heading's title as plain text, as a reader of the rendered document sees it.

Links and images, inline or by reference, become their text. Footnote marks and HTML tags are
removed. A line break, or ``<br>``, becomes a space. Dollar math is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

import regex
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from chunkast.markdown.dialects import Dialect, dialects_of
from chunkast.markdown.inline import normalize_label
from chunkast.text.hashes import normalize_text

__all__ = ("heading_id", "plain_title", "slug_of", "without_attributes")

# Characters that may begin markup, and those that only Python counts as white space. A title
# without them needs no parsing.
_SPECIAL = re.compile(r"[\\`*_<\[&~\x1c-\x1f\x85\ufeff]")
# Text whose only markup is code in single backticks, with no space at either end.
_ONLY_CODE = re.compile(r"(?:[^\\`*_<\[&~$^]|`[^`\s](?:[^`]*[^`\s])?`(?!`))+")
# Possible markup; not an underscore inside a word or an ampersand before a space.
_MARKUP = re.compile(r"[\\`*<\[]|_(?![^\W_])|(?<![^\W_])_|&[#A-Za-z]|~~")
# Attributes of Pandoc, kramdown and Docusaurus; an id in a comment, as in MDX.
_ATTRIBUTES = re.compile(r"\{(?:[ \t]*(?:[#.:]|-[ \t]*\}|[\w-]{1,100}=)|/\*)")
_ID = re.compile(r"#([^\s{}#]+)")
# GitHub keeps letters, combining marks, digits, connectors, hyphens and spaces.
_NOT_IN_SLUG = regex.compile(r"[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\- ]")
_BREAK = re.compile(r"<br[\s/>]", re.IGNORECASE)
# Titles longer than this are not parsed: inline parsing is not linear.
_MAX_TITLE: Final = 2_000


class _Definitions:
    """The link definitions, in the form that the parser expects."""

    _FOUND: Final = {"href": "", "title": ""}

    def __init__(self, labels: Collection[str]) -> None:
        self._labels = labels

    def get(self, label: str, default: object) -> object:
        return self._FOUND if normalize_label(label) in self._labels else default


def _lone_bracket(state: StateInline, silent: bool) -> bool:
    """Read a bracket that is never closed as text, since other rules would search to the end."""
    mark = state.src[state.pos]
    if mark not in "[!^" or state.src.find("]", state.pos) >= 0:
        return False
    if not silent:
        state.pending += mark
    state.pos += 1
    return True


@lru_cache(maxsize=32)
def _inline_parser(dialects: tuple[Dialect, ...]) -> MarkdownIt:
    md = MarkdownIt("commonmark")
    if dialects:
        md.enable("strikethrough")
    md.inline.ruler.before("link", "lone_bracket", _lone_bracket)
    for dialect in dialects:
        for name, (before, rule) in dialect.titles.items():
            md.inline.ruler.before(before, name, rule)
    return md


def plain_title(
    content: str,
    references: Collection[str] = frozenset(),
    footnotes: Collection[str] = frozenset(),
    extensions: tuple[str, ...] = (),
) -> str:
    """Return a heading's ``content`` without its markup, on one line.

    ``references`` are the normalized labels of the document's link definitions, and ``footnotes``
    are the labels of its footnotes. Undefined references are unchanged.
    """
    if not _SPECIAL.search(content):
        return " ".join(content.split())
    if len(content) <= _MAX_TITLE and _ONLY_CODE.fullmatch(content):
        content = content.replace("`", "")
    elif len(content) <= _MAX_TITLE and _MARKUP.search(content):
        env: dict[str, Any] = {"references": _Definitions(references), "footnotes": footnotes}
        tokens: list[Token] = []
        md = _inline_parser(dialects_of(extensions))
        md.inline.parse(content, md, env, tokens)
        content = "".join(_texts(tokens))
    return normalize_text(content)


def without_attributes(content: str) -> str:
    """Return a heading's ``content`` without the attributes in braces at its end."""
    at = _attributes(content)
    return content[:at].rstrip() if at > 0 else content


def heading_id(content: str) -> str:
    """Return the id in the attributes at the end of a heading's ``content``, or ""."""
    at = _attributes(content)
    ids = _ID.findall(content, at) if at > 0 else []
    return ids[-1] if ids else ""


def slug_of(title: str) -> str:
    """Return the anchor that GitHub gives to the first heading with this title."""
    return str(_NOT_IN_SLUG.sub("", title.lower()).replace(" ", "-"))


def _attributes(content: str) -> int:
    """Return the start of the attributes at the end of ``content``, or -1."""
    end = content.rstrip()
    at = end.rfind("{") if end.endswith("}") else -1
    return at if at > 0 and _ATTRIBUTES.match(content, at) else -1


def _texts(tokens: list[Token]) -> list[str]:
    texts: list[str] = []
    for token in tokens:
        if token.type == "image":
            texts.extend(_texts(token.children or []))
        elif token.type in ("text", "text_special", "code_inline"):
            texts.append(token.content)
        elif token.type in ("softbreak", "hardbreak") or _BREAK.match(token.content):
            texts.append(" ")
    return texts
