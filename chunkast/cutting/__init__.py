"""Cut an analyzed document into chunks; ``run`` is the entry point."""

from chunkast.cutting.run import chunks_of

__all__ = ("chunks_of",)
