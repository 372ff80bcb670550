"""The analysis of a document: the parse, and the heuristics that run before and after it."""

from chunkast.analysis.code import analyze_code
from chunkast.analysis.markdown import analyze_markdown
from chunkast.analysis.patches import DocumentContext, DocumentDraft, DocumentHeuristic
from chunkast.config import ChunkConfig
from chunkast.model import Analysis

__all__ = ("DocumentContext", "DocumentDraft", "DocumentHeuristic", "analyze")


def analyze(
    text: str,
    config: ChunkConfig,
    name: str | None = None,
    language: str | None = None,
    *,
    blanks: bool = True,
) -> Analysis:
    """Return the analysis of a document, whose type is inferred from the extension of ``name``.

    ``language`` is the language of a source file, or "" for a document that is not code. If
    ``blanks`` is false, blank lines between top-level blocks may be missing from the tree. Never
    raises.
    """
    if language is None:
        language = config.language_of(name)
    if language:
        return analyze_code(text, language, config)
    return analyze_markdown(text, config, config.extensions_for(name), blanks=blanks)
