"""Analyze a document: parse it, and run heuristics before and after the parse."""

import logging

from chunkast.analysis.code import read_code
from chunkast.analysis.frames import Frame
from chunkast.analysis.headed import Headed
from chunkast.analysis.heading_paths import Page, Sections
from chunkast.analysis.inside import InlineText, Inside
from chunkast.analysis.markdown import read_markdown
from chunkast.analysis.patches import DocumentContext, DocumentDraft, DocumentHeuristic
from chunkast.analysis.section_anchors import anchors_by_run
from chunkast.analysis.structure import Structure
from chunkast.analysis.walk import INSIDE, Point
from chunkast.config import ChunkConfig
from chunkast.model import Analysis

__all__ = (
    "INSIDE",
    "DocumentContext",
    "DocumentDraft",
    "DocumentHeuristic",
    "Frame",
    "Headed",
    "InlineText",
    "Inside",
    "Page",
    "Point",
    "Sections",
    "Structure",
    "analyze",
    "anchors_by_run",
    "structure_of",
)

_LOG = logging.getLogger(__name__)


def analyze(
    text: str, config: ChunkConfig, name: str | None = None, language: str | None = None
) -> Analysis:
    """Return the complete analysis of a document; see :func:`structure_of`."""
    analysis = structure_of(text, config, name, language, blanks=True).completed()
    _LOG.debug("%r", analysis)
    return analysis


def structure_of(
    text: str | Analysis,
    config: ChunkConfig,
    name: str | None = None,
    language: str | None = None,
    *,
    blanks: bool = False,
) -> Structure:
    """Return the structure of a document; the extension of ``name`` determines its format.

    ``language``, the name of a programming language or "" for Markdown, overrides this format. If
    ``blanks`` is false, blank lines between top-level blocks may be missing from the block tree. An
    ``Analysis`` is used unchanged. Never raises for a str, unless a user's heuristic does.
    """
    if isinstance(text, Analysis):
        return Structure(text, config, complete=True)
    if language is None:
        language = config.language_of(name)
    if language:
        return read_code(text, language, config)
    return read_markdown(text, config, config.extensions_for(name), blanks=blanks)
