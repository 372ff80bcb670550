"""From a text to its analysis: the parse, inside a pipeline of heuristics."""

from chunkast.config import ChunkConfig
from chunkast.core.analysis.code import analyze_code
from chunkast.core.analysis.context import DocumentContext, DocumentDraft, DocumentHeuristic
from chunkast.core.analysis.markdown import analyze_markdown
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
    """Return the analysis of a document; its type is inferred from the extension of its name.

    ``language`` is the language of a source file; "" means that it is not code. Without
    ``blanks``, blank lines between top-level blocks may be missing in the tree. Never raises.
    """
    if language is None:
        language = config.language_of(name)
    if language:
        return analyze_code(text, language, config)
    return analyze_markdown(text, config, config.extensions_for(name), blanks=blanks)
