"""The sections that a document's headings open, nested by level."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from chunkast.cutting.document import Document
from chunkast.cutting.units import Units
from chunkast.text.source_map import make_array

__all__ = ("Sections", "sections_of")

# Sections nested deeper than this become siblings. Markdown has six levels, but code and
# heuristics may have any number, and the packer recurses into each.
_DEEPEST: Final = 64


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of a document, numbered in order; section 0 is the document itself.

    ``starts`` has the first unit of each section, then the total number of units. ``after`` has,
    for each section, the number of the next section that is not inside it.
    """

    starts: Sequence[int]
    after: Sequence[int]

    def end(self, number: int) -> int:
        """Return the first unit after a section."""
        return self.starts[self.after[number]]

    def begins(self, unit: int) -> bool:
        """Return whether a section begins at ``unit``."""
        return self.last_begun(unit) == unit

    def last_begun(self, unit: int) -> int:
        """Return the first unit of the innermost section that contains ``unit``."""
        return self.starts[bisect_right(self.starts, unit) - 1]

    def children(self, number: int) -> Iterator[int]:
        """Yield the numbers of the sections directly inside section ``number``."""
        child = number + 1
        while child < self.after[number]:
            yield child
            child = self.after[child]


def sections_of(document: Document, units: Units) -> Sections:
    """Return the sections that the document's headings open."""
    headings = document.analysis.headings
    size, count = len(document.text), len(headings) + 1
    starts = make_array([0, *(units.at(heading.start) for heading in headings), len(units)], size)
    after = make_array(repeat(count, count), size)
    open_sections: list[int] = []
    for number, heading in enumerate(headings, 1):
        while open_sections and (
            len(open_sections) >= _DEEPEST or headings[open_sections[-1] - 1].level >= heading.level
        ):
            after[open_sections.pop()] = number
        open_sections.append(number)
    return Sections(starts, after)
