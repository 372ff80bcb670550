"""The pipeline around the parse of a document.

Before the parse, text may be masked: characters replaced one for one, line ends kept, so
that every position stays what it is. The parser reads the masked text, chunks are cut from
the original. After a parse that failed, the text is read as plain CommonMark, then as
paragraphs. After the parse, break points, regions and headings are found. A user's own
heuristics run after the built-in ones of their phase.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from chunkast.config import ChunkConfig
from chunkast.core.analysis.checks import checked, patch_problem
from chunkast.core.analysis.context import DocumentContext, DocumentDraft
from chunkast.core.analysis.headings import NUMBERED_HEADINGS, PSEUDO_HEADINGS
from chunkast.core.analysis.pages import MASK_PAGES, PAGES
from chunkast.core.analysis.points import scan_break_points
from chunkast.core.analysis.regions import find_regions
from chunkast.core.analysis.tool_calls import BLOCKS, MASK, find_tool_calls
from chunkast.errors import ChunkastWarning
from chunkast.heuristics import Draft, Heuristic, Patch, Pipeline, run_pipeline
from chunkast.markdown import ParsedMarkdown, parse_document, parse_paragraphs
from chunkast.markdown.dialects import dialects_of
from chunkast.markdown.kinds import kinds_where
from chunkast.markdown.prose import Prose
from chunkast.markdown.titles import plain_title, without_attributes
from chunkast.model import Analysis, Block, BreakPoint, Heading
from chunkast.text.front_matter import parse_front_matter
from chunkast.text.spans import SpanSet

__all__ = ("analyze_markdown",)

_Patch = Patch[Analysis]
_LOG = logging.getLogger(__name__)
_BLANK: Final = kinds_where("blank")
_LABELS: Final = kinds_where("labels")
_SECTIONS: Final = kinds_where("section")


def analyze_markdown(
    text: str, config: ChunkConfig, extensions: tuple[str, ...], *, blanks: bool = True
) -> Analysis:
    """Parse ``text`` with ``extensions``; find its break points, protected regions, headings.

    Without ``blanks``, blank lines between top-level blocks may be missing in the tree.
    Never raises: a heuristic's mistake becomes a note and a ``ChunkastWarning``.
    """
    calls, notes = find_tool_calls(text, config)
    extended = bool(calls or config.heuristics)
    # Heuristics see the whole tree.
    blanks = blanks or extended
    first: DocumentDraft = Draft(
        text, text, None, (), notes, DocumentContext(config, calls, extensions)
    )
    draft = run_pipeline(
        first,
        _BUILT_IN + Pipeline.of(config.heuristics) if extended else _BUILT_IN,
        lambda source: _new_analysis(
            text,
            source,
            parse_document(source, extensions, blanks=blanks or source is not text),
            extensions,
        ),
        check=patch_problem if extended else None,
        report=_warn,
    )
    assert draft.value is not None, "paragraphs are always found"
    value = draft.value
    if draft.notes:
        value = replace(value, notes=(*value.notes, *draft.notes))
    value = checked(value, _warn) if extended else value
    if _LOG.isEnabledFor(logging.INFO):
        _LOG.debug("%r", value)
        for note in value.notes:
            _LOG.info("%s", note)
    return value


def _warn(note: str) -> None:
    warnings.warn(note, ChunkastWarning, stacklevel=2)


def _new_analysis(
    text: str, source: str, document: ParsedMarkdown, extensions: tuple[str, ...]
) -> Analysis:
    """The analysis right after the parse: blocks, no points or regions yet."""
    return Analysis(
        text=text,
        blocks=document.tree,
        break_points=(),
        regions=(),
        headings=(),
        references=document.references,
        front_matter=text[: document.front_matter_end],
        notes=document.notes,
        masked="" if source == text else source,
        tags=tuple(document.tags),
        extensions=extensions,
        footnotes=document.footnotes,
    )


def _plain_commonmark(draft: DocumentDraft) -> _Patch:
    document = parse_document(draft.source, ())
    value = _new_analysis(draft.original, draft.source, document, draft.context.extensions)
    return Patch(value=value, notes=(_failure(draft),))


def _paragraphs(draft: DocumentDraft) -> _Patch:
    extensions = draft.context.extensions
    document = parse_paragraphs(draft.source, extensions)
    value = _new_analysis(draft.original, draft.source, document, extensions)
    return Patch(value=value, notes=(_failure(draft), "the document was read as plain paragraphs"))


def _failure(draft: DocumentDraft) -> str:
    error = draft.errors[-1]
    return f"the Markdown parser failed ({type(error).__name__}: {error})"


def _is_not_parsed(draft: DocumentDraft) -> bool:
    return draft.value is None


def _value(draft: DocumentDraft) -> Analysis:
    assert draft.value is not None, "post-parse heuristics run on a value"
    return draft.value


def _break_points(draft: DocumentDraft) -> _Patch:
    value = _value(draft)
    scores = draft.context.config.score_table
    points: Iterable[BreakPoint] = scan_break_points(value.text, value.blocks, scores)
    for dialect in dialects_of(value.extensions):
        if dialect.points is not None:
            points = dialect.points(value.text, points, scores)
    return Patch(value=value.plus(break_points=points))


def _regions(draft: DocumentDraft) -> _Patch:
    value = _value(draft)
    found = value.plus(regions=find_regions(value.text, value.blocks, value.tags))
    if value.regions:  # those of other steps
        in_order = sorted(found.regions, key=lambda region: (region.start, -region.end))
        found = replace(found, regions=tuple(in_order))
    return Patch(value=found)


def _is_front_matter_wanted(draft: DocumentDraft) -> bool:
    return draft.context.config.front_matter == "parsed" and bool(_value(draft).front_matter)


def _front_matter(draft: DocumentDraft) -> _Patch:
    """Raises if the front matter is invalid; the engine notes why."""
    value = _value(draft)
    return Patch(value=replace(value, front_matter_data=parse_front_matter(value.front_matter)))


def _headings(draft: DocumentDraft) -> _Patch:
    value = _value(draft)
    return Patch(value=value.plus(headings=_sections(value)))


def _sections(analysis: Analysis) -> Iterator[Heading]:
    """The headings that open sections: at the top level of the document, outside tags."""
    levels: list[int] = []
    # The last path at each depth; equal ones, as under repeated titles, are the same object.
    paths: list[tuple[str, ...]] = [()]
    tags = SpanSet(analysis.tags) if analysis.tags else None
    attributes = "attributes" in analysis.extensions
    begin = -1  # of the labels right before a heading
    for block in analysis.blocks.children:
        kind = block.kind
        if kind in _LABELS:
            begin = block.start if begin < 0 else begin
            continue
        if kind in _BLANK:
            continue
        start, begin = begin, -1
        if kind not in _SECTIONS or (tags is not None and tags.covers(block.start)):
            continue
        start = block.start if start < 0 else start
        while levels and levels[-1] >= block.level:
            levels.pop()
        levels.append(block.level)
        content = _content(analysis, block) if analysis.masked else block.content
        title = plain_title(
            without_attributes(content) if attributes else content,
            analysis.references,
            analysis.footnotes,
            analysis.extensions,
        )
        depth = len(levels)
        path = (*paths[depth - 1], title)
        if depth == len(paths):
            paths.append(path)
        elif paths[depth] != path:
            paths[depth] = path
        path = paths[depth]
        yield Heading(start, block.end, block.level, path[-1], path)


def _content(analysis: Analysis, heading: Block) -> str:
    """The heading's text where the parser has read a mask of it."""
    prose = Prose(analysis.masked, heading)
    lines: list[str] = []
    at = 0
    for line in heading.content.split("\n"):
        start = prose.source(at)
        lines.append(analysis.text[start : start + len(line)])
        at += len(line) + 1
    return "\n".join(lines)


_BUILT_IN: Final[Pipeline[Analysis, DocumentContext]] = Pipeline.of(
    (
        MASK,
        MASK_PAGES,
        Heuristic("plain-commonmark", "fallback-reparse", _plain_commonmark, _is_not_parsed),
        Heuristic("paragraphs", "fallback-reparse", _paragraphs, _is_not_parsed),
        BLOCKS,
        PAGES,
        PSEUDO_HEADINGS,
        NUMBERED_HEADINGS,
        Heuristic("break-points", "post-parse", _break_points),
        Heuristic("regions", "post-parse", _regions),
        Heuristic("headings", "post-parse", _headings),
        Heuristic("front-matter", "post-parse", _front_matter, _is_front_matter_wanted),
    )
)
