"""Types of the values that a document's heuristics receive."""

from __future__ import annotations

from dataclasses import dataclass

from chunkast.config import ChunkConfig
from chunkast.heuristics import Draft, Heuristic
from chunkast.model import Analysis
from chunkast.toolcalls import ToolCall

__all__ = ("DocumentContext", "DocumentDraft", "DocumentHeuristic")


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """The configuration, tool calls and extensions of the document that a heuristic works on.

    ``tool_calls`` are the calls to the configured tools in the original text, in order.
    ``extensions`` are the Markdown extensions that are enabled for this document.
    """

    config: ChunkConfig
    tool_calls: tuple[ToolCall, ...] = ()
    extensions: tuple[str, ...] = ()


DocumentDraft = Draft[Analysis, DocumentContext]
DocumentHeuristic = Heuristic[Analysis, DocumentContext]
