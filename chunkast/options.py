"""The types of ``ChunkConfig``'s keywords, for editors and type checkers.

To annotate a function that passes these keywords on, use ``**options: Unpack[ChunkOptions]``. This
module also exports ``Unpack``; before Python 3.11, it has no effect at run time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from chunkast.heuristics import Heuristic

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack
else:

    class Unpack:
        """A substitute for ``typing.Unpack``: ``Unpack[...]`` is ``Any`` at run time."""

        def __class_getitem__(cls, _options: object) -> Any:
            return Any


__all__ = ("ChunkOptions", "Unpack")


class ChunkOptions(TypedDict, total=False):
    """The fields of :class:`chunkast.ChunkConfig` and two aliases.

    ``chunk_size`` is an alias of ``max_tokens``, and ``chunk_overlap`` of ``overlap``.
    """

    max_tokens: int | Literal["model"]
    reserve_tokens: int
    overlap: float | int | str
    min_tokens: int | None
    encoding: Any
    model: str | None
    packing: Literal["sections", "fill"]
    window: int | None
    decay: float
    scores: Mapping[str, float]
    context: Literal["none", "title", "headings"]
    trim: bool
    oversize: Literal["split", "keep"]
    opaque: Literal["split", "keep"]
    heuristics: Iterable[Heuristic[Any, Any]]
    tools: Iterable[Any]
    protocols: str | Iterable[str]
    extensions: Iterable[str]
    sentence_language: str
    pseudo_headings: bool
    heading_levels: Literal["marks", "numbering"]
    page_markers: str | None
    page_markers_in_embed: bool
    running_heads_in_embed: bool
    front_matter: Literal["raw", "parsed"]
    front_matter_text: Literal["keep", "drop"]
    front_matter_keys: Iterable[str]
    allow_download: bool
    chunk_size: int | Literal["model"]
    chunk_overlap: float | int | str
