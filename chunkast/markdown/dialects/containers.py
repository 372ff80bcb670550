"""Parse containers: blocks with Markdown inside, which a line of marks opens.

A container ends at its closing line, or at text that is not indented::

    ::: note Title           /// note | Title         !!! note "Title"
    Text.                    Text.                        Text.
    :::                      ///

Microsoft Learn closes containers by their names, and has lines without content::

    ::: zone pivot="a"       :::row:::                :::image source="a.png":::
    Text.                    Text.
    ::: zone-end             :::row-end:::

A line whose container is never closed is text. The plugins for containers read the rest of the
document again for each nested container. Here, one search finds the closing lines of a container
and of all containers inside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from markdown_it.rules_block import StateBlock

from chunkast.markdown.fence_lines import Fences
from chunkast.markdown.lines import add_leaf, line_text, marks_end, unindent
from chunkast.markdown.open_elements import OpenElements

__all__ = ("MARKERS", "Marker", "container_rule")

_NOTES: Final = (
    "(?:note|tip|info|warning|danger|caution|important|attention|error|hint|seealso|success"
    r"|admonition)(?![\w-])"
)
# The info of an admonition: in PyMdown and site generators, in MyST, in Pandoc and Quarto.
_ADMONITION = re.compile(
    rf"(?:\{{[ \t]*)?(?:callout-|{_NOTES})|\{{[^{{}}]*\.(?:callout-|{_NOTES})", re.IGNORECASE
)
_ANY = re.compile("")
# The info of a container whose text is not Markdown.
_VERBATIM = re.compile(
    r"\{(?:code|code-block|code-cell|sourcecode|raw|math|mermaid|eval-rst)\}|mermaid(?![\w-])"
)


@dataclass(frozen=True, slots=True)
class Marker:
    """A kind of line that opens a container.

    opener: matches the line; its groups are the marks and the container's info.
    indentation: the columns before the text inside, or 0 if a line of marks closes the container.
    required: whether the line opens a container only if indented text is below it.
    exact: whether the closing line must have as many marks as the opening line.
    named: whether only a line with the container's name closes it; without such a line, the opening
        line is a directive.
    prefix: the beginning of the container's info.
    admonition: matches the info of an admonition, in which headings begin no sections.
    """

    opener: re.Pattern[str]
    indentation: int = 0
    required: bool = False
    exact: bool = False
    named: bool = False
    prefix: str = ""
    admonition: re.Pattern[str] = _ADMONITION


# By extension. Of the markers that match a line, the first one whose container ends decides.
MARKERS: Final[Mapping[str, tuple[Marker, ...]]] = {
    "containers": (
        # Pandoc and Quarto: attributes in braces or one word, and more marks.
        Marker(re.compile(r"(:{3,})[ \t]*(\{[^{}]*\}|[^\s:{}]+(?=[ \t]))[ \t]*:{3,}")),
        # Microsoft Learn: a line with marks at both ends.
        Marker(re.compile(r"(:{3,})([^:](?:(?!:::).)*):{3,}"), named=True),
        # Pandoc, Quarto, Docusaurus, VitePress, MyST.
        Marker(re.compile(r"(:{3,})([^:](?:(?!:::).)*)")),
    ),
    # PyMdown Extensions and FastAPI's documentation.
    "blocks": (Marker(re.compile(r"(/{3,})[ \t]*([\w-]+(?:[ \t]*\|.*)?)"), exact=True),),
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
# The marks in a closing line, at least.
_LEAST: Final = 3
# A line that closes a container by its name, and such lines anywhere in a text.
_CLOSER = re.compile(r":{3,}[ \t]*([A-Za-z][\w-]*)-end[ \t]*:*")
_CLOSERS = re.compile(r":::[ \t]*([A-Za-z][\w-]*)-end[ \t]*(?::+[ \t]*)?$", re.MULTILINE)
_NAME = re.compile(r":{3,}[ \t]*([A-Za-z][\w-]*)")
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
    names: the names of the containers that a line such as ``::: name-end`` closes.
    allowance: the number of lines that may still be searched.
    """

    def __init__(self, state: StateBlock) -> None:
        self.ends: dict[tuple[int, int], int] = {}
        self.names = frozenset(_CLOSERS.findall(state.src) if "-end" in state.src else ())
        self.allowance = _ALLOWANCE * len(state.bMarks)


def container_rule(markers: Sequence[Marker]) -> Callable[[StateBlock, int, int, bool], bool]:
    """Return the block rule for the containers that ``markers`` open."""

    def rule(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        if state.is_code_block(start_line):
            return False
        line = line_text(state, start_line)
        if _CLOSER.fullmatch(line):
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
        last = _closing_line(state, markers, first, end_line)
        after = last + 1
        is_text = last < 0
    if is_text and not marker.named:
        return False
    if silent:
        return True
    info = opening[2].strip()
    if is_text or _VERBATIM.match(info):
        return add_leaf(state, "directive", first, first + 1 if is_text else after)
    if marker.named:
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


def _closing_line(state: StateBlock, markers: Sequence[Marker], first: int, end_line: int) -> int:
    """Return the line that closes a container, or -1."""
    if _KEY not in state.env:
        state.env[_KEY] = _Containers(state)
    containers: _Containers = state.env[_KEY]
    key = first, state.blkIndent
    if key not in containers.ends and containers.allowance > 0:
        for line, last in _ends(state, markers, containers, range(first, end_line)):
            containers.ends[line, state.blkIndent] = last
    last = containers.ends.get(key, -1)
    return last if last < end_line else -1


def _ends(
    state: StateBlock, markers: Sequence[Marker], containers: _Containers, lines: range
) -> Iterator[tuple[int, int]]:
    """Yield the opening and the closing line, or -1, of containers in ``lines``.

    These are the container that the first line opens, and all inside it.
    """
    opened: _Opened = OpenElements()
    fences = Fences()
    marks = state.src[state.bMarks[lines[0]] + state.tShift[lines[0]]] * _LEAST
    for line in lines:
        containers.allowance -= 1
        text = line_text(state, line)
        if text and opened.stack and state.sCount[line] < state.blkIndent:
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
            if not opened.stack:
                return
        else:
            _open(opened, markers, containers.names, text, line)
    yield from ((opener.line, -1) for _, opener in opened.stack)


def _close(opened: _Opened, text: str, marks: str) -> list[_Opener]:
    """Close containers at a line of marks; return their openers, innermost first.

    Only the last one is the container that the line closes. A line without a name closes the
    innermost container with as many marks. If there is none, it closes the innermost container,
    unless that is closed by its name or needs as many marks.
    """
    if closer := _CLOSER.fullmatch(text):
        return opened.close(closer[1])
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
    if _CLOSER.fullmatch(text):
        return
    for marker in markers:
        if opening := marker.opener.fullmatch(text):
            name = _NAME.match(text)
            if name and name[1] in names:
                opened.open(name[1], _Opener(line, marker))
            elif not marker.named:
                opened.open(len(opening[1]), _Opener(line, marker))
            return
