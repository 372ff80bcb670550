"""Parse containers: blocks of Markdown after an opening line of marks.

A container ends at its closing line or, if its content is indented, at text that is not::

    ::: note Title           /// note | Title         !!! note "Title"
    Text.                    Text.                        Text.
    :::                      ///

Microsoft Learn closes containers by name, and has directives, which have no content::

    ::: zone pivot="a"       :::row:::                :::image source="a.png":::
    Text.                    Text.
    ::: zone-end             :::row-end:::

Shortcodes of Hugo and tags of GitBook and Markdoc also close containers by name. The closing tag
may be at the end of a line of text::

    {{< tab name="Linux" >}}      {% tab title="Linux" %}
    Text.                         Text.
    {{< /tab >}}                  {% endtab %}

Tags around code (``{% highlight bash %}``) become a fence.

The opening line of a container that is never closed is text. The plugins for containers read the
rest of the document again for each nested container. Here, one search finds the closing lines of a
container and of all containers inside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import regex
from markdown_it.rules_block import StateBlock

from chunkast.markdown.fence_lines import FENCE, Fences
from chunkast.markdown.lines import add_leaf, find_line, line_text, marks_end, unindent
from chunkast.markdown.open_elements import OpenElements

__all__ = ("MARKERS", "Marker", "container_rule", "may_close_tags")

_NOTES: Final = (
    "(?:note|tip|info|warning|danger|caution|important|attention|error|hint|seealso|success"
    r"|admonition)(?![\w-])"
)
# The info of an admonition: in PyMdown and site generators, in MyST, in Pandoc and Quarto.
_ADMONITION = re.compile(
    rf"(?:\{{[ \t]*)?(?:callout-|{_NOTES})|\{{[^{{}}]*\.(?:callout-|{_NOTES})", re.IGNORECASE
)
_ANY = re.compile("")
_ADMONITION_TAG = re.compile(rf"(?:alert|callout|notice)(?![\w-])|{_NOTES}", re.IGNORECASE)
# The tags of Liquid and its kin that are no containers: what they hold belongs to the text around.
_TEMPLATE: Final = (
    r"(?:end|if|(?:raw|verbatim|comment|doc|unless|case|for|tablerow|capture|block|macro|filter"
    r"|call|set|with)(?![\w-]))"
)
# The info of a container whose text is not Markdown.
_VERBATIM = re.compile(
    r"\{(?:code|code-block|code-cell|sourcecode|raw|math|mermaid|eval-rst)\}|mermaid(?![\w-])"
)
# The tags around code, which are fences unless a fence is inside; "text bash" is Istio's.
_CODE = re.compile(r"(?:highlight|codeblock|code-toggle|code|prism|text(?=[ \t]))(?![\w-])")


@dataclass(frozen=True, slots=True)
class Marker:
    """A kind of line that opens a container.

    opener: matches the line; its groups are the marks and the block's ``info``.
    indentation: the columns before the content, or 0 if a line of marks closes the container.
    required: whether the line opens a container only if indented text is below it.
    exact: whether the closing line must have as many marks as the opening line.
    named: whether only a line with the container's name closes it.
    alone: whether the opening line is a directive if its container is never closed.
    prefix: the text to put before the ``info``.
    admonition: matches the ``info`` of an admonition, in which headings begin no sections.
    """

    opener: re.Pattern[str]
    indentation: int = 0
    required: bool = False
    exact: bool = False
    named: bool = False
    alone: bool = False
    prefix: str = ""
    admonition: re.Pattern[str] = _ADMONITION


# By extension. Of the markers that match a line, the first one whose container ends decides.
MARKERS: Final[Mapping[str, tuple[Marker, ...]]] = {
    "containers": (
        # Pandoc and Quarto: attributes in braces or one word, and more marks.
        Marker(re.compile(r"(:{3,})[ \t]*(\{[^{}]*\}|[^\s:{}]+(?=[ \t]))[ \t]*:{3,}")),
        # Microsoft Learn: a line with marks at both ends.
        Marker(re.compile(r"(:{3,})([^:](?:(?!:::).)*):{3,}"), named=True, alone=True),
        # Pandoc, Quarto, Docusaurus, VitePress, MyST.
        Marker(re.compile(r"(:{3,})([^:](?:(?!:::).)*)")),
    ),
    # PyMdown Extensions and FastAPI's documentation.
    "blocks": (Marker(re.compile(r"(/{3,})[ \t]*([\w-]+(?:[ \t]*\|.*)?)"), exact=True),),
    # Hugo, GitBook, Markdoc: a tag alone on its line.
    "liquid": (
        Marker(
            re.compile(
                rf"(\{{[{{%])[<%-]{{0,2}}[ \t]*(?!{_TEMPLATE})([A-Za-z][^{{}}]*?)"
                r"(?<!/)-?(?:%|[>%]\})\}"
            ),
            named=True,
            admonition=_ADMONITION_TAG,
        ),
    ),
    # MkDocs: content tabs; admonitions with words and a title in quotes, or with any other text.
    "admonitions": (
        Marker(re.compile(r"(===[!+]{0,2})[ \t]+(\"[^\"]+\")"), 4, prefix="tab "),
        Marker(
            re.compile(r"(!!!|\?\?\?\+?)[ \t]*((?=\S)(?:[\w-]+(?: +[\w-]+)*)?(?: *\"[^\"]*\")?)"),
            4,
            admonition=_ANY,
        ),
        Marker(re.compile(r"(!!!|\?\?\?\+?)[ \t]*(\S.*)"), 4, required=True, admonition=_ANY),
    ),
}
# Matches in any text with a closing tag.
_MAY_CLOSE = re.compile(r"\{[{%][<%-]{0,2}[ \t]*(?:/|end)")
# The marks in a closing line, at least.
_LEAST: Final = 3
# The end of a line that closes a container by its name, and such ends anywhere in a text.
_BY_NAME: Final = (
    r"(?|:{3,}[ \t]*+([A-Za-z][\w-]*)-end[ \t]*+:*+"
    r"|\{(?:\{[<%]|%)-?[ \t]*+(?:/|end)[ \t]*+([A-Za-z][\w./-]*)[ \t]*+-?(?:%|[>%]\})\})[ \t]*+"
)
_CLOSER = regex.compile(rf"{_BY_NAME}\Z")
_CLOSERS = regex.compile(rf"{_BY_NAME}$", regex.MULTILINE)
# The name in a container's info, and the beginnings of opening tags with theirs.
_NAME = re.compile(r"[ \t]*([A-Za-z][\w./-]*)")
_OPENED = re.compile(r"\{(?:\{[<%]|%)-?[ \t]*([A-Za-z][\w./-]*)")
_KEY: Final = "chunkast_containers"
# The lines that may be searched for closing lines, per line of the text. Keeps the time linear if
# the search takes text for a fence, and so has to be repeated for the containers in it.
_ALLOWANCE: Final = 8


class _Opener(NamedTuple):
    """An opening line and its marker."""

    line: int
    marker: Marker


# By the number of marks, or the name, in the line that closes the container.
_Opened: TypeAlias = OpenElements[int | str, _Opener]


class _Containers:
    """The containers of one parse.

    ends: the closing lines of containers, by the opening line and the indentation around it; -1 if
        the container is never closed.
    names: the names of the containers that are closed by name, as by ``::: name-end``.
    allowance: the number of lines that may still be searched.
    """

    def __init__(self, state: StateBlock) -> None:
        self.ends: dict[tuple[int, int], int] = {}
        may_close = any(map(state.src.__contains__, ("-end", "%}", "}}")))
        found = _CLOSERS.finditer(state.src) if may_close else ()
        self.names = frozenset(closer[1] for closer in found)
        self.allowance = _ALLOWANCE * len(state.bMarks)


def may_close_tags(text: str) -> bool:
    """Return whether ``text`` may have a closing tag, by a fast search."""
    return "{" in text and _MAY_CLOSE.search(text) is not None


def container_rule(markers: Sequence[Marker]) -> Callable[[StateBlock, int, int, bool], bool]:
    """Return the block rule for the containers that ``markers`` open."""

    def rule(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        if state.is_code_block(start_line):
            return False
        line = line_text(state, start_line)
        if line.startswith(":") and _CLOSER.match(line):
            return add_leaf(state, "directive", start_line, start_line + 1, silent=silent)
        return any(
            _container(state, markers, (marker, opening), start_line, end_line, silent)
            for marker in markers
            if (opening := marker.opener.fullmatch(line))
        )

    return rule


def _container(  # noqa: PLR0917 - as the parser's own methods
    state: StateBlock,
    markers: Sequence[Marker],
    opened: tuple[Marker, re.Match[str]],
    first: int,
    end_line: int,
    silent: bool,
) -> bool:
    """Parse the container or directive whose line ``opened`` matched, unless the line is text."""
    marker, opening = opened
    indent = state.blkIndent + marker.indentation
    if marker.indentation:
        last = after = _indented_end(state, first + 1, end_line, indent)
        is_text = marker.required and (last == first + 1 or state.isEmpty(first + 1))
    else:
        last = _closing_line(state, markers, opening[1], first, end_line)
        after = last + 1
        is_text = last < 0
    if is_text and not marker.alone:
        return False
    if silent:
        return True
    info = opening[2].strip()
    if is_text or _VERBATIM.match(info):
        return add_leaf(state, "directive", first, first + 1 if is_text else after)
    if marker.named:
        is_closer, code = _CLOSER.match(line_text(state, last)), _CODE.match(info)
        if is_closer and code and find_line(state, first, last, "fence", FENCE.match) < 0:
            return add_leaf(state, "fence", first, after, info=info[code.end() :])
        # A line of text that ends with the closing tag belongs to the text inside.
        last = last if is_closer else after
        unindent(state, first, first + 1, last)
    outer = state.parentType, state.lineMax, state.blkIndent
    state.parentType, state.lineMax, state.blkIndent = "container", last, indent
    kind = "admonition" if marker.admonition.match(marker.prefix + info) else "container"
    token = state.push(f"{kind}_open", "div", 1)
    token.map, token.info = [first, after], marker.prefix + info
    # The lines that only open and close the container.
    token.meta["own"] = (first,) if after == last else (first, last)
    state.md.block.tokenize(state, first + 1, last)
    state.push(f"{kind}_close", "div", -1)
    state.parentType, state.lineMax, state.blkIndent = outer
    state.line = after
    return True


def _indented_end(state: StateBlock, line: int, end_line: int, indent: int) -> int:
    """Return the line after the last line that is sufficiently indented and not blank."""
    last = line
    while line < end_line:
        if not state.isEmpty(line):
            if state.sCount[line] < indent:
                break
            last = line + 1
        line += 1
    return last


def _closing_line(
    state: StateBlock, markers: Sequence[Marker], marks: str, first: int, end_line: int
) -> int:
    """Return the line that closes a container which these ``marks`` open, or -1."""
    if _KEY not in state.env:
        state.env[_KEY] = _Containers(state)
    containers: _Containers = state.env[_KEY]
    # A line with less indentation than the item before it ends the item.
    indent = min(state.blkIndent, state.sCount[first])
    key = first, indent
    if key not in containers.ends and containers.allowance > 0:
        for line, last in _ends(state, markers, marks[:_LEAST], range(first, end_line)):
            containers.ends[line, indent] = last
    last = containers.ends.get(key, -1)
    return last if last < end_line else -1


def _ends(
    state: StateBlock, markers: Sequence[Marker], marks: str, lines: range
) -> Iterator[tuple[int, int]]:
    """Yield the opening and the closing line, or -1, of containers in ``lines``.

    These are the container that the first line opens, and all inside it. Lines without ``marks``
    open and close none.
    """
    containers: _Containers = state.env[_KEY]
    opened: _Opened = OpenElements()
    fences = Fences()
    indent = min(state.blkIndent, state.sCount[lines[0]])
    for line in lines:
        containers.allowance -= 1
        text = line_text(state, line)
        if text and state.sCount[line] < indent:
            break
        # Microsoft Learn indents the text in rows and columns.
        is_code = state.is_code_block(line) and not (
            opened.stack and opened.stack[-1][1].marker.named
        )
        if is_code or fences.take(text) or marks not in text:
            continue
        # Lines of items and quotes open and close containers of their own.
        text = text[marks_end(text) :]
        if closed := _close(opened, text, marks):
            yield from ((opener.line, -1) for opener in closed[:-1])
            yield closed[-1].line, line
        else:
            _open(opened, markers, containers.names, text, line)
        if not opened.stack:
            return
    yield from ((opener.line, -1) for _, opener in opened.stack)


def _close(opened: _Opened, text: str, marks: str) -> list[_Opener]:
    """Close containers at a line of marks; return their openers, innermost first.

    Only the last one is the container that the line closes. A line without a name closes the
    innermost container with as many marks. If there is none, it closes the innermost container,
    unless that is closed by its name or needs as many marks.
    """
    if closer := _CLOSER.search(text):
        # A pair on one line is text.
        is_pair = closer[1] in _OPENED.findall(text, 0, closer.start())
        return [] if is_pair else opened.close(closer[1])
    if not text.startswith(marks) or text.strip(marks):
        return []
    closed = opened.close(len(text))
    if not closed and opened.stack:
        key, opener = opened.stack[-1]
        if isinstance(key, int) and not opener.marker.exact:
            closed = opened.close(key)
    return closed


def _open(
    opened: _Opened, markers: Sequence[Marker], names: frozenset[str], text: str, line: int
) -> None:
    """Open the container of a line, if it opens one."""
    if _CLOSER.search(text):
        return
    for marker in markers:
        if opening := marker.opener.fullmatch(text):
            name = _NAME.match(opening[2])
            if name and name[1] in names:
                opened.open(name[1], _Opener(line, marker))
            elif not marker.named:
                opened.open(len(opening[1]), _Opener(line, marker))
            return
