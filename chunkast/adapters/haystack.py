"""A splitter for Haystack. Requires the ``chunkast[haystack]`` extra."""

from haystack_integrations.components.preprocessors.chunkast import ChunkastDocumentSplitter

__all__ = ("ChunkastDocumentSplitter",)
