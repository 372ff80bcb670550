"""The values that the heuristics of a document receive."""

from __future__ import annotations

from dataclasses import dataclass

from chunkast.config import ChunkConfig
from chunkast.heuristics import Draft, Heuristic
from chunkast.model import Analysis
from chunkast.toolcalls import ToolCall

__all__ = ("DocumentContext", "DocumentDraft", "DocumentHeuristic")


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """The context of a draft.

    ``tool_calls`` are the calls of the configured tools in the original text, in order,
    ``extensions`` the Markdown extensions that are on for this document.
    """

    config: ChunkConfig
    tool_calls: tuple[ToolCall, ...] = ()
    extensions: tuple[str, ...] = ()


DocumentDraft = Draft[Analysis, DocumentContext]
DocumentHeuristic = Heuristic[Analysis, DocumentContext]
