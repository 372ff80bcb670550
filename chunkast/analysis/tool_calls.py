"""Find and mask the tool calls in a document, and their results.

Each call and each result is one protected block, whatever Markdown it contains. A result is also
protected together with the calls right before it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from chunkast.config import ChunkConfig
from chunkast.markdown import CONSTRUCTS, parse_document
from chunkast.model import Analysis, Annotation, Block, ProtectedRegion
from chunkast.text.source_map import line_starts
from chunkast.text.spans import spliced
from chunkast.toolcalls import Text, ToolCall, parse_tool_calls
from chunkast.toolcalls.results import find_exchanges

__all__ = ("find_tool_calls", "mask_calls", "with_blocks", "with_calls")

# A call is masked as a comment of its size: a block that may contain anything up to its end. White
# space shows where it may be divided.
_OPENER: Final = "<!--"
_CLOSER: Final = "-->"
_CHARACTER = re.compile(r"[^ \t\r\n]")
# The markers of containers that may precede a call on its first line.
_CONTAINER_MARKS: Final = " \t>-+*.)0123456789"
# The end of a line, and a line that makes a heading of it.
_UNDERLINED = re.compile(r"[^\r\n]*(?:\r\n?|\n)[ >]{0,3}(?:-+|=+)[ \t]*(?=[\r\n]|\Z)")
# The kinds of regions, of blocks and of masks. A result that is not on lines of its own has a mask
# for the lines between its first and its last, and masks for the rest of it.
_CALL, _RESULT, _EXCHANGE = "tool-call", "tool-result", "tool-exchange"
_LINES, _REST = "lines", "rest"
# The fields of a call in the metadata of a chunk.
_LISTED: Final = ("name", "arguments", "start_index", "end_index")


def find_tool_calls(
    text: str, config: ChunkConfig
) -> tuple[tuple[ToolCall, ...], list[ProtectedRegion], tuple[str, ...]]:
    """Return the calls to the configured tools, protected regions, and notes on problems in calls.

    The regions are those of calls, of results, and of each result with its calls. They are sorted
    by start; of those with the same start, the longest comes first.
    """
    if not config.tools:
        return (), [], ()
    notes: list[str] = []
    parts = parse_tool_calls(
        text,
        config.tools,
        protocols=config.protocols,
        on_problem=lambda problem: notes.append(str(problem)),
    )
    calls = tuple(part for part in parts if not isinstance(part, Text))
    spans = [(call.start_index, call.end_index) for call in calls]
    regions = {ProtectedRegion(*span, _CALL) for span in spans}
    for called, results in find_exchanges(text, spans):
        regions |= {ProtectedRegion(*span, _RESULT) for span in results}
        # As many results as fit stay with all of the calls, and the first one with the last calls.
        regions |= {ProtectedRegion(called[0][0], end, _EXCHANGE) for _, end in results}
        regions |= {ProtectedRegion(start, results[0][1], _EXCHANGE) for start, _ in called}
    return calls, sorted(regions, key=lambda region: (region.start, -region.end)), tuple(notes)


def mask_calls(
    text: str, regions: Sequence[ProtectedRegion]
) -> tuple[str, Sequence[ProtectedRegion]]:
    """Replace each call and result with an HTML comment of the same length; return text and masks.

    The masks are the spans that were replaced. No mask is inside another.
    """
    masks: list[ProtectedRegion] = []
    starts = line_starts(text) if regions else ()
    end = 0
    for region in regions:
        if region.kind == _EXCHANGE or region.start < end:
            continue
        start, end = region.start, region.end
        slot = bisect_right(starts, start)
        after = starts[slot]
        is_inside = text[max(starts[slot - 1], start - 99) : start].strip(_CONTAINER_MARKS) != ""
        # The last line of several lines is no heading.
        if is_inside and after < end and (heading := _UNDERLINED.match(text, end)):
            end = heading.end()
        if region.kind == _CALL or not is_inside:
            masks.append(replace(region, end=end))
            continue
        lines = text[after : starts[bisect_left(starts, end) - 1]]
        begin, until = after + len(lines) - len(lines.lstrip()), after + len(lines.rstrip())
        edges = (start, begin, until, end) if begin < until else (start, end)
        spans = zip(pairwise(edges), (_REST, _LINES, _REST), strict=False)
        masks += (ProtectedRegion(*span, kind) for span, kind in spans)
    return spliced(text, (_masked(text, mask) for mask in masks)), masks


def _masked(text: str, mask: ProtectedRegion) -> tuple[int, int, str]:
    start, end = mask.start, mask.end
    masked = _CHARACTER.sub("x", text[start:end])
    ends = masked[: len(_OPENER)] + masked[-len(_CLOSER) :]
    # A block, if there is room for a comment.
    if mask.kind != _REST and end - start >= len(ends) and not {*ends} & {"\n", "\r"}:
        masked = _OPENER + masked[len(_OPENER) : -len(_CLOSER)] + _CLOSER
    return start, end, masked


def with_blocks(analysis: Analysis, masks: Sequence[ProtectedRegion]) -> Analysis:
    """Return the analysis of a masked text with blocks for calls, results and the text of results.

    The blocks inside results are read in the original text.
    """
    text, blocks = analysis.text, _renamed(analysis.blocks, analysis, masks)
    results = (block for block in blocks.walk() if block.kind == _RESULT)
    parts = ((block.start, block.end, text[block.start : block.end]) for block in results)
    masked = spliced(analysis.masked, parts)
    return replace(analysis, blocks=blocks, masked="" if masked == text else masked)


def with_calls(
    analysis: Analysis, calls: Iterable[ToolCall], regions: Iterable[ProtectedRegion]
) -> Analysis:
    """Return the analysis with the ``regions`` and an annotation for each call added."""
    listed = ({name: getattr(call, name) for name in _LISTED} for call in calls)
    marks = [Annotation(c["start_index"], c["end_index"], "tool_calls", c) for c in listed]
    return analysis.plus(regions=regions, annotations=marks)


def _renamed(block: Block, analysis: Analysis, masks: Sequence[ProtectedRegion]) -> Block:
    """Return ``block`` with the HTML blocks that begin with a mask changed to calls and results.

    A result becomes a container of the blocks in it if it has lines of its own.
    """
    if block.children:
        children = tuple(_renamed(child, analysis, masks) for child in block.children)
        return replace(block, children=children)
    slot = bisect_left(masks, block.start, key=lambda mask: mask.start)
    if CONSTRUCTS[block.kind].named != "html" or slot == len(masks):
        return block
    mask, text = masks[slot], analysis.text
    first, last = block.start, block.end
    if mask.start >= last or text[first : mask.start].strip(_CONTAINER_MARKS):
        return block
    if mask.kind == _CALL:
        return replace(block, kind=_CALL)
    if mask.kind == _RESULT:
        starts = line_starts(text, first, last)
        first, last = starts[1], starts[-2]
    if mask.start > block.start or mask.end > block.end or first >= last:
        return replace(block, kind="tool-output")
    inside = parse_document(text[first:last], analysis.extensions).tree.children
    # The first and the last line.
    edges = ((block.start, first), (last, block.end))
    opening, closing = ([Block("marker", *edge)] if edge[0] < edge[1] else [] for edge in edges)
    blocks = (*opening, *(_moved(child, first) for child in inside), *closing)
    return replace(block, kind=_RESULT, children=blocks)


def _moved(block: Block, by: int) -> Block:
    children = tuple(_moved(child, by) for child in block.children)
    return replace(block, start=block.start + by, end=block.end + by, children=children)
