"""Haystack: a splitter. Needs the extra ``chunkast[haystack]``."""

from haystack_integrations.components.preprocessors.chunkast import ChunkastDocumentSplitter

__all__ = ("ChunkastDocumentSplitter",)
