"""From break points to the spans of chunks: the sections, the scored search, the overlap."""

from chunkast.pack.layout import Layout, trim_span
from chunkast.pack.overlap import Overlap
from chunkast.pack.packer import pack
from chunkast.pack.piece import Piece
from chunkast.pack.sections import Sections, sections_of

__all__ = ("Layout", "Overlap", "Piece", "Sections", "pack", "sections_of", "trim_span")
