"""Containers: blocks that a line of marks opens, with Markdown inside.

A container ends at its closing line, or at text that is not indented::

    ::: note Title           /// note | Title         !!! note "Title"
    Text.                    Text.                        Text.
    :::                      ///

The plugins for containers read the rest of the document again for each nested container. Here, one
search finds the closing lines of all containers inside a container as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from markdown_it.rules_block import StateBlock

from chunkast.markdown.fence_lines import Fences
from chunkast.markdown.open_elements import OpenElements

__all__ = ("container_rule", "is_container_line", "line_text")


@dataclass(frozen=True, slots=True)
class Marker:
    """A kind of line that opens a container.

    opener: matches the line; its groups are the marks and the container's info.
    indentation: the columns before the text inside, or 0 if a line of marks closes the container.
    required: a line without a closing line, or without indented text below it, is text.
    nests: a container may contain another one with as many marks.
    prefix: begins the container's info.
    """

    opener: re.Pattern[str]
    indentation: int = 0
    required: bool = False
    nests: bool = True
    prefix: str = ""


_MARKERS: Final[Mapping[str, tuple[Marker, ...]]] = {
    # Site generators.
    "containers": (Marker(re.compile(r"(:{3,})([^:].*)"), nests=False),),
    # Fenced divs in Pandoc and Quarto: attributes in braces, or one word.
    "quarto": (Marker(re.compile(r"(:{3,})[ \t]*(\{[^{}]*\}|[^\s:{}]+)[ \t]*:*")),),
    # PyMdown Extensions and FastAPI's documentation.
    "blocks": (Marker(re.compile(r"(/{3,})[ \t]*([\w-]+(?:[ \t]*\|.*)?)"), required=True),),
    # MkDocs: content tabs; admonitions with words and a title in quotes, or with any other text.
    "admonitions": (
        Marker(re.compile(r"(===[!+]{0,2})[ \t]+(\"[^\"]+\")"), 4, prefix="tab "),
        Marker(
            re.compile(r"(!!!|\?\?\?\+?)[ \t]*((?=\S)(?:[\w-]+(?: +[\w-]+)*)?(?: *\"[^\"]*\")?)"),
            4,
        ),
        Marker(re.compile(r"(!!!|\?\?\?\+?)[ \t]*(\S.*)"), 4, required=True),
    ),
}
# The characters that containers' lines begin with.
_MARKS: Final = ":/=!?"
# The marks in a closing line, at least.
_LEAST: Final = 3
_KEY: Final = "chunkast_container_ends"


def container_rule(extension: str) -> Callable[[StateBlock, int, int, bool], bool]:
    """Return the block rule for the containers of an extension."""
    markers = _MARKERS[extension]

    def rule(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        line = line_text(state, start_line)
        for marker in markers:
            if (opening := marker.opener.fullmatch(line)) and not state.is_code_block(start_line):
                return _container(state, marker, opening, start_line, end_line, silent)
        return False

    return rule


def is_container_line(line: str) -> bool:
    """Return whether a line without its containers' prefixes opens or closes a container."""
    if line[0] not in _MARKS:
        return False
    closes = line[0] in ":/" and len(line) >= _LEAST and not line.strip(line[0])
    return closes or any(marker.opener.fullmatch(line) for marker in chain(*_MARKERS.values()))


def line_text(state: StateBlock, line: int) -> str:
    """Return a line without its containers' prefixes and surrounding white space."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _container(  # noqa: PLR0917 - as the parser's own methods
    state: StateBlock,
    marker: Marker,
    opening: re.Match[str],
    first: int,
    end_line: int,
    silent: bool,
) -> bool:
    """Parse the container whose line ``opening`` matched, unless the line is text."""
    indent = state.blkIndent + marker.indentation
    if marker.indentation:
        last, closed = _indented_end(state, first + 1, end_line, indent), False
        is_text = last == first + 1 or state.isEmpty(first + 1)
    else:
        last, closed = _closing_line(state, marker, first, end_line)
        is_text = not closed
    if marker.required and is_text:
        return False
    if silent:
        return True
    after = last + closed
    outer = state.parentType, state.lineMax, state.blkIndent
    state.parentType, state.lineMax, state.blkIndent = "container", last, indent
    token = state.push("container_block_open", "div", 1)
    token.markup, token.info = opening[1], marker.prefix + opening[2]
    token.block = True
    token.map = [first, after]
    state.md.block.tokenize(state, first + 1, last)
    token = state.push("container_block_close", "div", -1)
    token.markup, token.block = opening[1], True
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


def _closing_line(state: StateBlock, marker: Marker, first: int, end_line: int) -> tuple[int, bool]:
    """Return the line that closes a container, and True; or the line after it, and False."""
    ends: dict[tuple[int, int], tuple[int, bool]] = state.env.setdefault(_KEY, {})
    indent = state.blkIndent
    if (first, indent) not in ends:
        for opening, last, closed in _ends(state, marker, first, end_line):
            ends[opening, indent] = last, closed
    last, closed = ends[first, indent]
    return (last, closed) if last < end_line else (end_line, False)


def _ends(
    state: StateBlock, marker: Marker, line: int, end_line: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield the opening line and the end of the container at ``line`` and of those inside it.

    A line of marks closes the innermost container with as many marks. If there is none, it closes
    the innermost container, unless the closing line is required.
    """
    opened: OpenElements[int, list[int]] = OpenElements()
    fences = Fences()
    mark = state.src[state.bMarks[line] + state.tShift[line]]
    while line < end_line:
        text = line_text(state, line)
        if text and opened.stack and state.sCount[line] < state.blkIndent:
            break
        if state.is_code_block(line) or fences.take(text) or not text.startswith(mark):
            pass
        elif opening := marker.opener.fullmatch(text):
            marks = len(opening[1])
            if opened.stack and not marker.nests and marks >= opened.stack[-1][0]:
                opened.stack[-1][1].append(line)  # the same line closes both
            else:
                opened.open(marks, [line])
        elif len(text) >= _LEAST and not text.strip(mark):
            closed = opened.close(len(text))
            if not closed and not marker.required:
                closed = opened.close(opened.stack[-1][0])
            yield from ((each, line, each == closed[-1][0]) for each in chain(*closed))
            if not opened.stack:
                return
        line += 1
    yield from ((each, line, False) for _, lines in opened.stack for each in lines)
