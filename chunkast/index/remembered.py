"""The options that an index remembers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from chunkast.chunker import Chunker

__all__ = ("COUNTERS", "merged", "options_of")

# The options that determine how tokens are counted.
COUNTERS: Final = frozenset({"encoding", "model"})
_ALIASES: Final = {"chunk_size": "max_tokens", "chunk_overlap": "overlap"}


def options_of(chunker: Chunker) -> dict[str, Any]:
    """Return the options of a chunker that are not the defaults, as JSON values.

    A counter in Python is named, as are heuristics; the path of a tokenizer becomes absolute.
    """
    options = chunker.config.changed_fields()
    encoding: Any = options.get("encoding")
    if isinstance(encoding, os.PathLike) or str(encoding).endswith(".json"):
        options["encoding"] = str(Path(encoding).absolute())
    elif encoding is not None:
        options["encoding"] = chunker.counter.name
    if "heuristics" in options:
        options["heuristics"] = [heuristic.id for heuristic in chunker.config.heuristics]
    if "tools" in options:
        tools = chunker.config.tools
        options["tools"] = {tool.name: dict(tool.json_schema) for tool in tools}
    if "scores" in options:
        options["scores"] = dict(chunker.config.scores)
    return options


def merged(remembered: Mapping[str, Any], replacing: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``replacing`` options, and the ``remembered`` ones that they do not replace.

    What a file remembers never allows a download.
    """
    replaced = {"allow_download", *(_ALIASES.get(name, name) for name in replacing)}
    if replaced & COUNTERS:
        replaced |= COUNTERS
    return {name: value for name, value in remembered.items() if name not in replaced} | {
        **replacing
    }
