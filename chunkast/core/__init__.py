"""One document to its chunks; ``run`` has the walk."""

from chunkast.core.run import chunks_of

__all__ = ("chunks_of",)
