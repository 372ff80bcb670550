"""Outlines with token counts, sections, and passages that fit a token budget."""

from chunkast.reading.outline import Outline
from chunkast.reading.passages import Passage
from chunkast.reading.sections import Section, SectionError

__all__ = ("Outline", "Passage", "Section", "SectionError")
