"""The sections that a document's headings open, nested by level."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from chunkast.core.layout import Layout
from chunkast.model import Heading
from chunkast.text.source_map import positions_in

__all__ = ("Sections", "sections_of")

# Deeper sections lie beside each other: six levels are all that Markdown has, but code and a
# user's headings may have any number, and the packer calls itself for each.
_DEEPEST: Final = 64


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of a document, by number in its order; 0 is the document itself.

    ``starts`` are the units that they begin with, and the number of all units at the end.
    ``after`` says of each section the number of the next one that is not inside it.
    """

    starts: Sequence[int]
    after: Sequence[int]

    def end(self, number: int) -> int:
        """The unit after a section."""
        return self.starts[self.after[number]]

    def begins(self, unit: int) -> bool:
        """Whether a section begins with a unit."""
        return self.last_begun(unit) == unit

    def last_begun(self, unit: int) -> int:
        """The first unit of the section that a unit is in."""
        return self.starts[bisect_right(self.starts, unit) - 1]

    def children(self, number: int) -> Iterator[int]:
        """The sections directly inside a section."""
        child = number + 1
        while child < self.after[number]:
            yield child
            child = self.after[child]


def sections_of(headings: Sequence[Heading], layout: Layout) -> Sections:
    """The sections that ``headings`` open in a document."""
    keep = positions_in(layout.text, len(headings))
    starts = keep(layout.unit_at(heading.start) for heading in headings)
    starts.insert(0, 0)
    starts.append(layout.units)
    count = len(headings) + 1
    after = keep(repeat(count, count))
    open_sections: list[int] = []
    for number, heading in enumerate(headings, 1):
        while open_sections and (
            len(open_sections) >= _DEEPEST or headings[open_sections[-1] - 1].level >= heading.level
        ):
            after[open_sections.pop()] = number
        open_sections.append(number)
    return Sections(starts, after)
