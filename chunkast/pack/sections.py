"""The tree of sections that a document's top-level headings open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chunkast.model import Heading

__all__ = ("Section", "section_tree")


@dataclass(slots=True)
class Section:
    """A heading with everything under it: characters ``[start, end)``; level 0 is the document."""

    level: int
    start: int
    end: int
    children: list[Section] = field(default_factory=list)


def section_tree(headings: Sequence[Heading], end: int) -> Section:
    """The sections of a document of ``end`` characters, nested by heading level."""
    root = Section(0, 0, end)
    stack = [root]
    for heading in headings:
        while stack[-1].level >= heading.level:
            stack.pop().end = heading.start
        section = Section(heading.level, heading.start, end)
        stack[-1].children.append(section)
        stack.append(section)
    return root
