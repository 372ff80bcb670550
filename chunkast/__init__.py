"""chunkast: split Markdown into chunks that fit a token budget.

The names below are the public API. A module or library is loaded when a name first needs it.
"""

from __future__ import annotations

# Importing ``typing`` would slow down every command: this module is always loaded first.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from chunkast.analysis.break_points import merge_break_points
    from chunkast.chunker import Chunker, chunk, chunk_file, count_tokens
    from chunkast.config import ChunkConfig
    from chunkast.cutting.scored_search import best_cut
    from chunkast.errors import (
        ChunkastError,
        ChunkastWarning,
        ConfigError,
        HeuristicError,
        MissingPackageError,
        SourceError,
        StoreError,
    )
    from chunkast.identity import (
        Citation,
        WritePlan,
        chunk_id,
        digest,
        locate_quote,
        plan_writes,
        validate_quote,
    )
    from chunkast.model import (
        Analysis,
        Annotation,
        Block,
        BreakPoint,
        Chunk,
        Heading,
        ProtectedRegion,
        Replacement,
    )
    from chunkast.options import ChunkOptions
    from chunkast.output.load import load
    from chunkast.text.hashes import chunk_uuid, content_hash, normalize_text

__all__ = (
    "Analysis",
    "Annotation",
    "Block",
    "BreakPoint",
    "Chunk",
    "ChunkConfig",
    "ChunkOptions",
    "ChunkastError",
    "ChunkastWarning",
    "Chunker",
    "Citation",
    "ConfigError",
    "Heading",
    "HeuristicError",
    "MissingPackageError",
    "ProtectedRegion",
    "Replacement",
    "SourceError",
    "StoreError",
    "WritePlan",
    "best_cut",
    "chunk",
    "chunk_file",
    "chunk_id",
    "chunk_uuid",
    "content_hash",
    "count_tokens",
    "digest",
    "load",
    "locate_quote",
    "merge_break_points",
    "normalize_text",
    "plan_writes",
    "validate_quote",
)

__version__ = "0.2.0"

# The modules of these names, those that import least first.
_MODULES: Final = (
    "errors",
    "text.hashes",
    "model",
    "identity",
    "options",
    "config",
    "analysis.break_points",
    "cutting.scored_search",
    "chunker",
    "output.load",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        from importlib import import_module

        for module in _MODULES:
            if name in (names := vars(import_module(f"chunkast.{module}"))):
                return names[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
