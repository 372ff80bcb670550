"""From a text to its analysis: the parse, inside a pipeline of heuristics."""

from chunkast.analysis.analyze import analyze
from chunkast.analysis.code import analyze_code
from chunkast.analysis.context import DocumentContext, DocumentDraft, DocumentHeuristic

__all__ = ("DocumentContext", "DocumentDraft", "DocumentHeuristic", "analyze", "analyze_code")
