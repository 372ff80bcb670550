"""Find the anchors of sections, for links such as ``guide.md#install``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunkast.analysis.heading_paths import Headings
from chunkast.markdown.titles import slug_of
from chunkast.model import Heading

__all__ = ("anchors_by_run", "anchors_of", "section_starts")


def anchors_by_run(headings: Headings) -> list[str]:
    """Return the anchor of each run's section, or "" for a section without an anchor."""
    anchors = anchors_of(headings)
    numbers = (headings.runs[first].heading for first in section_starts(headings))
    return [anchors[number][0] if number >= 0 else "" for number in numbers]


def section_starts(headings: Headings) -> Iterator[int]:
    """Yield, for each run, the number of the first run of its section.

    A run without a title belongs to the section around it, or to the document.
    """
    around = [0]
    for number, run in enumerate(headings.runs):
        while number >= headings.ends[around[-1]]:
            around.pop()
        named = headings.all[run.heading] if run.heading >= 0 else headings.page_at(run.start)
        if named.title and run.first == number:
            around.append(number)
        yield run.first if named.title else around[-1]


def anchors_of(headings: Headings) -> list[tuple[str, ...]]:
    """Return the anchors of each heading: its id, other ids in the text, and its slug.

    An id that is the first anchor of another heading is omitted, unless it is in the heading's own
    attributes. The anchor of a heading without a title is "".
    """
    titled = [number for number, heading in enumerate(headings.all) if heading.title]
    named = [headings.all[number] for number in titled]
    slugs = list(_slugs(named))

    def certainty(slot: int) -> int:
        heading = named[slot]
        if heading.id or not heading.anchors:
            return 0
        return 1 if slugs[slot] in heading.anchors else 2

    if not any(heading.id or heading.anchors for heading in named):
        # Almost always.
        own = dict(zip(titled, slugs, strict=True))
        return [(own.get(number, ""),) for number in range(len(headings.all))]
    owners: dict[str, int] = {}
    found: list[tuple[str, ...]] = [("",)] * len(headings.all)
    for slot in sorted(range(len(named)), key=certainty):
        heading = named[slot]
        others = (name for name in heading.anchors if owners.get(name, slot) == slot)
        names = filter(None, dict.fromkeys((heading.id, *others, slugs[slot])))
        found[titled[slot]] = tuple(names) or ("",)
        owners.setdefault(found[titled[slot]][0], slot)
    for slot, number in enumerate(titled):
        first, *more = found[number]
        found[number] = (first, *(name for name in more if owners.get(name, slot) == slot))
    return found


def _slugs(headings: Sequence[Heading]) -> Iterator[str]:
    """Yield the slug of each heading; a number is appended to one that is already in use."""
    used: dict[str, int] = {}
    for heading in headings:
        anchor = slug = slug_of(heading.title)
        if not heading.id:
            while anchor in used:
                used[slug] += 1
                anchor = f"{slug}-{used[slug]}"
            used[anchor] = 0
        yield anchor
