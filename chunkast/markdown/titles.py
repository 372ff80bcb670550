"""Read a heading's title as plain text, as in the rendered document, and its anchors.

Links and images, inline or by reference, become their text. Footnote marks, HTML tags, permalinks
and ids are removed. A line break, or ``<br>``, becomes a space. Dollar math is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final, NamedTuple

import regex
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from chunkast.markdown.dialects import Dialect, dialects_of
from chunkast.markdown.dialects.anchors import BARE_MARKS, TitleText
from chunkast.markdown.inline import normalize_label
from chunkast.text.hashes import normalize_text

__all__ = ("Title", "read_title", "short_title", "slug_of", "split_attributes")

# Characters that may begin markup or are bare permalinks, and those that only Python counts as white
# space. A title without them needs no parsing.
_SPECIAL = re.compile(rf"[\\`*_<\[&~\x1c-\x1f\x85\ufeff{BARE_MARKS}]")
# Text whose only markup is code in single backticks, with no space at either end.
_ONLY_CODE = re.compile(rf"(?:[^\\`*_<\[&~$^{BARE_MARKS}]|`[^`\s](?:[^`]*[^`\s])?`(?!`))+")
# Possible markup; not an underscore inside a word or an ampersand before a space.
_MARKUP = re.compile(r"[\\`*<\[]|_(?![^\W_])|(?<![^\W_])_|&[#A-Za-z]|~~")
# Attributes of Pandoc, kramdown and Docusaurus; an id in a comment, as in MDX.
_ATTRIBUTES = re.compile(r"\{(?:[ \t]*(?:[#.:]|-[ \t]*\}|[\w-]{1,100}=)|/\*)")
# Attributes of a link.
_OF_LINK = re.compile(r"\)\{[^{}]*\}\s*\Z")
# The id in attributes, as in "{#id}" or "{ id="id" }".
_ID = re.compile(r"""(?:#|(?<![^\s{])id=["']?)([^\s{}#"']+)""")
# An id in double brackets, as in Hugging Face's documentation.
_NAME = re.compile(r"\[\[([^\[\]|#^\r\n]+)\]\]\s*\Z")
# A link to a heading's source or editor, which sites add after a letter or a space: "[edit]",
# "[source](url)", "[[edit](url)]", "[[source]](url)".
_WORD: Final = r"\[(?:edit(?: source)?|(?:view )?source)\]"
_URL: Final = r"\((?:[^()]|\([^()]*\))*\)"
_EDIT_LINK = re.compile(
    rf"(?<=[^\W\d_]|\s)(?:{_WORD}(?:{_URL})?|\[{_WORD}(?:{_URL}\]|\]{_URL}))\s*\Z"
)
# A title that is only a tag of Hugo, such as {{% heading "objectives" %}}, and what it names.
_TAG = re.compile(r"\{(?:\{[<%]|%)[ \t]*[\w./-]+[ \t]+[\"'`]([^\"'`{}]+)[\"'`][ \t]*(?:%|[>%]\})\}")
_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")
# GitHub keeps letters, combining marks, digits, connectors, hyphens and spaces.
_NOT_IN_SLUG = regex.compile(r"[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\- ]")
# Titles longer than this are not parsed, as inline parsing is not linear, and are shortened in
# heading paths, as each chunk has one.
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


class Title(NamedTuple):
    """A heading's title without its markup, on one line, and the heading's anchors.

    anchors: the anchors in the heading, in order of precedence, except ``id``.
    id: the id in the attributes at the heading's end, or "".
    """

    text: str
    anchors: tuple[str, ...] = ()
    id: str = ""


def read_title(
    content: str,
    references: Collection[str] = frozenset(),
    footnotes: Collection[str] = frozenset(),
    extensions: tuple[str, ...] = (),
) -> Title:
    """Return the title of a heading whose source text is ``content``.

    ``references`` are the normalized labels of the document's link definitions, and ``footnotes``
    are the labels of its footnotes. Undefined references are unchanged.
    """
    own_id, names = "", tuple[str, ...]()
    if named := "attributes" in extensions:
        if content.endswith("}"):
            content, own_id = split_attributes(content)
        if content.endswith("]]"):
            content, names = _without_name(content)
    if content.startswith("{") and "liquid" in extensions and (tag := _TAG.fullmatch(content)):
        content = tag[1]
    if not _SPECIAL.search(content):
        return Title(" ".join(content.split()), names, own_id)
    if named and content.endswith(("]", ")")):
        content = _EDIT_LINK.sub("", content)
    title = TitleText()
    if len(content) <= _MAX_TITLE and _ONLY_CODE.fullmatch(content):
        return Title(normalize_text(content.replace("`", "")), names, own_id)
    if len(content) <= _MAX_TITLE and _MARKUP.search(content):
        env: dict[str, Any] = {"references": _Definitions(references), "footnotes": footnotes}
        tokens: list[Token] = []
        md = _inline_parser(dialects_of(extensions))
        md.inline.parse(content, md, env, tokens)
        _add_tokens(title, tokens)
    else:
        title.add(content)
    shown, fragments = title.without_permalinks() if named else (title.whole(), ())
    return Title(normalize_text(shown), (*fragments, *names, *title.names), own_id)


def short_title(title: str) -> str:
    """Return a title for heading paths; shorten it with "…" if it is longer than any real title."""
    return title if len(title) <= _MAX_TITLE else f"{title[: _MAX_TITLE - 1]}…"


def split_attributes(content: str) -> tuple[str, str]:
    """Split the attributes in braces off a heading's ``content``; return the rest and the id."""
    end = content.rstrip()
    at = end.rfind("{") if end.endswith("}") else -1
    if at <= 0 or not _ATTRIBUTES.match(content, at):
        return content, ""
    # Pandoc gives a permalink before them attributes, too.
    return _OF_LINK.sub(")", content[:at].rstrip()), next(reversed(_ID.findall(content, at)), "")


def _without_name(content: str) -> tuple[str, tuple[str, ...]]:
    """Return ``content`` without the ``[[id]]`` at its end, and the id; a wiki link is no id.

    It is an id if it has the form of one and no space before it, or if its slug is the title's.
    """
    at = content.rfind("[[")
    found = _NAME.match(content, at) if at > 0 else None
    title = content[:at]
    if found is None or title.isspace() or title.endswith("\\"):
        return content, ()
    name = found[1].strip()
    is_file = title[-1] == "!" and "." in name
    is_attached = not (title[-1].isspace() or is_file)
    if (is_attached and _SLUG.fullmatch(name)) or slug_of(name) == slug_of(title.strip()) != "":
        return title, (name,)
    return content, ()


def slug_of(title: str) -> str:
    """Return the anchor that GitHub gives to the first heading with this title."""
    return str(_NOT_IN_SLUG.sub("", title.lower()).replace(" ", "-"))


def _add_tokens(title: TitleText, tokens: list[Token]) -> None:
    for token in tokens:
        if token.type == "image":
            _add_tokens(title, token.children or [])
        elif token.type in ("text", "text_special", "code_inline"):
            title.add(token.content, is_code=token.type == "code_inline")
        elif token.type in ("softbreak", "hardbreak"):
            title.add(" ")
        elif token.type == "html_inline":
            title.add_tag(token.content)
        elif token.type in ("link_open", "link_close"):
            title.link(str(token.attrs.get("href", "")))
