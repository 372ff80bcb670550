"""From break points to the spans of chunks: the sections, the scored search, the overlap."""

from chunkast.pack.layout import Layout, trim_span
from chunkast.pack.overlap import Overlap
from chunkast.pack.packer import pack
from chunkast.pack.piece import Piece
from chunkast.pack.sections import Section, section_tree

__all__ = ("Layout", "Overlap", "Piece", "Section", "pack", "section_tree", "trim_span")
