"""Analyze Markdown text, from masking to headings.

Before the parse, text may be masked: characters are replaced one for one and line endings are kept,
so that no position changes. The parser reads the masked text; chunks are cut from the original. If
the parse fails, the text is split into paragraphs. A user's heuristics run after the built-in steps
of their phase.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from chunkast.analysis.headings import numbered_headings, pseudo_headings, with_headings
from chunkast.analysis.page_layout import with_pages
from chunkast.analysis.patches import DocumentContext, DocumentDraft, check_patch, in_order
from chunkast.analysis.structure import Structure
from chunkast.analysis.tool_calls import find_tool_calls, mask_calls, with_blocks, with_calls
from chunkast.config import ChunkConfig
from chunkast.errors import describe, warn
from chunkast.heuristics import Draft, Pipeline, PipelineRun
from chunkast.markdown import ParsedMarkdown, parse_document, parse_paragraphs
from chunkast.markdown.page_marks import marks_outside_fences, mask_pages
from chunkast.model import Analysis
from chunkast.text.front_matter import parse_front_matter
from chunkast.text.pages import PageMark, page_marks
from chunkast.text.spans import SpanSet

__all__ = ("read_markdown",)


def read_markdown(
    text: str, config: ChunkConfig, extensions: tuple[str, ...], *, blanks: bool
) -> Structure:
    """Return the structure of Markdown text.

    If ``blanks`` is false, blank lines between top-level blocks may be missing from the tree. Never
    raises, unless a user's heuristic raises an exception or returns an invalid value.
    """
    calls, regions, notes = find_tool_calls(text, config)
    source, masks = mask_calls(text, regions)
    extended = bool(calls or config.heuristics)

    @lru_cache(maxsize=1)
    def parsed(source: str) -> ParsedMarkdown:
        # Heuristics see the whole tree.
        whole = blanks or extended or source != text
        return parse_document(source, extensions, blanks=whole)

    def parse(source: str) -> Analysis:
        value = _analysis(text, source, parsed(source), extensions)
        return with_blocks(value, masks) if masks else value

    marks: list[PageMark] = []
    if "page_markers" in extensions:
        inside = SpanSet((mask.start, mask.end) for mask in masks)
        marks = page_marks(text, config.page_markers)
        marks = [mark for mark in marks if not inside.covers(mark.start)]
        marks = marks_outside_fences(marks, source, parsed)
        source = mask_pages(source, marks)
    heuristics = Pipeline.of(config.heuristics)
    run = PipelineRun(parse, check=check_patch)
    context = DocumentContext(config, calls, extensions)
    draft: DocumentDraft = Draft(source, text, None, (), notes, context)
    draft = run.parse(run.phase(heuristics.pre_parse, draft))
    if draft.errors:
        draft = run.phase(heuristics.fallback_reparse, _fallback(draft))
    assert draft.value is not None, "paragraphs are always found"
    value = with_calls(draft.value, calls, regions) if calls else draft.value
    value = with_pages(value, marks, config) if marks else value
    structure = Structure(_with_sections(value, config), config, complete=False)
    if extended:
        draft = replace(draft, value=structure.completed())
        draft = run.phase(heuristics.post_parse, draft)
        value = in_order(draft.value or structure.completed())
        structure = Structure(value, config, complete=True)
    return structure.noted(draft.notes)


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
        wrappers=tuple(document.wrappers),
        inner_pages=tuple(document.pages),
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


def _with_sections(analysis: Analysis, config: ChunkConfig) -> Analysis:
    """Return the analysis with its headings and parsed front matter."""
    if config.pseudo_headings:
        analysis = pseudo_headings(analysis)
    if config.heading_levels == "numbering":
        analysis = numbered_headings(analysis)
    analysis = with_headings(analysis)
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
