"""Tool calls in a document: each is one protected block, whatever Markdown it contains."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from chunkast.config import ChunkConfig
from chunkast.markdown import CONSTRUCTS
from chunkast.model import Analysis, Annotation, Block, ProtectedRegion
from chunkast.text.source_map import line_starts
from chunkast.toolcalls import Text, ToolCall, parse_tool_calls

__all__ = ("find_tool_calls", "mask_calls", "with_calls")

# A call is masked as a comment of its size: a block that may contain anything up to its end.
_OPENER: Final = "<!--"
_CLOSER: Final = "-->"
_CHARACTER = re.compile(r"[^\r\n]")
_LINE_ENDED = re.compile(r"(?<=[\r\n])")
# The markers of containers that may precede a call on its first line.
_CONTAINER_MARKS: Final = " \t>-+*.)0123456789"


def find_tool_calls(text: str, config: ChunkConfig) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
    """Return the calls to the configured tools, and notes on any problems found in them."""
    if not config.tools:
        return (), ()
    notes: list[str] = []
    parts = parse_tool_calls(
        text,
        config.tools,
        protocols=config.protocols,
        on_problem=lambda problem: notes.append(str(problem)),
    )
    return tuple(part for part in parts if not isinstance(part, Text)), tuple(notes)


def mask_calls(source: str, calls: Sequence[ToolCall]) -> str:
    """Return ``source`` with each call replaced with an HTML comment of the same length."""
    starts = line_starts(source)
    parts: list[str] = []
    at = 0
    for call in calls:
        # The indentation that keeps the call's other lines in the same container.
        column = call.start_index - starts[bisect_right(starts, call.start_index) - 1]
        parts += (source[at : call.start_index], _masked(call.raw, column))
        at = call.end_index
    return "".join([*parts, source[at:]])


def _masked(call: str, column: int) -> str:
    line, *more = _LINE_ENDED.split(call)
    covered = [_CHARACTER.sub("x", line)]
    for line in more:
        indented = min(column, len(line) - len(line.lstrip(" \t")))
        covered.append(line[:indented] + _CHARACTER.sub("x", line[indented:]))
    masked = "".join(covered)
    ends = call[: len(_OPENER)] + call[-len(_CLOSER) :]
    if len(call) < len(_OPENER + _CLOSER) or "\n" in ends or "\r" in ends:
        return masked  # no room for a comment
    return _OPENER + masked[len(_OPENER) : -len(_CLOSER)] + _CLOSER


def with_calls(analysis: Analysis, calls: Sequence[ToolCall]) -> Analysis:
    """Return the analysis with a block, a region and an annotation added for each call."""
    marks = [
        Annotation(
            call.start_index,
            call.end_index,
            "tool_calls",
            {
                "name": call.name,
                "arguments": call.arguments,
                "start_index": call.start_index,
                "end_index": call.end_index,
            },
        )
        for call in calls
    ]
    regions = [ProtectedRegion(call.start_index, call.end_index, "tool-call") for call in calls]
    starts = [call.start_index for call in calls]
    blocks = _renamed(analysis.blocks, analysis.text, starts)
    return replace(analysis, blocks=blocks).plus(regions=regions, annotations=marks)


def _renamed(block: Block, text: str, starts: list[int]) -> Block:
    """Return ``block`` with HTML blocks that begin with a call changed to kind "tool-call"."""
    if block.children:
        children = tuple(_renamed(child, text, starts) for child in block.children)
        return replace(block, children=children)
    slot = bisect_left(starts, block.start)
    if CONSTRUCTS[block.kind].named != "html" or slot == len(starts) or starts[slot] >= block.end:
        return block
    begins = not text[block.start : starts[slot]].strip(_CONTAINER_MARKS)
    return replace(block, kind="tool-call") if begins else block
