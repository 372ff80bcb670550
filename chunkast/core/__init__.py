"""One document to its chunks: leaves, points refined, units, pieces, overlap, context."""

from chunkast.core.run import chunks_of

__all__ = ("chunks_of",)
