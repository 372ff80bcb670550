"""A splitter for Haystack. Needs the ``chunkast[haystack]`` extra."""

from haystack_integrations.components.preprocessors.chunkast import ChunkastDocumentSplitter

__all__ = ("ChunkastDocumentSplitter",)
