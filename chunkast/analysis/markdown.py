"""The analysis of Markdown text, from masking to headings.

Before the parse, text may be masked: characters are replaced one for one and line endings are kept,
so that no position changes. The parser reads the masked text; chunks are cut from the original. If
the parse fails, the text is split into paragraphs. A user's heuristics run after the built-in steps
of their phase.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from chunkast.analysis.headings import find_headings, numbered_headings, pseudo_headings
from chunkast.analysis.page_layout import find_page_marks, with_pages
from chunkast.analysis.patches import DocumentContext, DocumentDraft, check_patch, in_order
from chunkast.analysis.points import scan_break_points
from chunkast.analysis.regions import find_regions
from chunkast.analysis.tool_calls import find_tool_calls, mask_calls, with_calls
from chunkast.config import ChunkConfig
from chunkast.errors import describe, warn
from chunkast.heuristics import Draft, Pipeline, PipelineRun
from chunkast.markdown import ParsedMarkdown, parse_document, parse_paragraphs
from chunkast.markdown.dialects import dialects_of
from chunkast.markdown.page_marks import mask_pages
from chunkast.model import Analysis, BreakPoint
from chunkast.text.front_matter import parse_front_matter

__all__ = ("analyze_markdown",)

_LOG = logging.getLogger(__name__)


def analyze_markdown(
    text: str, config: ChunkConfig, extensions: tuple[str, ...], *, blanks: bool = True
) -> Analysis:
    """Return the analysis of ``text``: its blocks, break points, protected regions and headings.

    If ``blanks`` is false, blank lines between top-level blocks may be missing from the tree. Only
    a user's heuristic can raise an exception, or cause a ``HeuristicError``.
    """
    calls, notes = find_tool_calls(text, config)
    source = mask_calls(text, calls) if calls else text
    paged = "page_markers" in extensions
    marks = find_page_marks(text, source, config, extensions, calls) if paged else []
    source = mask_pages(source, marks) if marks else source
    extended = bool(calls or config.heuristics)

    def parse(source: str) -> Analysis:
        # Heuristics see the whole tree.
        whole = blanks or extended or source != text
        return _analysis(text, source, parse_document(source, extensions, blanks=whole), extensions)

    heuristics = Pipeline.of(config.heuristics)
    run = PipelineRun(parse, check=check_patch)
    context = DocumentContext(config, calls, extensions)
    draft: DocumentDraft = Draft(source, text, None, (), notes, context)
    draft = run.parse(run.phase(heuristics.pre_parse, draft))
    if draft.errors:
        draft = run.phase(heuristics.fallback_reparse, _fallback(draft))
    assert draft.value is not None, "paragraphs are always found"
    value = with_calls(draft.value, calls) if calls else draft.value
    value = with_pages(value, marks, config) if marks else value
    draft = replace(draft, value=_with_points(value, config))
    draft = run.phase(heuristics.post_parse, draft)
    value = draft.value or value
    value = replace(value, notes=(*value.notes, *draft.notes)) if draft.notes else value
    value = in_order(value) if extended else value
    if _LOG.isEnabledFor(logging.INFO):
        _LOG.debug("%r", value)
        for note in value.notes:
            _LOG.info("%s", note)
    return value


def _analysis(
    text: str, source: str, document: ParsedMarkdown, extensions: tuple[str, ...]
) -> Analysis:
    """Return the analysis of a parsed document, before its points and headings are found."""
    return Analysis(
        text=text,
        blocks=document.tree,
        break_points=(),
        regions=(),
        headings=(),
        references=document.references,
        front_matter=text[: document.front_matter_end],
        masked="" if source == text else source,
        tags=tuple(document.tags),
        extensions=extensions,
        footnotes=document.footnotes,
    )


def _fallback(draft: DocumentDraft) -> DocumentDraft:
    """Split a draft into paragraphs after its parse failed."""
    error, extensions = draft.errors[-1], draft.context.extensions
    document = parse_paragraphs(draft.source, extensions)
    value = _analysis(draft.original, draft.source, document, extensions)
    failure = f"the Markdown parser failed ({type(error).__name__}: {error})"
    notes = (*draft.notes, failure, "the document was read as plain paragraphs")
    return replace(draft, value=value, notes=notes)


def _with_points(analysis: Analysis, config: ChunkConfig) -> Analysis:
    """Return the analysis with its break points, regions, headings and parsed front matter."""
    if config.pseudo_headings:
        analysis = pseudo_headings(analysis)
    if config.heading_levels == "numbering":
        analysis = numbered_headings(analysis)
    text, blocks, scores = analysis.text, analysis.blocks, config.score_table
    points: Iterable[BreakPoint] = scan_break_points(text, blocks, scores)
    for dialect in dialects_of(analysis.extensions):
        if dialect.points is not None:
            points = dialect.points(text, points, scores)
    regions = find_regions(text, blocks, analysis.tags)
    if analysis.regions:  # of tool calls and pages
        regions = sorted(
            [*analysis.regions, *regions], key=lambda region: (region.start, -region.end)
        )
    analysis = replace(
        analysis,
        break_points=tuple(points),
        regions=tuple(regions),
        headings=tuple(find_headings(analysis)),
    )
    if config.front_matter == "parsed" and analysis.front_matter:
        return _with_front_matter(analysis)
    return analysis


def _with_front_matter(analysis: Analysis) -> Analysis:
    try:
        data = parse_front_matter(analysis.front_matter)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - any error of the YAML and TOML parsers
        note = f"front matter is not valid: {describe(error)}"
        warn(note)
        return replace(analysis, notes=(*analysis.notes, note))
    return replace(analysis, front_matter_data=data)
